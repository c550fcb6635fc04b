// What was said of the tiles of a layer, and what they show therefore: the whole truth in a few lines, without any store.
//
// A statement is a tile, a time, a content (null: there is none) and a run; a later run is greater. A complete edition says of every
// other tile that there is none. What a removal names is taken out, of all runs before it.

/** @typedef {{tiles: Record<string, number | null>, complete?: boolean, time: string, run: number}} LayerStatements by one run */
/** @typedef {{time: string, run: number}} Removed */

export class Model {
  /** @type {Map<number, LayerStatements>} by run */
  said = new Map()
  /** @type {Map<number, Removed>} by run */
  removed = new Map()
  /** Before this time a retention policy took out what no kept moment shows. */
  since = ''

  /** @param {number} run @param {Omit<LayerStatements, 'run'>} what */
  say (run, what) { this.said.set(run, { ...what, run }) }

  /** @param {number} run @param {string} time */
  remove (run, time) { this.removed.set(run, { time, run }) }

  /** What still counts. @returns {LayerStatements[]} */
  get standing () {
    return [...this.said.values()].filter(({ time, run }) => ![...this.removed.values()].some(removed => removed.time === time && removed.run > run))
  }

  /** Hears of all that another one knows. @param {Model} other */
  hear (other) {
    for (const [run, one] of other.said) this.said.set(run, one)
    for (const [run, one] of other.removed) this.removed.set(run, one)
    if (other.since > this.since) this.since = other.since
  }

  /** What a copy of it says: nothing of what was removed. */
  get copy () {
    const model = new Model()
    for (const one of this.standing) model.said.set(one.run, one)
    model.since = this.since
    return model
  }

  /** @param {string} tile @param {string} [time] now unless given @returns {number | null} */
  shown (tile, time = '~') {
    let best
    for (const one of this.standing) {
      if (one.time > time || !(tile in one.tiles || one.complete)) continue
      if (!best || one.time > best.time || (one.time === best.time && one.run > best.run)) best = one
    }
    return best?.tiles[tile] ?? null
  }
}
