// The queue of findings that `tilecouch check --fix` repairs: those with a `fix` in files/faults.js. Tiles are
// repaired while a layer is read, so that memory does not grow with the number of faults. Faults of layers and of the
// store are repaired at the end.
import { chunks } from '../../core/lists.js'
import { headId, isTileId } from '../../core/index.js'
import { faults } from './files/faults.js'
import { repairTimelines } from './tile-repair.js'

const repairDefaults = {
  gather: 20_000, // findings kept before they are repaired
  tiles: 100, // tiles repaired together
  named: 100 // documents named in a report
}

/** Findings about the versions of one tile. */
const TILE_CODES = new Set(['conflict', 'head-too-old', 'two-at-one-time', 'no-head', 'version-twice'])

/**
 * @typedef {import('./files/report.js').Finding} Finding
 * @typedef {Partial<Omit<typeof repairDefaults, 'named'>>} RepairLimits
 */

export class RepairQueue {
  /** Tile -> its findings. @type {Map<string, Finding[]>} */
  #tiles = new Map()
  #gathered = 0
  /**
   * Code -> findings about layers and the store; next: the first one that is not kept.
   * @type {Map<string, {count: number, some: Finding[], next?: Finding}>}
   */
  #others = new Map()

  /**
   * @param {import('../store/index.js').Store} store
   * @param {{tally: RepairTally, signal?: AbortSignal, limits?: RepairLimits}} options
   */
  constructor (store, { signal, tally, limits }) {
    this.store = store
    this.signal = signal
    this.tally = tally
    this.limits = { ...repairDefaults, ...limits }
  }

  /** @param {Finding} finding */
  note (finding) {
    const tile = tileOf(finding.where)
    if (tile && TILE_CODES.has(finding.code)) {
      this.#tiles.set(tile, [...this.#tiles.get(tile) ?? [], finding])
      this.#gathered++
    } else if (faults[finding.code].fix) {
      const entry = this.#others.get(finding.code) ?? { count: 0, some: [] }
      this.#others.set(finding.code, entry)
      entry.count++
      if (entry.some.length < this.limits.gather) entry.some.push(finding)
      else entry.next ??= finding
    } else this.tally.left(finding)
  }

  async repairIfMany () {
    if (this.#gathered >= this.limits.gather) await this.repairTiles()
  }

  async repairTiles () {
    const { store, signal, tally } = this
    const onLeft = (id, reason) => tally.noteReason(id, reason)
    const ids = [...this.#tiles.keys()]
    for (const tileIds of chunks(ids, this.limits.tiles)) {
      const findings = tileIds.flatMap(id => /** @type {Finding[]} */ (this.#tiles.get(id)))
      const remainingFaults = await repairTimelines(store, tileIds, { signal, onLeft })
      for (const finding of findings) {
        if (remainingFaults.has(`${finding.code} ${finding.where}`)) tally.left(finding)
        else tally.repair(finding)
      }
    }
    this.#tiles.clear()
    this.#gathered = 0
  }

  /** Takes the findings of a code out of the queue. @param {string} code */
  take (code) {
    const entry = this.#others.get(code)
    this.#others.delete(code)
    return entry
  }

  /**
   * Repairs all findings of some codes together, and counts the result.
   * @param {string[]} codes
   * @param {(findings: Finding[]) => Promise<boolean | string>} repair returns true, or why it failed
   */
  async repairAll (codes, repair) {
    const entries = codes.map(code => this.take(code)).filter(entry => entry !== undefined)
    if (!entries.length) return
    const done = await repair(entries.flatMap(({ some }) => some))
    for (const { some: [finding], count } of entries) {
      if (done === true) this.tally.repair(finding, count)
      else this.tally.left(finding, done || undefined, count)
    }
  }

  /** Counts the remaining findings as left. */
  end () {
    for (const { some: [finding], count } of this.#others.values()) this.tally.left(finding, undefined, count)
    this.#others.clear()
  }
}

const tileOf = where => isTileId(where) ? headId(where) : undefined

/** Counts the repaired and the remaining findings. */
export class RepairTally {
  /** Numbers by code. @type {Record<string, number>} */
  repaired = {}
  /** Numbers by code. @type {Record<string, number>} */
  remaining = {}
  faults = 0 // among the remaining
  warnings = 0
  /** The first of the remaining. @type {(Finding & {reason?: string})[]} */
  named = []
  #reasons = new Map()

  /** @param {Finding} finding */
  repair ({ code }, count = 1) {
    this.repaired[code] = (this.repaired[code] ?? 0) + count
  }

  /** @param {Finding} finding @param {string} [reason] */
  left (finding, reason = this.#reasons.get(finding.where), count = 1) {
    this.remaining[finding.code] = (this.remaining[finding.code] ?? 0) + count
    if (finding.level === 'fault') this.faults += count
    else this.warnings += count
    if (this.named.length < repairDefaults.named) this.named.push({ ...finding, ...(reason && { reason }) })
  }

  /** Notes why a document could not be repaired. Called before `left`. @param {string} id @param {string} reason */
  noteReason (id, reason) {
    if (this.#reasons.size < 100 * repairDefaults.named) this.#reasons.set(id, reason)
  }
}
