// A store in memory whose shards answer one after the other, with a writer at work before, between and behind: what a feed of
// several shards may tell, at its worst.

/**
 * @typedef {{id: string, seq: number, rev: string, deleted: boolean, version?: number}} Doc version: what it shows
 */
export class Shards {
  /** @type {Map<string, Doc>[]} */
  #shards
  #revs = 0
  /** What there was after each write. @type {string[]} */
  history

  /** @param {number} count @param {() => void} work lets the writer do some of its work */
  constructor (count, work) {
    this.#shards = Array.from({ length: count }, () => new Map())
    this.work = work
    this.history = [this.outline()]
  }

  #shardOf (id) {
    return this.#shards[[...id].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % this.#shards.length]
  }

  get (id) {
    return this.#shardOf(id).get(id)
  }

  /** @param {string} id @param {number | null} version null: deleted */
  write (id, version) {
    const shard = this.#shardOf(id)
    const seq = Math.max(0, ...[...shard.values()].map(doc => doc.seq)) + 1
    shard.set(id, { id, seq, rev: `1-${++this.#revs}`, deleted: version === null, version: version ?? undefined })
    this.history.push(this.outline())
  }

  outline () {
    return outlineOf(this.#shards.flatMap(shard => [...shard.values()]))
  }

  /** As a peer answers: of every shard what has changed since, each read at a moment of its own. */
  async changes ({ since, limit }) {
    const places = since === 0 ? this.#shards.map(() => 0) : JSON.parse(since)
    const rows = []
    let pending = 0
    for (const [index, shard] of this.#shards.entries()) {
      this.work()
      const changed = [...shard.values()].filter(({ seq }) => seq > places[index]).sort((a, b) => a.seq - b.seq)
      const taken = changed.slice(0, Math.max(0, limit - rows.length))
      pending += changed.length - taken.length
      rows.push(...taken.map(doc => ({ ...doc, revs: [doc.rev] })))
      if (taken.length) places[index] = taken[taken.length - 1].seq
    }
    this.work()
    return { rows, last: JSON.stringify(places), pending }
  }
}

/** @param {Iterable<Doc>} docs */
export const outlineOf = docs => [...docs].map(({ id, rev }) => `${id} ${rev}`).sort().join('\n')
