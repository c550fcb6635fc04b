// Does the time index say what the documents say? Each page of documents is looked up in it by key, and in the end the
// whole is counted: an index that has more than there is shows tiles that do not exist.
import { position } from '../../../core/place.js'
import { BY_TILE } from '../../store/reader.js'

export class ByTile {
  #couch
  #layer
  #signal
  #documents = 0
  /** @type {Promise<any> | undefined} */
  #before

  /** @param {import('../../store/couch.js').Couch} couch @param {string} layer @param {AbortSignal} [signal] */
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
 * @param {import('../../store/couch.js').Couch} couch @param {AbortSignal} [signal]
 */
export async function sequenceOf (couch, signal) {
  const { update_seq: seq, doc_count: count } = await couch.request({ path: '', signal })
  return `${position(seq)} ${count}`
}

function difference (doc, value) {
  if (!value) return 'not in it'
  const bytes = doc._attachments?.tile?.length ?? 0
  const expected = { rev: doc._rev, bytes, expires: doc.expires ?? null, gone: !doc._attachments?.tile }
  return Object.keys(expected).filter(field => value[field] !== expected[field])
    .map(field => `${field} ${JSON.stringify(value[field])}, the document says ${JSON.stringify(expected[field])}`).join(', ')
}
