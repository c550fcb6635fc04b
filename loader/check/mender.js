// Gathers what is found, and mends it tile by tile: by and by while a layer is walked over, so that memory stays flat however
// much is wrong, and in the end.
import { tileId, parseTileId } from '../../core/index.js'
import { TileMender } from './tiles.js'
import { repairs } from './repairs.js'

export const menderDefaults = {
  gather: 20_000, // findings kept before they are mended
  tiles: 100, // tiles mended together
  named: 100 // documents named in a report
}

/** Kinds that are about one tile. */
const OF_BYTES = new Set(['empty-tile', 'unknown-format', 'truncated-tile', 'undecodable-tile', 'wrong-digest', 'wrong-length', 'unreadable-tile'])
const OF_TILES = new Set([
  'fields-disagree', 'wrong-current', 'time-disagrees', 'bad-time', 'not-a-tile', 'wrong-type', 'no-bytes', 'stray-attachment', 'conflict', 'head-too-old', 'two-at-one-time',
  'no-head', 'version-twice'
])

/**
 * @typedef {import('../verify/report.js').Finding} Finding
 * @typedef {{count: number, some: Finding[]}} Found
 */

export class Mender {
  /** Tile -> what was found of it. @type {Map<string, Finding[]>} */
  #tiles = new Map()
  #gathered = 0
  /** What was found of layers and of the store. @type {Map<string, Found>} */
  #others = new Map()

  /**
   * @param {import('../store/index.js').Store} store
   * @param {{signal?: AbortSignal, from?: import('../store/index.js').Store, tally: Outcome}} options
   */
  constructor (store, { signal, from, tally }) {
    this.tally = tally
    this.from = from
    this.tiles = new TileMender(store, { signal, from, onLeft: (id, reason) => tally.say(id, reason) })
  }

  /** @param {Finding} finding */
  note (finding) {
    const tile = tileOf(finding.where)
    const isOurs = OF_TILES.has(finding.code) || (this.from && OF_BYTES.has(finding.code))
    if (tile && isOurs) {
      this.#tiles.set(tile, [...this.#tiles.get(tile) ?? [], finding])
      this.#gathered++
    } else if (repairs[finding.code]) {
      const found = this.#others.get(finding.code) ?? { count: 0, some: [] }
      this.#others.set(finding.code, found)
      found.count++
      if (found.some.length < menderDefaults.gather) found.some.push(finding)
    } else this.tally.left(finding)
  }

  /** When much was gathered. */
  async relieve () {
    if (this.#gathered >= menderDefaults.gather) await this.mendTiles()
  }

  async mendTiles () {
    const ids = [...this.#tiles.keys()]
    for (let at = 0; at < ids.length; at += menderDefaults.tiles) {
      const some = ids.slice(at, at + menderDefaults.tiles)
      const found = some.flatMap(id => /** @type {Finding[]} */ (this.#tiles.get(id)))
      const of = codes => new Set(found.filter(({ code }) => codes.has(code)).map(({ where }) => where))
      const wrong = await this.tiles.mend(some, { types: of(new Set(['wrong-type'])), bytes: of(OF_BYTES) })
      for (const finding of found) {
        const isOfBytes = finding.code === 'wrong-type' || OF_BYTES.has(finding.code)
        const isMended = isOfBytes ? this.tiles.settled.has(finding.where) : !wrong.has(`${finding.code} ${finding.where}`)
        isMended ? this.tally.mended(finding) : this.tally.left(finding)
      }
    }
    this.#tiles.clear()
    this.#gathered = 0
  }

  /**
   * Takes what was found of a kind.
   * @param {string} code
   * @returns {Found | undefined}
   */
  take (code) {
    const found = this.#others.get(code)
    this.#others.delete(code)
    return found
  }

  /**
   * Takes what was found of some kinds, mends it all at once and tells what became of it.
   * @param {string[]} codes
   * @param {(found: Finding[]) => Promise<boolean | string>} mend whether it was done, or why not
   */
  async mendAll (codes, mend) {
    const taken = codes.map(code => this.take(code)).filter(found => found !== undefined)
    if (!taken.length) return
    const done = await mend(taken.flatMap(({ some }) => some))
    for (const { some: [finding], count } of taken) {
      done === true ? this.tally.mended(finding, count) : this.tally.left(finding, done || undefined, count)
    }
  }

  /** What nobody took. */
  end () {
    for (const { some: [finding], count } of this.#others.values()) this.tally.left(finding, undefined, count)
    this.#others.clear()
  }
}

function tileOf (where) {
  try {
    const { layer, z, x, y } = parseTileId(where)
    return tileId(layer, z, x, y)
  } catch {
    return undefined
  }
}

/** What became of what was found. */
export class Outcome {
  /** Code -> how many were mended. @type {Record<string, number>} */
  repaired = {}
  /** Code -> how many were not. @type {Record<string, number>} */
  remaining = {}
  /** Faults among those. */
  faults = 0
  warnings = 0
  /** The first that were not. @type {(Finding & {reason?: string})[]} */
  named = []
  #reasons = new Map()

  /** @param {Finding} finding */
  mended ({ code }, count = 1) {
    this.repaired[code] = (this.repaired[code] ?? 0) + count
  }

  /** @param {Finding} finding @param {string} [reason] */
  left (finding, reason = this.#reasons.get(finding.where), count = 1) {
    this.remaining[finding.code] = (this.remaining[finding.code] ?? 0) + count
    if (finding.level === 'fault') this.faults += count
    else this.warnings += count
    if (this.named.length < menderDefaults.named) this.named.push({ ...finding, ...(reason && { reason }) })
  }

  /** Why a document could not be mended, before it is told that it was not. @param {string} id @param {string} reason */
  say (id, reason) {
    if (this.#reasons.size < 100 * menderDefaults.named) this.#reasons.set(id, reason)
  }
}
