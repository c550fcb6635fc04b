// Removes expired tiles. No history is lost: if a tile has a past, a version "no tile here any more" becomes its head,
// from the time it expired, and the expired version becomes past.
import { addSeconds, parseTileId, pastRange } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { byLayer } from '../../../core/ids.js'
import { batchesOf, chunks } from '../../../core/lists.js'
import { newRun } from '../../../core/runs.js'
import { HeadWriter } from '../../../core/store/head-writer.js'
import { versionIn } from '../../../core/store/plan.js'
import { Remover } from '../remove/remover.js'
import { describe } from '../../store/reader.js'
import { tileAccess } from '../../store/settle.js'
import { Tile } from '../../store/tile.js'

export class RemoveExpired {
  #remover
  #writer
  takesGone = false

  /** @param {import('../../store/index.js').Store} store @param {import('./index.js').Parts} options */
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
    for (const heads of chunks(tiles, limits.past)) {
      const pasts = await this.#readPasts(heads)
      const all = heads.map((head, index) => ({ head, past: pasts[index] }))
      const isRemovable = ({ head, past }) => withPast || past.every(({ time }) => time === head.time)
      await this.#end(all.filter(tile => !isRemovable(tile)).map(({ head }) => head))
      await this.#remove(all.filter(isRemovable))
      onProgress?.(this.tally)
    }
  }

  /** Withdraws the statements of editions about tiles, then removes the tiles with all of their versions. */
  async #remove (tiles) {
    const heads = tiles.map(({ head }) => head)
    const stated = this.options.dryRun ? [] : await this.#state(heads)
    // past versions first: at every moment a tile has its head or nothing at all
    await this.#removeVersions(tiles.flatMap(({ past }) => past))
    const gone = await this.#removeVersions(heads)
    this.tally.removed += gone.length
    const removed = new Set(gone)
    await this.#keep(stated.filter(id => !removed.has(id)))
  }

  /** @param {import('./find.js').Expired[]} heads @returns {Promise<string[]>} ids of those that have not changed */
  async #state (heads) {
    const rows = await this.couch.docs(heads.map(({ id }) => id), { signal: this.options.signal })
    const same = heads.filter(({ rev }, index) => rows[index].doc?._rev === rev)
    const stated = []
    for (const [layer, ids] of byLayer(same.map(({ id }) => id))) {
      const statements = this.#remover.statements.of(layer)
      await statements.refresh()
      if (!statements.manifests.length) continue
      // a tile that is fetched anew meanwhile has a later time
      const until = same.reduce((latest, { time }) => time > latest ? time : latest, statements.latest)
      await this.#remover.state(layer, { tiles: ids, until, isFinished: true })
      stated.push(...ids)
    }
    return stated
  }

  /** Heads that another program confirmed at the same moment: what it stated comes after the removal. */
  async #keep (ids) {
    for (const id of ids) {
      const statements = this.#remover.statements.of(parseTileId(id).layer)
      await this.couch.update(id, head => head && statements.isRemoved(id, head.time, versionIn(head).run)
        ? { ...head, run: newRun(statements.lastRun) }
        : undefined)
    }
  }

  /** Deletes versions at the revisions that were read: refreshed tiles stay. */
  async #removeVersions (versions) {
    const { batch } = this.options.limits
    const removed = []
    for (const some of chunks(versions, batch)) {
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
    return rows.map(page => page.filter(({ doc }) => doc).map(({ doc }) => describe(doc)))
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
      const knownOfTile = await this.#writer.statements.knownOf(some.map(({ id }) => id))
      await this.#writer.store(some.map(head => goneSince(head, knownOfTile(head.id))))
    }
  }

  #report ({ id }, outcome) {
    if (outcome === 'advance') this.tally.ended++
    else if (outcome instanceof TilecouchError) this.tally.note('refused', id, outcome.message)
    else this.tally.changed++
  }

  async finish () {
    const { purge, dryRun } = this.options
    if (this.tally.versions || (purge && !dryRun)) await this.#remover.finish()
  }
}

/**
 * "No tile here any more", from when the head expired, or from when it was found unchanged after that. It has expired
 * itself, so that a gateway asks the upstream.
 * @param {import('./find.js').Expired} head @param {import('../../../core/store/plan.js').Known} known
 */
function goneSince ({ layer, z, x, y, time, rev, expires, seen }, { statements, isRemoved }) {
  const all = [...statements, ...seen.map(([at, run]) => ({ time: at, run }))]
    .filter(one => !isRemoved(one.time, one.run))
  const last = all.reduce((latest, one) => one.time > latest ? one.time : latest, time)
  const since = expires > last ? expires : addSeconds(last, 1)
  return Object.assign(new Tile({ layer, z, x, y, time: since, expires: since }), { expectedRev: rev })
}
