// Does the time index say what the documents say? Each page of documents is looked up in it by key, and in the end the
// whole is counted: an index that has more than there is shows tiles that do not exist.
import { BY_TILE } from '../../store/reader.js'

export class ByTile {
  #couch
  #signal
  #documents = 0
  /** @type {Promise<any> | undefined} */
  #before

  /** @param {import('../../store/couch.js').Couch} couch @param {{signal?: AbortSignal}} [options] */
  constructor (couch, { signal } = {}) {
    this.#couch = couch
    this.#signal = signal
    this.isThere = true // until a look into it says otherwise
  }

  /**
   * @param {any[]} docs tile documents
   * @param {(id: string, why: string) => void} tell of each that the index does not have as it is
   */
  async compare (docs, tell) {
    if (!this.isThere || !docs.length) return
    await (this.#before ??= this.#sequence())
    const suspects = await this.#differing(docs)
    if (!this.isThere) return
    this.#documents += docs.length
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
    const keys = docs.map(({ layer, z, x, y, time }) => [layer, z, x, y, time])
    try {
      const rows = await this.#couch.view(BY_TILE, { keys, reduce: false }, this.#signal)
      const values = new Map(rows.map(({ id, value }) => [id, value]))
      for (const doc of docs) {
        const why = difference(doc, values.get(doc._id))
        if (why) differing.set(doc._id, why)
      }
    } catch (error) {
      if (error.code !== 'INDEX_MISSING') throw error
      this.isThere = false
    }
    return differing
  }

  /**
   * After the last page of a whole layer.
   * @param {string} layer
   * @returns {Promise<string | undefined>} why it is too long
   */
  async count (layer) {
    if (!this.isThere) return undefined
    const [row] = await this.#couch.view(BY_TILE, { startkey: [layer], endkey: [layer, {}], group_level: 1 }, this.#signal)
    const indexed = row?.value ?? 0
    if (indexed <= this.#documents || (this.#before && await this.#before !== await this.#sequence())) return undefined
    return `${indexed} in the index, ${this.#documents} documents`
  }

  async #sequence () {
    const info = await this.#couch.request({ path: '', signal: this.#signal })
    return `${parseInt(info.update_seq)} ${info.doc_count}`
  }
}

function difference (doc, value) {
  if (!value) return 'not in it'
  const bytes = doc._attachments?.tile?.length ?? 0
  const expected = { rev: doc._rev, bytes, expires: doc.expires ?? null, gone: !doc._attachments?.tile }
  return Object.keys(expected).filter(field => value[field] !== expected[field])
    .map(field => `${field} ${JSON.stringify(value[field])}, the document says ${JSON.stringify(expected[field])}`).join(', ')
}
