// Removes expired tiles. No history is lost: a tile with a past gets a head that is "gone" from the time of expiry, and
// the expired version becomes past.
import { addSeconds, parseTileId, pastRange } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { byLayer } from '../../../core/ids.js'
import { batchesOf, chunks } from '../../../core/lists.js'
import { newRun } from '../../../core/runs.js'
import { HeadWriter } from '../../../core/store/head-writer.js'
import { versionIn } from '../../../core/store/plan.js'
import { settleTiles } from '../../../core/store/settle.js'
import { Remover } from '../remove/remover.js'
import { storedVersionOf } from '../../store/reader.js'
import { readLeavesByState } from '../../store/revisions.js'
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
    for (const listed of chunks(tiles, limits.past)) {
      const heads = await this.#settleConflicts(listed)
      const pasts = await this.#readPasts(heads)
      const candidates = heads.map((head, index) => ({ head, past: pasts[index] }))
      const isRemovable = ({ head, past }) => withPast || past.every(({ time }) => time === head.time)
      await this.#writeGone(candidates.filter(tile => !isRemovable(tile)).map(({ head }) => head))
      await this.#remove(candidates.filter(isRemovable))
      onProgress?.(this.tally)
    }
  }

  /**
   * Settles heads that have several leaves, so that the version of the losing leaf becomes past and is not shown later.
   * Returns the heads that are still the same version, at their new revisions.
   * @param {import('./find.js').Expired[]} heads
   */
  async #settleConflicts (heads) {
    const { dryRun, signal } = this.options
    if (dryRun) return heads
    const states = await readLeavesByState(this.couch, heads.map(({ id }) => id), signal)
    const ids = heads.map(({ id }) => id).filter(id => (states.get(id)?.living.length ?? 0) > 1)
    if (!ids.length) return heads
    const readFacts = tileIds => this.#writer.statements.readFacts(tileIds)
    await settleTiles(tileAccess(this.couch), ids, { readFacts, signal })
    const docs = new Map((await this.couch.docs(ids, { signal })).map(({ id, doc }) => [id, doc]))
    return heads.flatMap(head => {
      if (!docs.has(head.id)) return [head]
      const { _rev: rev, time } = docs.get(head.id) ?? {}
      return time === head.time ? [{ ...head, rev }] : []
    })
  }

  /** Withdraws the statements of editions about tiles, then removes the tiles with all of their versions. */
  async #remove (tiles) {
    const heads = tiles.map(({ head }) => head)
    const statedIds = this.options.dryRun ? [] : await this.#withdraw(heads)
    // past versions first, so that a tile never has a past without a head
    await this.#removeVersions(tiles.flatMap(({ past }) => past))
    const removedIds = await this.#removeVersions(heads)
    this.tally.removed += removedIds.length
    const removedHeads = new Set(removedIds)
    await this.#keepHeads(statedIds.filter(id => !removedHeads.has(id)))
  }

  /** @param {import('./find.js').Expired[]} heads @returns {Promise<string[]>} ids of the unchanged heads */
  async #withdraw (heads) {
    const rows = await this.couch.docs(heads.map(({ id }) => id), { signal: this.options.signal })
    const unchanged = heads.filter(({ rev }, index) => rows[index].doc?._rev === rev)
    const statedIds = []
    for (const [layer, ids] of byLayer(unchanged.map(({ id }) => id))) {
      const statements = this.#remover.statements.ofLayer(layer)
      await statements.refresh()
      if (!statements.manifests.length) continue
      // a tile that is fetched again meanwhile has a later time
      const until = unchanged.reduce((latest, { time }) => time > latest ? time : latest, statements.latest)
      await this.#remover.state(layer, { tiles: ids, until, isFinished: true })
      statedIds.push(...ids)
    }
    return statedIds
  }

  /** Gives a later run to heads that another program confirmed meanwhile, so that the removal does not concern them. */
  async #keepHeads (ids) {
    for (const id of ids) {
      const statements = this.#remover.statements.ofLayer(parseTileId(id).layer)
      await this.couch.update(id, head => head && statements.isRemoved(id, head.time, versionIn(head).run)
        ? { ...head, run: newRun(statements.lastRun) }
        : undefined)
    }
  }

  /** Deletes versions at the revisions that were read: refreshed tiles stay. */
  async #removeVersions (versions) {
    const { batch } = this.options.limits
    const removedIds = []
    for (const batchVersions of chunks(versions, batch)) {
      const deletedIds = await this.#remover.end(batchVersions)
      for (const { id, size } of batchVersions) if (deletedIds.has(id)) this.tally.freed += size
      removedIds.push(...deletedIds)
    }
    this.tally.versions += removedIds.length
    return removedIds
  }

  /** The past of each tile, oldest first. For a tile that stays two are enough: one may be a copy of the head. */
  async #readPasts (heads) {
    const { withPast, signal } = this.options
    const rangeOf = ({ id }) => ({ ...pastRange(id), ...(withPast ? {} : { limit: 2 }), include_docs: true })
    const rows = await this.couch.ranges(heads.map(rangeOf), signal)
    return rows.map(page => page.filter(({ doc }) => doc).map(({ doc }) => storedVersionOf(doc)))
  }

  /** Writes heads that are "gone". @param {import('./find.js').Expired[]} heads */
  async #writeGone (heads) {
    const { dryRun, limits, signal, now } = this.options
    if (dryRun) {
      this.tally.ended += heads.length
      return
    }
    for await (const batchHeads of batchesOf(heads, { most: limits.batch, bytes: limits.bytes })) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      this.#writer.stored = now()
      const factsOf = await this.#writer.statements.readFacts(batchHeads.map(({ id }) => id))
      await this.#writer.store(batchHeads.map(head => goneSince(head, factsOf(head.id))))
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
 * Makes a "gone" version from the expiry of the head on, or from a later confirmation of the head on. It expires at
 * once, so that a gateway asks the upstream.
 * @param {import('./find.js').Expired} head @param {import('../../../core/store/plan.js').TileFacts} facts
 */
function goneSince ({ layer, z, x, y, time, rev, expires, seen }, { statements, isRemoved }) {
  const confirmations = [...statements, ...seen.map(([seenAt, run]) => ({ time: seenAt, run }))]
    .filter(statement => !isRemoved(statement.time, statement.run))
  const lastTime = confirmations.reduce((latest, statement) => statement.time > latest ? statement.time : latest, time)
  const since = expires > lastTime ? expires : addSeconds(lastTime, 1)
  return Object.assign(new Tile({ layer, z, x, y, time: since, expires: since }), { expectedRev: rev })
}
