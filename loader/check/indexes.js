// Compares the views of a layer with its documents: each page of documents is looked up in the time index, and at the
// end the totals are compared. Differences do not count if a program wrote in between.
import { isAdministrative } from '../../core/index.js'
import { sequenceNumber } from '../../core/feed-position.js'
import { ignoring } from '../../core/promises.js'
import { BY_AREA } from '../store/columns.js'
import { BY_TILE, BY_TIME } from '../store/reader.js'
import { BY_ZOOM } from '../store/count.js'

const PAGE = 1000 // changes a request

/** Views that sum up tiles and bytes. @type {Record<string, {level: number, sumOf: (value: any) => Sum}>} */
const SUMS = {
  [BY_ZOOM]: { level: 3, sumOf: ([{ count, sum }]) => ({ tiles: count, bytes: sum }) },
  [BY_AREA]: { level: 2, sumOf: ({ count, sum }) => ({ tiles: count, bytes: sum }) },
  [BY_TIME]: { level: 1, sumOf: ({ count, sum }) => ({ tiles: count, bytes: sum }) }
}

/** @typedef {{tiles: number, bytes: number}} Sum */

export class IndexCheck {
  hasTimes = true // whether the time index exists
  #documents = 0
  #sequence = ''
  #since = /** @type {any} */ (0) // place in the feed, of the sequence
  /** What each view should sum up, by the rest of its keys. @type {Record<string, Map<string, Sum>>} */
  #sums = { [BY_ZOOM]: new Map(), [BY_AREA]: new Map(), [BY_TIME]: new Map() }

  /** @param {import('../store/couch.js').Couch} couch @param {string} layer @param {AbortSignal} [signal] */
  constructor (couch, layer, signal) {
    this.couch = couch
    this.layer = layer
    this.signal = signal
  }

  async begin () {
    ({ sequence: this.#sequence, seq: this.#since } = await this.#currentSequence())
  }

  /** Changes with every write. */
  async #currentSequence () {
    const { update_seq: seq, doc_count: count } = await this.couch.request({ path: '', signal: this.signal })
    return { seq, sequence: `${sequenceNumber(seq)} ${count}` }
  }

  async #isUnchanged () {
    if (this.#sequence === (await this.#currentSequence()).sequence) return true
    // every long command writes how far it is, also this one
    for await (const { results } of this.couch.changesSince(this.#since, { page: PAGE, signal: this.signal })) {
      if (!results.every(({ id }) => isAdministrative(id))) return false
    }
    return true
  }

  /** Counts a valid tile of the layer. @param {any} doc */
  add ({ z, current, _attachments: { tile } = /** @type {any} */ ({}) }) {
    const count = (view, key) => {
      const { tiles, bytes } = this.#sums[view].get(key) ?? { tiles: 0, bytes: 0 }
      this.#sums[view].set(key, { tiles: tiles + 1, bytes: bytes + (tile?.length ?? 0) })
    }
    const state = current ? 'current' : 'past'
    count(BY_ZOOM, `${z} ${tile ? state : 'gone'}`)
    if (current && tile) count(BY_AREA, `${z}`)
    count(BY_TIME, '')
  }

  /**
   * @param {any[]} page documents
   * @param {(id: string, why: string) => void} onDifferent
   */
  async compare (page, onDifferent) {
    const docs = page.filter(({ type }) => type === 'tile') // the index leaves out others
    if (!this.hasTimes || !docs.length) return
    const suspects = await this.#differences(docs)
    this.#documents += docs.filter(({ layer }) => layer === this.layer).length
    if (!suspects.size) return
    // a write may have come between the two requests: a difference counts if it is found twice at the same revision
    const rows = await this.couch.docs([...suspects.keys()], { signal: this.signal })
    const again = rows.map(row => row.doc).filter(Boolean)
    for (const [id, why] of await this.#differences(again)) {
      const [{ doc }] = await this.couch.docs([id], { signal: this.signal })
      if (doc?._rev === again.find(({ _id }) => _id === id)._rev) onDifferent(id, why)
    }
  }

  /** @returns {Promise<Map<string, string>>} id -> what differs */
  async #differences (docs) {
    const keys = docs.map(({ layer, z, x, y, time }) => [layer, z, x, y, time])
    const rows = await this.#view(BY_TILE, { keys, reduce: false })
    if (!rows) this.hasTimes = false
    const values = new Map(rows?.map(({ id, value }) => [id, value]))
    const differences = rows ? docs.map(doc => [doc._id, difference(doc, values.get(doc._id))]) : []
    return new Map(differences.filter(([, why]) => why))
  }

  /**
   * After the last page of a whole layer.
   * @returns {Promise<string | undefined>} why the time index is too long
   */
  async compareLength () {
    const [row] = this.hasTimes ? await this.#ofLayer(BY_TILE, 1) ?? [] : []
    const indexed = row?.value ?? 0
    if (indexed <= this.#documents || !await this.#isUnchanged()) return undefined
    return `${indexed} in the index, ${this.#documents} documents`
  }

  /**
   * After the last page of a whole layer, if all of its documents are valid.
   * @returns {Promise<string[]>} what differs
   */
  async compareSums () {
    const differing = []
    for (const [view, { level, sumOf }] of Object.entries(SUMS)) {
      const rows = await this.#ofLayer(view, level)
      if (!rows) continue
      const counted = new Map(this.#sums[view])
      const note = (key, has, { tiles, bytes }) => {
        const name = view.replace(/^_design\/|_view\//g, '') // versions/by_time
        differing.push(`${name}: ${key && `zoom ${key}: `}${has}, there are ${tiles} with ${bytes} bytes`)
      }
      for (const { key, value } of rows) {
        const rest = key.slice(1).join(' ')
        const [sum, own] = [sumOf(value), counted.get(rest) ?? { tiles: 0, bytes: 0 }]
        counted.delete(rest)
        if (sum.tiles !== own.tiles || sum.bytes !== own.bytes) note(rest, `${sum.tiles} with ${sum.bytes} bytes`, own)
      }
      for (const [key, own] of counted) note(key, 'nothing', own)
    }
    return differing.length && await this.#isUnchanged() ? differing : []
  }

  #ofLayer (view, level) {
    return this.#view(view, { startkey: [this.layer], endkey: [this.layer, {}], group_level: level })
  }

  /** @returns {Promise<any[] | undefined>} rows; nothing if the store does not have the view */
  #view (view, query) {
    return this.couch.view(view, query, this.signal).catch(ignoring('INDEX_MISSING'))
  }
}

function difference (doc, value) {
  if (!value) return 'not in it'
  const image = doc._attachments?.tile
  const expected = { rev: doc._rev, bytes: image?.length ?? 0, expires: doc.expires ?? null, gone: !image }
  return Object.keys(expected).filter(field => value[field] !== expected[field])
    .map(field => `${field} ${JSON.stringify(value[field])}, the document says ` +
      `${JSON.stringify(expected[field])}`).join(', ')
}
