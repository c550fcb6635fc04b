// "Take it away" of the page: its button, and the map alone for frames of other pages (`?embed`). What the button opens
// is a bundle of its own, take.js, which is loaded when it is pressed for the first time.
import { element } from '../../client/timeline/dom.js'
import { isEmbedded as isInFrame } from '../../core/embed.js'
import { shared } from '../../core/promises.js'
import { loadScript } from '../device.js'
import { language, words } from '../words.js'

const { take } = words

/** Whether the page is shown as a map alone. */
export const isEmbedded = isInFrame(location.search)

/**
 * @param {Pick<import('./index.js').Given, 'button' | 'stage' | 'view' | 'notices' | 'cards' | 'written'> &
 *   {hash: () => string}} page
 *   hash: of the address with all that is shown; empty while nothing is
 */
export function takeAway ({ hash, ...page }) {
  const address = () => addressOf(hash())
  if (isEmbedded) embed(page.view.map, address)
  else listen({ ...page, address, words: take, language })
}

/** Without what belongs to this visitor: a token, a name, a language. */
function addressOf (hash) {
  const url = new URL('.', document.baseURI)
  url.username = url.password = ''
  url.hash = hash
  return url.href
}

/** @param {import('./index.js').Given} given */
function listen (given) {
  const { button, notices, stage, view, written } = given
  const open = shared(async () => (await import(await loadScript('take-script'))).mountTake(given))
  // what the browser prints by itself has the date as well
  addEventListener('beforeprint', () => { view.map.getContainer().dataset.date = written(stage.time) })
  button.setAttribute('aria-label', take.title)
  button.title = take.title
  button.setAttribute('aria-expanded', 'false')
  button.hidden = false
  button.addEventListener('click', async () => {
    if (button.hasAttribute('aria-busy')) return
    button.setAttribute('aria-busy', 'true')
    try {
      const panel = await open()
      notices.end('take')
      panel.toggle()
    } catch (error) {
      notices.show('take', { text: take.notLoaded(error.message), tone: 'warn', onClose: () => {} })
    }
    button.removeAttribute('aria-busy')
  })
}

/** A map alone, with a way to the whole page. A page that is scrolled past it does not zoom it. */
function embed (map, address) {
  const link = element('a', { href: address(), target: '_blank', rel: 'noopener' }, take.openMap)
  for (const event of ['pointerdown', 'focus', 'click']) link.addEventListener(event, () => { link.href = address() })
  document.body.classList.add('embed')
  document.body.append(element('nav', { class: 'embed-link', 'aria-label': take.openMap }, link))
  map.scrollWheelZoom.disable()
  map.once('click focus', () => map.scrollWheelZoom.enable())
}
