// Compares the views of a layer with its documents: each page of documents is looked up in the time index, and at the
// end the totals are compared. Differences do not count if a program wrote in between.
import { isAdministrative } from '../../core/index.js'
import { sequenceNumber } from '../../core/feed-position.js'
import { ignoring } from '../../core/promises.js'
import { BY_AREA } from '../store/columns.js'
import { BY_TILE, BY_TIME } from '../store/reader.js'
import { BY_ZOOM } from '../store/count.js'
import { imageOf } from '../store/tile.js'

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
  #since = /** @type {any} */ (0) // place of #sequence in the change feed
  /** Expected sums of each view, by the rest of the key. @type {Record<string, Map<string, Sum>>} */
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

  /** Returns a sequence that changes with every write, and its place in the change feed. */
  async #currentSequence () {
    const { update_seq: seq, doc_count: count } = await this.couch.request({ path: '', signal: this.signal })
    return { seq, sequence: `${sequenceNumber(seq)} ${count}` }
  }

  async #isUnchanged () {
    if (this.#sequence === (await this.#currentSequence()).sequence) return true
    // every long command writes its progress, and so does this one
    for await (const { results } of this.couch.changesSince(this.#since, { page: PAGE, signal: this.signal })) {
      if (!results.every(({ id }) => isAdministrative(id))) return false
    }
    return true
  }

  /** Counts a valid tile of the layer. @param {any} doc */
  add (doc) {
    const { z, current } = doc
    const image = imageOf(doc)
    const count = (view, key) => {
      const { tiles, bytes } = this.#sums[view].get(key) ?? { tiles: 0, bytes: 0 }
      this.#sums[view].set(key, { tiles: tiles + 1, bytes: bytes + (image?.length ?? 0) })
    }
    const state = current ? 'current' : 'past'
    count(BY_ZOOM, `${z} ${image ? state : 'gone'}`)
    if (current && image) count(BY_AREA, `${z}`)
    count(BY_TIME, '')
  }

  /**
   * @param {any[]} page documents
   * @param {(id: string, why: string) => void} onDifferent
   */
  async compare (page, onDifferent) {
    const docs = page.filter(({ type }) => type === 'tile') // the index has no other documents
    if (!this.hasTimes || !docs.length) return
    const suspects = await this.#differences(docs)
    this.#documents += docs.filter(({ layer }) => layer === this.layer).length
    if (!suspects.size) return
    // a write may have come between the two requests: a difference counts if it is found twice at the same revision
    const rows = await this.couch.docs([...suspects.keys()], { signal: this.signal })
    const currentDocs = rows.map(row => row.doc).filter(Boolean)
    for (const [id, why] of await this.#differences(currentDocs)) {
      const [{ doc }] = await this.couch.docs([id], { signal: this.signal })
      if (doc?._rev === currentDocs.find(({ _id }) => _id === id)._rev) onDifferent(id, why)
    }
  }

  /** @returns {Promise<Map<string, string>>} id -> difference */
  async #differences (docs) {
    const keys = docs.map(({ layer, z, x, y, time }) => [layer, z, x, y, time])
    const rows = await this.#view(BY_TILE, { keys, reduce: false })
    if (!rows) this.hasTimes = false
    const values = new Map(rows?.map(({ id, value }) => [id, value]))
    const differences = rows ? docs.map(doc => [doc._id, differenceOf(doc, values.get(doc._id))]) : []
    return new Map(differences.filter(([, why]) => why))
  }

  /**
   * Compares the number of rows after the last page of a whole layer.
   * @returns {Promise<string | undefined>} why the time index is too long
   */
  async compareLength () {
    const [row] = this.hasTimes ? await this.#layerRows(BY_TILE, 1) ?? [] : []
    const indexed = row?.value ?? 0
    if (indexed <= this.#documents || !await this.#isUnchanged()) return undefined
    return `${indexed} in the index, ${this.#documents} documents`
  }

  /**
   * Compares the sums after the last page of a whole layer, if all of its documents are valid.
   * @returns {Promise<string[]>} the differences
   */
  async compareSums () {
    const differing = []
    for (const [view, { level, sumOf }] of Object.entries(SUMS)) {
      const rows = await this.#layerRows(view, level)
      if (!rows) continue
      const expectedSums = new Map(this.#sums[view])
      const note = (key, indexed, { tiles, bytes }) => {
        const name = view.replace(/^_design\/|_view\//g, '') // versions/by_time
        differing.push(`${name}: ${key && `zoom ${key}: `}${indexed}, there are ${tiles} with ${bytes} bytes`)
      }
      for (const { key, value } of rows) {
        const group = key.slice(1).join(' ')
        const [sum, expected] = [sumOf(value), expectedSums.get(group) ?? { tiles: 0, bytes: 0 }]
        expectedSums.delete(group)
        if (sum.tiles !== expected.tiles || sum.bytes !== expected.bytes) {
          note(group, `${sum.tiles} with ${sum.bytes} bytes`, expected)
        }
      }
      for (const [key, expected] of expectedSums) note(key, 'nothing', expected)
    }
    return differing.length && await this.#isUnchanged() ? differing : []
  }

  #layerRows (view, level) {
    return this.#view(view, { startkey: [this.layer], endkey: [this.layer, {}], group_level: level })
  }

  /** @returns {Promise<any[] | undefined>} rows; undefined if the store lacks the view */
  #view (view, query) {
    return this.couch.view(view, query, this.signal).catch(ignoring('INDEX_MISSING'))
  }
}

function differenceOf (doc, value) {
  if (!value) return 'not in it'
  const image = imageOf(doc)
  const expected = { rev: doc._rev, bytes: image?.length ?? 0, expires: doc.expires ?? null, gone: !image }
  return Object.keys(expected).filter(field => value[field] !== expected[field])
    .map(field => `${field} ${JSON.stringify(value[field])}, the document says ` +
      `${JSON.stringify(expected[field])}`).join(', ')
}
