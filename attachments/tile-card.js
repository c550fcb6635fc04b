// What is known of a place: what the map shows there, of what date, from which source, and when that was last checked;
// then all versions of its tile. Ids, bytes and revisions stand behind "Details".
import { element } from '../client/timeline/dom.js'
import { asOf, expiryOf, now, tileId, versionId } from '../core/index.js'
import { sharePromise } from '../core/promises.js'
import { button, icon, picture } from './dom.js'
import { brief, size, time as written, zoneName } from './format.js'
import { words } from './words.js'

const NAME = 'tile'
const PAGE = 50 // versions read and shown at once

const terms = rows => element('dl', null, ...rows.filter(([, value]) => value)
  .flatMap(([name, value]) => [element('dt', null, name), element('dd', null, value)]))

export class TileCard {
  #stage
  #cards
  #outlines
  #store
  /** @type {{z: number, x: number, y: number} | null} */
  #tile = null
  #limit = PAGE
  /** @type {HTMLElement | null} of a vector layer, at the place that was picked */
  #features = null
  /** @type {import('./store.js').TileDocument[]} oldest first */
  #versions = []
  #turn = 0
  #shown = element('div', { class: 'shown', role: 'status' })
  #details = element('details', null)
  /** @type {Map<string, Promise<{source?: string, check?: {time: string, title?: string}}>>} by time of the version */
  #sources = new Map()

  constructor (stage, cards, outlines, store) {
    this.#stage = stage
    this.#cards = cards
    this.#outlines = outlines
    this.#store = store
  }

  /**
   * @param {{z: number, x: number, y: number}} tile @param {boolean} byKey then the focus goes into the card
   * @param {HTMLElement | null} [features] of a vector layer, at the place
   */
  open (tile, byKey, features = null) {
    const isSame = this.#tile && ['z', 'x', 'y'].every(axis => this.#tile?.[axis] === tile[axis])
    const isAlike = features?.textContent === this.#features?.textContent
    if (isSame && isAlike && !byKey) return this.close()
    this.#tile = tile
    this.#features = features
    this.#limit = PAGE
    this.#versions = []
    this.#sources.clear()
    this.#cards.close(NAME)
    const { title, body, node } = this.#cards.open(NAME, words.place.title, () => this.close())
    title.append(element('small', null, this.#stage.doc?.name ?? this.#stage.doc?.layer))
    body.replaceChildren(element('p', { class: 'hint' }, words.place.reading))
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
      if (turn === this.#turn && !this.#versions.length) this.#showText(
        'hint', words.place.unreadable(error.message), button(words.again, () => this.refresh(), { class: 'secondary' })
      )
      return
    }
    if (turn !== this.#turn) return // another tile meanwhile
    const isSame = JSON.stringify(versions) === JSON.stringify(this.#versions)
    if (isSame && versions.length) return
    this.#versions = versions
    this.#sources.clear()
    this.render()
  }

  /** Writes the card. */
  render () {
    const body = this.#cards.body(NAME)
    if (!this.#tile || !body) return
    if (!this.#versions.length) return this.#showText('hint', words.place.nothing)
    const focused = /** @type {HTMLElement} */ (document.activeElement)
    const time = body.contains(focused) ? focused.dataset.version : undefined
    const scrolled = body.scrollTop
    const more = this.#versions.length >= this.#limit
    const number = this.#versions.length
    body.replaceChildren(
      ...this.#features ? [this.#features] : [],
      this.#shown,
      element('p', { class: 'hint' }, (more ? words.place.last : words.place.versions)({
        count: number, zone: zoneName(this.#versions[0].time)
      })),
      element('ul', { class: 'versions' }, ...[...this.#versions].reverse().map(version => this.#item(version))),
      more ? button(words.place.older, () => { this.#limit += 4 * PAGE; this.refresh() }, { class: 'secondary' }) : '',
      this.#details)
    body.scrollTop = scrolled
    if (time) body.querySelector(`[data-version="${time}"]`)?.focus({ preventScroll: true })
    this.setTime()
  }

  /** Marks the version that is to be seen, and says what is known of it. */
  setTime () {
    if (!this.#versions.length || !this.#tile) return
    const { time } = this.#stage
    const shown = time === null ? this.#versions.at(-1) : asOf(this.#versions, time)
    for (const choice of this.#cards.body(NAME)?.querySelectorAll('[data-version]') ?? []) {
      choice.setAttribute('aria-pressed', String(choice.dataset.version === shown?.time))
    }
    this.#describe(shown)
    this.#writeDetails(shown)
  }

  /** @param {import('./store.js').TileDocument | undefined} version */
  async #describe (version) {
    if (!version) return this.#shown.replaceChildren(element('p', { class: 'date' }, words.place.notYet))
    const turn = this.#turn
    const next = this.#versions[this.#versions.indexOf(version) + 1]
    this.#write(version, next, {})
    if (this.#stage.isPlaying) return // it is asked where the film stops
    const found = await sharePromise(this.#sources, version.time, () => this.#ask(version, next))
    const { time } = this.#stage
    const isShown = version === (time === null ? this.#versions.at(-1) : asOf(this.#versions, time))
    if (turn === this.#turn && isShown) this.#write(version, next, found)
  }

  /** Where a version came from, and when it was last found to be right. */
  async #ask (version, next) {
    const { layer } = /** @type {import('./store.js').Layer} */ (this.#stage.doc)
    const [edition, check] = await Promise.all([
      this.#store.edition(layer, version.time).catch(() => undefined),
      this.#store.lastCheck(layer, this.#tile, version, next?.time).catch(() => undefined)
    ])
    const [, host] = /^https?:\/\/([^/?#]+)/.exec(version.origin?.url ?? '') ?? []
    return { source: edition?.title ?? edition?.source ?? host, check }
  }

  #write (version, next, { source = '', check = /** @type {any} */ (undefined) }) {
    const { time, gone } = version
    this.#shown.replaceChildren(
      element('p', { class: 'date' }, gone ? words.place.gone : written(time)),
      terms([
        [words.place.source, source],
        [gone ? words.place.goneSince : words.place.unchangedSince, gone || check || next ? written(time) : ''],
        [words.place.checked, check && [written(check.time), check.title].filter(Boolean).join(' · ')],
        [words.place.until, next && written(next.time)]
      ]))
  }

  #writeDetails (version) {
    const isOpen = this.#details.open
    if (!version || !this.#tile) return this.#details.replaceChildren()
    const { layer } = /** @type {import('./store.js').Layer} */ (this.#stage.doc)
    const { z, x, y, time, stored, current, _rev: rev, origin } = version
    const image = version._attachments?.tile
    const until = expiryOf(version, this.#stage.doc ?? undefined)
    const code = text => text && element('code', null, text)
    this.#details.replaceChildren(element('summary', null, words.place.details), terms([
      [words.place.terms.tile, `${z}/${x}/${y}`],
      [words.place.terms.time, code(time)],
      [words.place.terms.stored, stored && written(stored)],
      [until && until < now() ? words.place.terms.expired : words.place.terms.expires, until && written(until)],
      [words.place.terms.size, image && size(image.length)],
      [words.place.terms.type, image?.content_type],
      [words.place.terms.address, origin?.url && code(origin.url)],
      [words.place.terms.document, code(current ? tileId(layer, z, x, y) : versionId(layer, z, x, y, time))],
      [words.place.terms.revision, code(rev)]
    ]))
    this.#details.open = isOpen
  }

  #showText (className, text, ...more) {
    this.#cards.body(NAME)?.replaceChildren(element('p', { class: className }, text), ...more)
  }

  #item (version) {
    const { layer, format = 'png' } = /** @type {import('./store.js').Layer} */ (this.#stage.doc)
    const { time, gone, current, z, x, y } = version
    const image = version._attachments?.tile
    const url = this.#store.tileUrl(version)
    const isDrawn = image && /^image\//.test(image.content_type)
    const download = image && element('a', {
      class: 'icon', download: `${layer}-${z}-${x}-${y}@${time.replace(/:/g, '')}.${format}`,
      'aria-label': words.place.downloadOf(written(time)), title: words.place.download
    }, icon('download'))
    url.then(found => { if (found) download?.setAttribute('href', found) }, () => {})
    return element('li', { class: gone ? 'gone' : null },
      element('button', {
        type: 'button',
        class: isDrawn || gone ? null : 'plain',
        'data-version': time,
        on: { click: () => this.#stage.clock.setTime(time) }
      },
        isDrawn
          ? picture(url, { width: 56, height: 56, loading: 'lazy' })
          : gone && element('span', { class: 'picture' }),
        element('span', { class: 'title' }, brief(time), current && element('em', null, words.place.newest)),
        element('span', { class: 'note' }, gone ? words.place.goneFrom : image ? '' : words.place.noImage)),
      download)
  }
}
