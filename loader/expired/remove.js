// Removes expired tiles. No history is lost: if a tile has a past, a version "no tile here any more" becomes its head,
// from the time it expired, and the expired version becomes past.
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
  #writer
  takesGone = false

  /** @param {import('../store/index.js').Store} store @param {import('./index.js').Parts} options */
  constructor (store, options) {
    const { now, dryRun, purge, signal } = options
    this.couch = store.couch
    this.options = options
    this.tally = options.tally
    const note = (what, id, reason) => this.tally.note(what, id, reason)
    this.#remover = new Remover(store, { purge, dryRun, signal, note })
    const report = (tile, outcome) => this.#report(tile, outcome)
    this.#writer = new HeadWriter(store.couch, { ...tileAccess(store.couch), stored: now(), signal, report })
  }

  /** @param {import('./find.js').Expired[]} tiles */
  async take (tiles) {
    const { limits, withPast, onProgress } = this.options
    for (let at = 0; at < tiles.length; at += limits.past) {
      const heads = tiles.slice(at, at + limits.past)
      const pasts = await this.#readPasts(heads)
      const all = heads.map((head, index) => ({ head, past: pasts[index] }))
      const isRemovable = ({ head, past }) => withPast || past.every(({ time }) => time === head.time)
      await this.#end(all.filter(tile => !isRemovable(tile)).map(({ head }) => head))
      await this.#remove(all.filter(isRemovable))
      onProgress?.(this.tally)
    }
  }

  /** Removes tiles with all of their versions, and withdraws the statements of editions about them. */
  async #remove (tiles) {
    const remover = this.#remover
    // a run for each layer, before anything is removed: later writes are not concerned
    const runs = new Map()
    for (const { head: { layer } } of this.options.dryRun ? [] : tiles) {
      if (!runs.has(layer)) runs.set(layer, await remover.newRun(layer))
    }
    // past versions first: at every moment a tile has its head or nothing at all
    await this.#removeVersions(tiles.flatMap(({ past }) => past))
    const gone = await this.#removeVersions(tiles.map(({ head }) => head))
    this.tally.removed += gone.length
    for (const [layer, own] of this.options.dryRun ? [] : byLayer(gone)) {
      const { manifests } = remover.statements.of(layer)
      if (manifests.length) await remover.state(layer, { tiles: own, run: runs.get(layer) })
    }
  }

  /** Deletes versions at the revisions that were read: refreshed tiles stay. */
  async #removeVersions (versions) {
    const { batch } = this.options.limits
    const removed = []
    for (let at = 0; at < versions.length; at += batch) {
      const some = versions.slice(at, at + batch)
      const gone = await this.#remover.end(some)
      for (const { id, size } of some) if (gone.has(id)) this.tally.freed += size
      removed.push(...gone)
    }
    this.tally.versions += removed.length
    return removed
  }

  /** Past versions of each, oldest first; of tiles that stay two are enough: one may be a copy of the head. */
  async #readPasts (heads) {
    const { withPast, signal } = this.options
    const rangeOf = ({ id }) => ({ ...pastRange(id), ...(withPast ? {} : { limit: 2 }), include_docs: true })
    const rows = await this.couch.ranges(heads.map(rangeOf), signal)
    return rows.map(found => found.filter(({ doc }) => doc).map(({ doc }) => describe(doc)))
  }

  /** Writes "no tile here any more". @param {import('./find.js').Expired[]} heads */
  async #end (heads) {
    const { dryRun, limits, signal, now } = this.options
    if (dryRun) {
      this.tally.ended += heads.length
      return
    }
    for await (const some of batchesOf(heads, { most: limits.batch, bytes: limits.bytes })) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      this.#writer.stored = now()
      const known = await this.#writer.statements.knownOf(some.map(({ id }) => id))
      await this.#writer.store(some.map(head => goneSince(head, known(head.id))))
    }
  }

  #report ({ id }, outcome) {
    if (outcome === 'advance') this.tally.ended++
    else if (outcome instanceof TilecouchError) this.tally.note('refused', id, outcome.message)
    else this.tally.changed++
  }

  async finish () {
    if (this.tally.versions) await this.#remover.finish()
  }
}

/**
 * "No tile here any more", from when the head expired, or from when it was found unchanged after that. It has expired
 * itself, so that a gateway asks the upstream.
 * @param {import('./find.js').Expired} head @param {import('../../core/store/settle.js').Known} known
 */
function goneSince ({ layer, z, x, y, time, rev, expires, seen }, { statements, isRemoved }) {
  const all = [...statements, ...seen.map(([at, run]) => ({ time: at, run }))]
    .filter(one => !isRemoved(one.time, one.run))
  const last = all.reduce((latest, one) => one.time > latest ? one.time : latest, time)
  const since = expires > last ? expires : addSeconds(last, 1)
  return Object.assign(new Tile({ layer, z, x, y, time: since, expires: since }), { expectedRev: rev })
}
