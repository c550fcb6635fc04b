// The link to what is shown, with everything: to copy, to share, as a QR code; the same map in a frame of another page,
// and in QGIS.
import { generate } from 'lean-qr'
import { element, svg } from '../../client/timeline/dom.js'
import { button } from '../dom.js'
import { databaseUrl, template } from '../store.js'
import { framing } from './framing.js'
import { escaped, layerFile } from './qgis.js'

const QUIET = 4 // modules around a QR code that stay white
const DOWNLOAD = 10000 // milliseconds until a download has surely begun
const FRAME = { width: 800, height: 500 } // pixels, to begin with

export class LinkTab {
  #page
  #link
  #qr = element('div', { class: 'qr' })
  #frame
  #framing = element('p', { class: 'hint', role: 'status' })
  #tiles
  #qgis = element('p', { class: 'hint' })
  #stop = new AbortController()

  /** @param {import('./index.js').Page} page */
  constructor (page) {
    const { words } = page
    this.#page = page
    this.#link = copied(words, words.link)
    this.#frame = copied(words, words.frameCode)
    this.#tiles = copied(words, words.tiles)
    const isShared = typeof navigator.share === 'function'
    const embed = element('details', { on: { toggle: () => { if (embed.open) this.#lookWhoMay() } } },
      element('summary', null, words.embed), this.#framing, this.#frame.node)
    this.node = element('div', { class: 'tab' },
      this.#link.node,
      isShared && element('div', { class: 'acts' }, button(words.share, () => this.#share(), { class: 'secondary' })),
      this.#qr,
      embed,
      element('details', null, element('summary', null, words.qgis), this.#qgis, this.#tiles.node,
        element('div', { class: 'acts' }, button(words.qgisFile, () => this.#saveLayer(), { class: 'secondary' }))))
    this.update()
  }

  /** The map shows something else. */
  update () {
    const { address, words, stage: { doc } } = this.#page
    const link = address()
    if (link === this.#link.text) return
    this.#link.text = link
    this.#qr.replaceChildren(qrCode(link, words))
    this.#frame.text = frameCode(link, this.#title)
    this.#tiles.text = doc ? this.#template : ''
    this.#qgis.textContent = this.#hidesPast ? words.qgisNewest : words.qgisHow
  }

  /** @returns {boolean} nothing is under way here */
  close () {
    this.#stop.abort()
    return false
  }

  get #title () {
    const { stage: { doc, time }, written } = this.#page
    return [doc?.name ?? doc?.layer ?? document.title, time && written(time)].filter(Boolean).join(', ')
  }

  /** QGIS does not follow the relative redirects that CouchDB answers with for a past time. */
  get #hidesPast () {
    return this.#page.stage.time !== null && databaseUrl() !== null
  }

  get #template () {
    const { stage: { doc, time } } = this.#page
    return new URL('.', document.baseURI).href + template(doc, this.#hidesPast ? null : time)
  }

  async #share () {
    try {
      await navigator.share({ title: this.#title, url: this.#link.text })
    } catch (error) {
      if (error.name !== 'AbortError') this.#link.copy()
    }
  }

  async #lookWhoMay () {
    const { words } = this.#page
    this.#framing.textContent = words.looking
    const { signal } = this.#stop
    const origins = await framing(embedded(this.#link.text), signal).catch(() => null)
    if (signal.aborted) return
    this.#framing.textContent = origins === null
      ? words.embedUnknown
      : origins.includes('*') ? words.embedAll : origins.length ? words.embedSome(origins.join(', ')) : words.embedNone
  }

  #saveLayer () {
    const { stage: { doc } } = this.#page
    if (!doc) return
    const address = URL.createObjectURL(
      new Blob([layerFile(doc, this.#title, this.#template)], { type: 'application/xml' })
    )
    element('a', { href: address, download: `${doc.layer}.qlr` }).click()
    setTimeout(() => URL.revokeObjectURL(address), DOWNLOAD)
  }
}

/** The address of the same view without the page around it. */
function embedded (link) {
  const url = new URL(link)
  url.search = '?embed'
  return url.href
}

function frameCode (link, title) {
  const { width, height } = FRAME
  return `<iframe src="${escaped(embedded(link))}" title="${escaped(title)}" width="${width}" height="${height}" ` +
    'style="border: 0; max-width: 100%" loading="lazy" allowfullscreen></iframe>'
}

/** @returns {Node} */
function qrCode (text, words) {
  let code
  try {
    code = generate(text)
  } catch { // more than fits into one
    return element('p', { class: 'hint' }, words.qrTooLong)
  }
  let path = ''
  for (let y = 0; y < code.size; y++) {
    for (let x = 0; x < code.size; x++) if (code.get(x, y)) path += `M${x} ${y}h1v1h-1z`
  }
  const edge = code.size + 2 * QUIET
  return svg('svg', {
    viewBox: `${-QUIET} ${-QUIET} ${edge} ${edge}`, role: 'img', 'aria-label': words.qr, 'shape-rendering': 'crispEdges'
  }, [
    svg('rect', { x: -QUIET, y: -QUIET, width: edge, height: edge, fill: '#fff' }),
    svg('path', { d: path, fill: '#000' })
  ])
}

/** A text with a button that copies it. */
function copied (words, label) {
  const field = element('input', {
    type: 'text', readonly: true, 'aria-label': label, on: { focus: () => field.select() }
  })
  const copying = button(words.copy, copy, { class: 'secondary' })
  async function copy () {
    try {
      await navigator.clipboard.writeText(field.value)
      copying.textContent = words.copied
    } catch { // not allowed outside https and localhost: it is selected instead
      field.select()
      copying.textContent = words.selected
    }
  }
  return {
    node: element(
      'div',
      { class: 'copied' },
      element('span', { 'aria-hidden': 'true' }, label),
      element('div', null, field, copying)
    ),
    copy,
    get text () { return field.value },
    set text (text) {
      field.value = text
      copying.textContent = words.copy
    }
  }
}
