// Removes expired tiles. No history is lost: if a tile has a past, a version "no tile here any more" becomes its head, from the
// time it expired, and the expired version becomes past.
import { addSeconds, pastRange } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { byLayer } from '../../core/ids.js'
import { batchesOf } from '../../core/batches.js'
import { HeadWriter } from '../../core/store/head-writer.js'
import { Remover } from '../remove/remover.js'
import { describe } from '../store/reader.js'
import { tileAccess } from '../store/settle.js'
import { Tile } from '../store/tile.js'

export class RemoveExpired {
  #remover
  #batch
  #counted = { changed: 0, refused: 0, named: 0 } // of the remover's tally
  #used = false // whether the remover was used
  takesGone = false

  /**
   * @param {import('../store/index.js').Store} store
   * @param {import('./index.js').Parts} parts
   */
  constructor (store, { tally, limits, now, dryRun, purge, withPast, signal, onProgress }) {
    this.couch = store.couch
    this.tally = tally
    this.limits = limits
    this.now = now
    this.dryRun = dryRun
    this.withPast = withPast
    this.signal = signal
    this.onProgress = onProgress
    this.#remover = new Remover(store, { purge, dryRun, signal })
    this.#batch = new HeadWriter(store.couch, {
      ...tileAccess(store.couch), stored: now(), signal, report: (tile, outcome) => this.#report(tile, outcome)
    })
  }

  /** @param {import('./find.js').Expired[]} tiles */
  async take (tiles) {
    const { limits } = this
    for (let at = 0; at < tiles.length; at += limits.past) {
      const some = tiles.slice(at, at + limits.past)
      const pasts = await this.#pastsOf(some)
      const all = some.map((head, index) => ({ head, past: pasts[index], isWhole: this.withPast || pasts[index].every(({ time }) => time === head.time) }))
      await this.#end(all.filter(({ isWhole }) => !isWhole).map(({ head }) => head))
      const whole = all.filter(({ isWhole }) => isWhole)
      const runs = await this.#runs(whole)
      // past versions first: at every moment a tile has its head or nothing at all
      await this.#remove(whole.flatMap(({ past }) => past))
      const gone = await this.#remove(whole.map(({ head }) => head))
      this.tally.removed += gone.size
      await this.#state([...gone], runs)
      this.onProgress?.(this.tally)
    }
  }

  /** A run for each layer, before anything is removed: later writes are not concerned. */
  async #runs (tiles) {
    const runs = new Map()
    for (const { head: { layer } } of this.dryRun ? [] : tiles) if (!runs.has(layer)) runs.set(layer, await this.#remover.newRun(layer))
    return runs
  }

  /** Withdraws the statements of editions about removed tiles. @param {string[]} ids of heads @param {Map<string, string>} runs */
  async #state (ids, runs) {
    if (this.dryRun) return
    for (const [layer, tiles] of byLayer(ids)) {
      if (this.#remover.saidOf(layer).manifests.length) await this.#remover.state(layer, { tiles, run: runs.get(layer) })
    }
  }

  /** Deletes versions at the revisions that were read: refreshed tiles stay. @param {import('../store/reader.js').StoredVersion[]} versions */
  async #remove (versions) {
    const removed = new Set()
    for (let at = 0; at < versions.length; at += this.limits.batch) {
      const some = versions.slice(at, at + this.limits.batch)
      this.#used = true
      const gone = await this.#remover.end(some.map(({ id, rev }) => ({ _id: id, _rev: rev })))
      for (const { id, size } of some) if (gone.has(id)) this.tally.freed += size
      for (const id of gone) removed.add(id)
      this.#count()
    }
    this.tally.versions += removed.size
    return removed
  }

  /** Past versions of each, oldest first; of those that stay two are enough: one may be a copy of the head. */
  async #pastsOf (heads) {
    const rows = await this.couch.ranges(heads.map(({ id }) => (
      { ...pastRange(id), ...(this.withPast ? {} : { limit: 2 }), include_docs: true }
    )), this.signal)
    return rows.map(found => found.filter(({ doc }) => doc).map(({ doc }) => describe(doc)))
  }

  async #end (heads) {
    if (this.dryRun) {
      this.tally.ended += heads.length
      return
    }
    for await (const some of batchesOf(heads, { most: this.limits.batch, bytes: this.limits.bytes })) {
      if (this.signal?.aborted) throw new TilecouchError('ABORTED')
      this.#batch.stored = this.now()
      const known = await this.#batch.statements.knownOf(some.map(({ id }) => id))
      await this.#batch.store(some.map(head => goneSince(head, known(head.id))))
    }
  }

  #report ({ id }, outcome) {
    if (outcome === 'advance') this.tally.ended++
    else if (outcome instanceof TilecouchError) this.tally.note('refused', id, outcome.message)
    else this.tally.changed++
  }

  async finish () {
    if (!this.#used) return
    await this.#remover.finish()
    this.#count()
  }

  /** Adds the remover's counts since the last call. */
  #count () {
    const { changed, refused, named } = this.#remover.tally
    const { tally } = this
    tally.changed += changed - this.#counted.changed
    tally.refused += refused - this.#counted.refused
    for (const { id, what, reason } of named.slice(this.#counted.named)) tally.name(id, what, reason)
    this.#counted = { changed, refused, named: named.length }
  }
}

/**
 * "No tile here any more", from when the head expired on, or from when it was found unchanged after that. It has expired itself,
 * so that a gateway asks the upstream.
 * @param {import('./find.js').Expired} head @param {import('../../core/store/settle.js').Known} known
 */
function goneSince ({ layer, z, x, y, time, rev, expires, seen }, { statements, isRemoved }) {
  const said = [...statements, ...seen.map(([at, run]) => ({ time: at, run }))].filter(one => !isRemoved(one.time, one.run))
  const last = said.reduce((latest, one) => one.time > latest ? one.time : latest, time)
  const since = expires > last ? expires : addSeconds(last, 1)
  return Object.assign(new Tile({ layer, z, x, y, time: since, expires: since }), { expectedRev: rev })
}
