// Documents of a file on their way into a database, several batches at once. There is no validation function there yet, which
// would halve the speed: they are judged here by the same function.
import { readFile } from 'node:fs/promises'
import { TilecouchError } from '../../core/index.js'
import { Carrier, replicationDefaults } from '../../core/mirror/index.js'
import { peerOf } from '../mirror/peer.js'
import { Receiver } from '../mirror/receiver.js'

const VALIDATION = new URL('../../_design/tiles/validate_doc_update.js', import.meta.url)
const BLOCKS = 4 // of a file under way at once

export class Filling {
  #docs = /** @type {Map<string, any>} */ (new Map()) // under way, by id and revision
  #working = /** @type {Set<Promise<void>>} */ (new Set())
  #failure
  #carrier
  #tally = { changes: 0, selected: 0, checked: 0, missing: 0, docs: 0, deleted: 0, bytes: 0, tiles: 0, absent: 0, refused: 0 }

  /**
   * @param {import('../store/couch.js').Couch} couch
   * @param {{signal?: AbortSignal, resumed: boolean, onRefused: (refused: import('../../core/mirror/peer.js').Refused) => void, onProgress: (written: number) => void}} options resumed: some is there already
   */
  static async open (couch, options) {
    return new Filling(couch, await readFile(VALIDATION, 'utf8'), options)
  }

  constructor (couch, validation, { signal = new AbortController().signal, resumed, onRefused, onProgress }) {
    this.signal = signal
    this.resumed = resumed
    const target = new Receiver(peerOf(couch))
    target.validateWith(validation)
    this.#carrier = new Carrier({
      source: /** @type {any} */ ({ name: 'the backup', fetch: async asked => this.#find(asked) }),
      target,
      tally: this.#tally,
      dryRun: false,
      limits: replicationDefaults,
      onRefused,
      onProgress: () => onProgress(this.#tally.docs)
    })
  }

  get written () {
    return this.#tally.docs
  }

  #find (asked) {
    const docs = asked.map(({ id, rev }) => this.#docs.get(`${id} ${rev}`))
    const bytes = docs.reduce((sum, doc) => sum + Object.values(doc._attachments ?? {}).reduce((inner, { data }) => inner + data.length, 0), 0)
    return { docs, bytes }
  }

  /** Resolves when there is room for more. @param {any[]} docs */
  async take (docs) {
    this.check()
    if (!docs.length) return
    const work = this.#bring(docs).catch(error => { this.#failure ??= error }).finally(() => this.#working.delete(work))
    this.#working.add(work)
    if (this.#working.size >= BLOCKS) await Promise.race(this.#working)
  }

  async #bring (docs) {
    const keys = docs.map(({ _id: id, _rev: rev }) => `${id} ${rev}`)
    docs.forEach((doc, index) => this.#docs.set(keys[index], doc))
    try {
      const asked = docs.map(({ _id: id, _rev: rev }) => ({ id, rev }))
      if (this.resumed) await this.#carrier.carry(rowsOf(asked), this.signal)
      else await this.#carrier.bring(asked, this.signal)
    } finally {
      for (const key of keys) this.#docs.delete(key)
    }
  }

  /** Waits for what is under way. */
  async end () {
    await Promise.all(this.#working)
  }

  /** Throws what went wrong. */
  check () {
    if (this.signal.aborted) throw new TilecouchError('ABORTED')
    if (this.#failure) throw this.#failure
  }
}

/** Revisions put together by document. */
function rowsOf (asked) {
  const rows = new Map()
  for (const { id, rev } of asked) rows.set(id, { id, revs: [...rows.get(id)?.revs ?? [], rev] })
  return [...rows.values()]
}
