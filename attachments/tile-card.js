// The versions of one tile: when the map looked how, since when the store knows it, how large it is and until when it
// holds. A click goes to its time.
import { element } from '../client/timeline/dom.js'
import { asOf, expiryOf, now } from '../core/index.js'
import { button, icon, picture } from './dom.js'
import { brief, plural, size, time as written, zoneName } from './format.js'

const NAME = 'tile'
const PAGE = 50 // versions read and shown at once

export class TileCard {
  #stage
  #cards
  #outlines
  #store
  /** @type {{z: number, x: number, y: number} | null} */
  #tile = null
  #limit = PAGE
  /** @type {import('./store.js').TileDocument[]} oldest first */
  #versions = []
  #turn = 0

  constructor (stage, cards, outlines, store) {
    this.#stage = stage
    this.#cards = cards
    this.#outlines = outlines
    this.#store = store
  }

  /** @param {{z: number, x: number, y: number}} tile @param {boolean} byKey then the focus goes into the card */
  open (tile, byKey) {
    const isSame = this.#tile && ['z', 'x', 'y'].every(axis => this.#tile?.[axis] === tile[axis])
    if (isSame && !byKey) return this.close()
    this.#tile = tile
    this.#limit = PAGE
    this.#versions = []
    this.#cards.close(NAME)
    const { title, body, node } = this.#cards.open(NAME, `Tile ${tile.z}/${tile.x}/${tile.y}`, () => this.close())
    title.append(element('small', null, this.#stage.doc?.name ?? this.#stage.doc?.layer))
    body.replaceChildren(element('p', { class: 'hint' }, 'Reading its versions …'))
    if (byKey) node.focus()
    this.#outlines.picked(tile)
    return this.refresh()
  }

  close () {
    this.#tile = null
    this.#turn++
    this.#outlines.picked(null)
    this.#cards.close(NAME)
  }

  /** The map has moved: other copies of the world may be in sight. */
  outline () {
    if (this.#tile) this.#outlines.picked(this.#tile)
  }

  /** Reads the versions anew. */
  async refresh () {
    const { doc } = this.#stage
    if (!this.#tile || !doc) return
    const turn = ++this.#turn
    let versions
    try {
      versions = await this.#store.versions(doc.layer, this.#tile, this.#limit)
    } catch (error) {
      if (turn === this.#turn && !this.#versions.length) this.#showText('hint', `Its versions cannot be read: ${error.message}`, button('Try again', () => this.refresh(), { class: 'secondary' }))
      return
    }
    if (turn !== this.#turn) return // another tile meanwhile
    const isSame = JSON.stringify(versions) === JSON.stringify(this.#versions)
    if (isSame && versions.length) return
    this.#versions = versions
    this.render()
  }

  /** Writes the list. */
  render () {
    const body = this.#cards.body(NAME)
    if (!this.#tile || !body) return
    if (!this.#versions.length) return this.#showText('hint', 'The store has no tile here.')
    const focused = /** @type {HTMLElement} */ (document.activeElement)
    const time = body.contains(focused) ? focused.dataset.version : undefined
    const scrolled = body.scrollTop
    const more = this.#versions.length >= this.#limit
    body.replaceChildren(
      element('p', { class: 'hint' }, `${more ? 'The last ' : ''}${plural(this.#versions.length, 'version')}, times in ${zoneName(this.#versions[0].time)}`),
      element('ul', { class: 'versions' }, ...[...this.#versions].reverse().map(version => this.#item(version))),
      more ? button('Older versions', () => { this.#limit += 4 * PAGE; this.refresh() }, { class: 'secondary' }) : '')
    body.scrollTop = scrolled
    if (time) body.querySelector(`[data-version="${time}"]`)?.focus({ preventScroll: true })
    this.setTime()
  }

  /** Marks the version that is to be seen. */
  setTime () {
    if (!this.#versions.length || !this.#tile) return
    const { time } = this.#stage
    const shown = time === null ? this.#versions.at(-1) : asOf(this.#versions, time)
    for (const choice of this.#cards.body(NAME)?.querySelectorAll('[data-version]') ?? []) {
      choice.setAttribute('aria-pressed', String(choice.dataset.version === shown?.time))
    }
  }

  #showText (className, text, ...more) {
    this.#cards.body(NAME)?.replaceChildren(element('p', { class: className }, text), ...more)
  }

  #item (version) {
    const { layer, format = 'png' } = /** @type {import('./store.js').Layer} */ (this.#stage.doc)
    const { time, stored, gone, current, z, x, y } = version
    const image = version._attachments?.tile
    const url = this.#store.tileUrl(version)
    const until = expiryOf(version, this.#stage.doc ?? undefined)
    const isDrawn = image && /^image\//.test(image.content_type)
    const download = image && element('a', {
      class: 'icon', download: `${layer}-${z}-${x}-${y}@${time.replace(/:/g, '')}.${format}`,
      'aria-label': `Download the image of ${written(time)}`, title: 'Download the image'
    }, icon('download'))
    url.then(found => { if (found) download?.setAttribute('href', found) }, () => {})
    return element('li', { class: gone ? 'gone' : null },
      element('button', { type: 'button', 'data-version': time, on: { click: () => this.#stage.clock.setTime(time) } },
        isDrawn ? picture(url, { width: 56, height: 56, loading: 'lazy' }) : element('span', { class: 'picture' }),
        element('span', { class: 'title' }, brief(time), current && element('em', null, 'newest')),
        element('span', { class: 'note' }, gone ? 'Gone: no tile from here on' : image ? size(image.length) : 'No image'),
        element('span', { class: 'note' }, [stored && `stored ${brief(stored)}`, until && `${until < now() ? 'expired' : 'expires'} ${brief(until)}`].filter(Boolean).join(', '))),
      download)
  }
}
