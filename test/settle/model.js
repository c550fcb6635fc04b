// A model of a layer without any store: the statements about its tiles, and the tiles that they show.
//
// A statement is a tile, a time, a content (null: no tile) and a run. A later run is greater. A complete edition also
// states that every other tile is gone. A removal withdraws the statements that it names, of all earlier runs.

/**
 * @typedef {{tiles: Record<string, number | null>, complete?: boolean, isSingle?: boolean, time: string, run: number}}
 *   LayerStatements
 *   the statements of one run; isSingle: of a single write, which has no blocks
 */
/** @typedef {{time?: string, tile?: string, run: number}} Removed an edition, or all statements about a tile */
/** @typedef {(tile: string) => boolean} Part which tiles belong to a part of the map */

export class Model {
  /** @type {Map<number, LayerStatements>} by run */
  said = new Map()
  /** @type {Map<number, Removed>} by run */
  removed = new Map()
  /** Runs of which only the tiles of some parts are known here. @type {Map<number, Part[]>} */
  parts = new Map()
  /** Whether only some documents of another store arrived. Then the model cannot say what the tiles show. */
  isOpen = false
  /** Before this time a retention policy dropped versions. */
  since = ''

  /** @param {number} run @param {Omit<LayerStatements, 'run'>} statements */
  say (run, statements) {
    this.said.set(run, { ...statements, run })
    this.#shareBlocks()
  }

  /** @param {number} run @param {Omit<Removed, 'run'>} removal */
  remove (run, removal) { this.removed.set(run, { ...removal, run }) }

  /** The statements that no removal withdrew. @returns {LayerStatements[]} */
  get standing () {
    return [
      ...this.said.values()
    ].filter(({ time, run }) => ![...this.removed.values()].some(removed => removed.time === time && removed.run > run))
  }

  /** Whether all statements of the known runs are known here. */
  get isWhole () { return !this.isOpen && !this.parts.size }

  /** Whether all statements about a tile are known here. @param {string} tile */
  knows (tile) {
    return !this.isOpen && [...this.parts.values()].every(parts => parts.some(has => has(tile)))
  }

  /**
   * Whether a tile is known of one partly known run and not of another one.
   * @param {string[]} tiles
   */
  isBehind (tiles) {
    const parts = [...this.parts.values()].map(runParts => tiles.map(tile => runParts.some(has => has(tile))))
    return tiles.some((_, index) => parts.some(has => has[index]) && parts.some(has => !has[index]))
  }

  /**
   * Takes over the statements and removals of another model, or those about a part.
   * @param {Model} other
   * @param {Part} [part]
   */
  hear (other, part) {
    for (const [run, statements] of other.said) {
      const otherParts = other.parts.get(run)
      const isKnown = this.said.has(run) && !this.parts.has(run)
      if (isKnown) continue
      this.said.set(run, statements)
      if (!part && !otherParts) this.parts.delete(run)
      else {
        const heardParts = (otherParts ?? [() => true]).map(has => tile => has(tile) && (!part || part(tile)))
        this.parts.set(run, [...this.parts.get(run) ?? [], ...heardParts])
      }
    }
    for (const [run, removal] of other.removed) this.removed.set(run, removal)
    if (other.since > this.since) this.since = other.since
    this.#shareBlocks()
  }

  /**
   * Blocks are named by their bytes. If a partly known run lacks a block that another run has here, its statements in
   * this block are known too.
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

  /** The model of a copy of the layer: it lacks the withdrawn statements. */
  get copy () {
    const model = new Model()
    for (const statements of this.standing) model.said.set(statements.run, statements)
    for (const [run, removal] of this.removed) if (removal.tile) model.removed.set(run, removal)
    model.since = this.since
    return model
  }

  /** The image of a tile. @param {string} tile @param {string} [time] default: now @returns {number | null} */
  shown (tile, time = '~') {
    const removals = [...this.removed.values()].filter(removed => removed.tile === tile)
    let newest
    for (const statements of this.standing) {
      if (statements.time > time || !(tile in statements.tiles || statements.complete)) continue
      if (removals.some(({ run }) => run > statements.run)) continue
      if (!newest || statements.time > newest.time ||
        (statements.time === newest.time && statements.run > newest.run)) newest = statements
    }
    return newest?.tiles[tile] ?? null
  }
}

const zoomOf = tile => tile.split('/')[0]

/** The tiles of a zoom that a run has statements about: at most 64 x 64 of them, so they are one block. */
const blockOf =
  ({ tiles }, zoom) => JSON.stringify(Object.entries(tiles).filter(([tile]) => zoomOf(tile) === zoom).sort())
