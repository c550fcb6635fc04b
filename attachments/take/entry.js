// The button of the dialog "Save or share the map", the page as a map alone for frames of other pages (`?embed`), and
// the text that is printed with the map. The dialog is a separate bundle, which is loaded when the button is pressed.
import { element } from '../../client/timeline/dom.js'
import { isEmbedded as isInFrame } from '../../core/embed.js'
import { shared } from '../../core/promises.js'
import { listenToButton, loadScript } from '../device.js'
import { count, size } from '../format.js'
import { takeWords as words } from '../words.js'

/** Whether the page is shown as a map alone. */
export const isEmbedded = isInFrame(location.search)

/**
 * @param {Pick<import('./index.js').Page, 'button' | 'stage' | 'view' | 'notices' | 'cards' | 'written'> &
 *   {hash: () => string, editions: import('../edition-reader.js').EditionReader}} page
 *   hash: of the address with all that is shown, or empty
 */
export function takeAway ({ hash, editions, ...page }) {
  const address = () => addressOf(hash())
  labelPrints(page, editions)
  if (isEmbedded) embed(page.view.map, address)
  else openWithButton({ ...page, address, count, size })
}

/** The address without the token, the name and the language of this visitor. */
function addressOf (hash) {
  const url = new URL('.', document.baseURI)
  url.username = url.password = ''
  url.hash = hash
  return url.href
}

/** Adds the layer, its edition and its date to the printed map. */
function labelPrints ({ view: { map }, stage, written }, editions) {
  const title = element('p', { class: 'print-title' })
  map.getContainer().append(title)
  const update = () => {
    const { doc, time, layer } = stage
    const date = written(time ?? layer?.extent()?.last ?? null) // "newest" says nothing on paper
    title.textContent = [doc?.name ?? doc?.layer, editions.titleAt(time), date].filter(Boolean).join(' · ')
    map.eachLayer(mapLayer => /** @type {any} */ (mapLayer).gl?.redraw()) // browsers clear a canvas after showing it
  }
  addEventListener('beforeprint', update)
  matchMedia('print').addEventListener('change', update)
}

/** @param {import('./index.js').Page} page */
function openWithButton (page) {
  const load = shared(async () => (await import(await loadScript('take-script'))).mountTake(page))
  const open = async () => (await load()).toggle()
  listenToButton(page.button, page.notices, { topic: 'take', failed: words.notLoaded, open })
}

/** Shows a map alone, with a link to the whole page. Scrolling the surrounding page does not zoom the map. */
function embed (map, address) {
  const link = element('a', { href: address(), target: '_blank', rel: 'noopener' }, words.openMap)
  for (const event of ['pointerdown', 'focus', 'click']) link.addEventListener(event, () => { link.href = address() })
  document.body.classList.add('embed')
  document.body.append(element('nav', { class: 'embed-link', 'aria-label': words.openMap }, link))
  map.scrollWheelZoom.disable()
  map.once('click focus', () => map.scrollWheelZoom.enable())
}
