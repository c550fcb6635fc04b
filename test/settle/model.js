// What was said of the tiles of a layer, and what they show therefore: the whole truth in a few lines, without any
// store.
//
// A statement is a tile, a time, a content (null: there is none) and a run; a later run is greater. A complete edition
// says of every other tile that there is none. What a removal names is taken out, of all runs before it.

/**
 * @typedef {{tiles: Record<string, number | null>, complete?: boolean, isSingle?: boolean, time: string, run: number}}
 *   LayerStatements
 *   by one run; isSingle: it was a single write, which has no blocks
 */
/** @typedef {{time?: string, tile?: string, run: number}} Removed an edition, or all that was said of a tile */
/** @typedef {(tile: string) => boolean} Part which tiles belong to a part of the map */

export class Model {
  /** @type {Map<number, LayerStatements>} by run */
  said = new Map()
  /** @type {Map<number, Removed>} by run */
  removed = new Map()
  /** Runs of which only tiles of some parts are known. @type {Map<number, Part[]>} */
  parts = new Map()
  /** Whether single documents of another store came, in any order: what is shown is open until all of them are here. */
  isOpen = false
  /** Before this time a retention policy took out what no kept moment shows. */
  since = ''

  /** @param {number} run @param {Omit<LayerStatements, 'run'>} what */
  say (run, what) {
    this.said.set(run, { ...what, run })
    this.#shareBlocks()
  }

  /** @param {number} run @param {Omit<Removed, 'run'>} what */
  remove (run, what) { this.removed.set(run, { ...what, run }) }

  /** What still counts. @returns {LayerStatements[]} */
  get standing () {
    return [
      ...this.said.values()
    ].filter(({ time, run }) => ![...this.removed.values()].some(removed => removed.time === time && removed.run > run))
  }

  /** Whether all that was said of everything here is known here. */
  get isWhole () { return !this.isOpen && !this.parts.size }

  /** Whether all that was said of a tile is known here. @param {string} tile */
  knows (tile) {
    return !this.isOpen && [...this.parts.values()].every(parts => parts.some(has => has(tile)))
  }

  /**
   * Whether a part of a run is here, while another part of which something is here was not mirrored since.
   * @param {string[]} tiles
   */
  isBehind (tiles) {
    const parts = [...this.parts.values()].map(one => tiles.map(tile => one.some(has => has(tile))))
    return tiles.some((_, index) => parts.some(has => has[index]) && parts.some(has => !has[index]))
  }

  /**
   * Hears of all that another one knows, or of a part.
   * @param {Model} other
   * @param {Part} [part]
   */
  hear (other, part) {
    for (const [run, one] of other.said) {
      const otherParts = other.parts.get(run)
      const isKnown = this.said.has(run) && !this.parts.has(run)
      if (isKnown) continue
      this.said.set(run, one)
      if (!part && !otherParts) this.parts.delete(run)
      else {
        const heard = (otherParts ?? [() => true]).map(has => tile => has(tile) && (!part || part(tile)))
        this.parts.set(run, [...this.parts.get(run) ?? [], ...heard])
      }
    }
    for (const [run, one] of other.removed) this.removed.set(run, one)
    if (other.since > this.since) this.since = other.since
    this.#shareBlocks()
  }

  /**
   * Blocks are named by their bytes. Where a part of a run lacks a block, and another run has the same one here, the
   * statements of both are known.
   */
  #shareBlocks () {
    for (const [run, parts] of this.parts) {
      const statements = /** @type {LayerStatements} */ (this.said.get(run))
      for (const zoom of new Set(Object.keys(statements.tiles).map(zoomOf))) {
        const block = blockOf(statements, zoom)
        const isSame = other => other.run !== run && !other.isSingle && blockOf(other, zoom) === block
        const isHere = other => !this.parts.has(other.run)
        if (!statements.isSingle && this.standing.some(other => isSame(other) && isHere(other))) {
          parts.push(tile => zoomOf(tile) === zoom)
        }
      }
    }
  }

  /** What a copy of it says: nothing of what was removed. */
  get copy () {
    const model = new Model()
    for (const one of this.standing) model.said.set(one.run, one)
    for (const [run, one] of this.removed) if (one.tile) model.removed.set(run, one)
    model.since = this.since
    return model
  }

  /** @param {string} tile @param {string} [time] now unless given @returns {number | null} */
  shown (tile, time = '~') {
    const removals = [...this.removed.values()].filter(removed => removed.tile === tile)
    let best
    for (const one of this.standing) {
      if (one.time > time || !(tile in one.tiles || one.complete)) continue
      if (removals.some(({ run }) => run > one.run)) continue
      if (!best || one.time > best.time || (one.time === best.time && one.run > best.run)) best = one
    }
    return best?.tiles[tile] ?? null
  }
}

const zoomOf = tile => tile.split('/')[0]

/** The tiles of a zoom that a run has statements about: at most 64 x 64 of them, so they are one block. */
const blockOf =
  ({ tiles }, zoom) => JSON.stringify(Object.entries(tiles).filter(([tile]) => zoomOf(tile) === zoom).sort())
