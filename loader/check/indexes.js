// Does the time index say what the documents say? Each page of documents is looked up in it by key, and in the end the
// whole is counted: an index that has more than there is shows tiles that do not exist.
import { sequenceNumber } from '../../core/feed-position.js'
import { BY_AREA } from '../store/columns.js'
import { BY_TILE, BY_TIME } from '../store/reader.js'
import { BY_ZOOM } from '../store/stats.js'

export class ByTile {
  #couch
  #layer
  #signal
  #documents = 0
  /** @type {Promise<any> | undefined} */
  #before

  /** @param {import('../store/couch.js').Couch} couch @param {string} layer @param {AbortSignal} [signal] */
  constructor (couch, layer, signal) {
    this.#couch = couch
    this.#layer = layer
    this.#signal = signal
    this.isThere = true // until a look into it says otherwise
  }

  /**
   * @param {any[]} page documents; those of other types the index leaves out
   * @param {(id: string, why: string) => void} tell of each that the index does not have as it is
   */
  async compare (page, tell) {
    const docs = page.filter(({ type }) => type === 'tile')
    if (!this.isThere || !docs.length) return
    await (this.#before ??= this.#sequence())
    const suspects = await this.#differing(docs)
    if (!this.isThere) return
    this.#documents += docs.filter(({ layer }) => layer === this.#layer).length
    if (!suspects.size) return
    // somebody may have written between the two looks: only what two looks at the same revision say counts
    const again = (await this.#couch.docs([...suspects.keys()], { signal: this.#signal })).map(row => row.doc).filter(Boolean)
    for (const [id, why] of await this.#differing(again)) {
      const [{ doc }] = await this.#couch.docs([id], { signal: this.#signal })
      if (doc?._rev === again.find(({ _id }) => _id === id)._rev) tell(id, why)
    }
  }

  /** @returns {Promise<Map<string, string>>} id -> what differs */
  async #differing (docs) {
    const differing = new Map()
    const rows = await this.#look({ keys: docs.map(({ layer, z, x, y, time }) => [layer, z, x, y, time]), reduce: false })
    const values = new Map(rows.map(({ id, value }) => [id, value]))
    for (const doc of docs) {
      const why = difference(doc, values.get(doc._id))
      if (why) differing.set(doc._id, why)
    }
    return differing
  }

  /**
   * After the last page of a whole layer.
   * @returns {Promise<string | undefined>} why it is too long
   */
  async count () {
    const [row] = await this.#look({ startkey: [this.#layer], endkey: [this.#layer, {}], group_level: 1 })
    const indexed = row?.value ?? 0
    if (indexed <= this.#documents || (this.#before && await this.#before !== await this.#sequence())) return undefined
    return `${indexed} in the index, ${this.#documents} documents`
  }

  /** Rows of the index; none when there is no index. */
  async #look (query) {
    if (!this.isThere) return []
    try {
      return await this.#couch.view(BY_TILE, query, this.#signal)
    } catch (error) {
      if (error.code !== 'INDEX_MISSING') throw error
      this.isThere = false
      return []
    }
  }

  #sequence () {
    return sequenceOf(this.#couch, this.#signal)
  }
}

/**
 * The same before and after when nobody wrote in between.
 * @param {import('../store/couch.js').Couch} couch @param {AbortSignal} [signal]
 */
export async function sequenceOf (couch, signal) {
  const { update_seq: seq, doc_count: count } = await couch.request({ path: '', signal })
  return `${sequenceNumber(seq)} ${count}`
}

function difference (doc, value) {
  if (!value) return 'not in it'
  const bytes = doc._attachments?.tile?.length ?? 0
  const expected = { rev: doc._rev, bytes, expires: doc.expires ?? null, gone: !doc._attachments?.tile }
  return Object.keys(expected).filter(field => value[field] !== expected[field])
    .map(field => `${field} ${JSON.stringify(value[field])}, the document says ${JSON.stringify(expected[field])}`).join(', ')
}

// What the views of a layer sum up, beside what was counted: nobody sees a wrong sum, but estimates and totals stand on it.

/** @typedef {{tiles: number, bytes: number}} Sum */

export class Sums {
  #couch
  #layer
  #signal
  /** Of what each view sums up. @type {Record<string, Map<string, Sum>>} */
  #counted = { [BY_ZOOM]: new Map(), [BY_AREA]: new Map(), [BY_TIME]: new Map() }
  /** @type {Promise<string> | undefined} */
  #before

  /** @param {import('../store/couch.js').Couch} couch @param {string} layer @param {AbortSignal} [signal] */
  constructor (couch, layer, signal) {
    this.#couch = couch
    this.#layer = layer
    this.#signal = signal
  }

  async begin () {
    await (this.#before ??= sequenceOf(this.#couch, this.#signal))
  }

  /** @param {any} doc a valid tile of the layer */
  add ({ z, current, _attachments: { tile } = /** @type {any} */ ({}) }) {
    const bytes = tile?.length ?? 0
    this.#count(BY_ZOOM, `${z} ${!tile ? 'gone' : current ? 'current' : 'past'}`, bytes)
    if (current && tile) this.#count(BY_AREA, `${z}`, bytes)
    this.#count(BY_TIME, '', bytes)
  }

  #count (view, key, bytes) {
    const sum = this.#counted[view].get(key) ?? { tiles: 0, bytes: 0 }
    sum.tiles++
    sum.bytes += bytes
    this.#counted[view].set(key, sum)
  }

  /**
   * After the last document, when all of them were valid.
   * @param {(view: string, why: string) => void} tell
   */
  async compare (tell) {
    const differing = []
    for (const [view, { level, of }] of Object.entries(views)) {
      const rows = await this.#rows(view, level)
      if (!rows) continue
      const counted = new Map(this.#counted[view])
      for (const { key, value } of rows) {
        const name = key.slice(1).join(' ')
        const [said, own] = [of(value), counted.get(name) ?? { tiles: 0, bytes: 0 }]
        counted.delete(name)
        if (said.tiles !== own.tiles || said.bytes !== own.bytes) differing.push({ view, why: `${name && `zoom ${name}: `}${said.tiles} with ${said.bytes} bytes, there are ${own.tiles} with ${own.bytes}` })
      }
      for (const [name, own] of counted) differing.push({ view, why: `${name && `zoom ${name}: `}nothing, there are ${own.tiles} with ${own.bytes} bytes` })
    }
    // while somebody writes neither is right
    if (differing.length && await this.#before === await sequenceOf(this.#couch, this.#signal)) for (const { view, why } of differing) tell(view, why)
  }

  async #rows (view, level) {
    try {
      return await this.#couch.view(view, { startkey: [this.#layer], endkey: [this.#layer, {}], group_level: level }, this.#signal)
    } catch (error) {
      if (error.code !== 'INDEX_MISSING') throw error
    }
  }
}

/** @type {Record<string, {level: number, of: (value: any) => Sum}>} */
const views = {
  [BY_ZOOM]: { level: 3, of: ([{ count, sum }]) => ({ tiles: count, bytes: sum }) },
  [BY_AREA]: { level: 2, of: ({ count, sum }) => ({ tiles: count, bytes: sum }) },
  [BY_TIME]: { level: 1, of: ({ count, sum }) => ({ tiles: count, bytes: sum }) }
}
