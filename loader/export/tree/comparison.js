// Compares all trees with the layer, some tiles at a time, so that changes of the store can be written in between.
// Trees and layer are read column by column in the order of ids. Files without a tile in the store are removed.
import path from 'node:path'
import { selectorOf, tileId } from '../../../core/index.js'
import { sharePromise } from '../../../core/promises.js'
import { NUMBER, namesIn, readColumn } from '../../formats/names.js'

export const CHUNK = 1000 // tiles per step

/** @typedef {import('./trees.js').Tree} Tree */
/**
 * rows: the rows that the store has
 * @typedef {{z: number, x: number, rows: Set<number>, listed: Map<Tree, Promise<Map<number, string[]>>>}} Column
 */

export class Comparison {
  /** Ids of tiles that were written for a change since the start: the list may be older. @type {Set<string>} */
  touched = new Set()
  #tiles
  #last = false
  /** @type {Column | undefined} */
  #column
  /** Columns of the zoom that the store has. */
  #columns = new Set()
  #zooms = new Set()

  /**
   * @param {import('../../store/index.js').Store} store @param {string} layer
   * @param {import('./tiles.js').TileWriter} writer @param {object} options
   * @param {() => Tree[]} options.trees returns all trees
   * @param {(tree: Tree) => boolean} options.check selects the trees to compare
   * @param {import('../../../core/area.js').Area} [options.area]
   * @param {import('../../../core/grid.js').Zooms} [options.zooms]
   * @param {AbortSignal} [options.signal]
   */
  constructor (store, layer, writer, { trees, check, ...listing }) {
    this.layer = layer
    this.writer = writer
    this.trees = trees
    this.check = check
    this.selected = selectorOf(listing.area, listing.zooms)
    this.#tiles = store.listTiles(layer, listing)
  }

  /** @returns {Promise<{done: boolean, again: string[]}>} again: ids of tiles that changed meanwhile */
  async step () {
    const chunk = await this.#takeTiles()
    const trees = this.trees()
    const check = trees.filter(this.check)
    const toUpdate = []
    const ended = []
    for (const tile of chunk) {
      const column = this.#columnOf(tile, ended)
      column.rows.add(tile.y)
      if (!this.touched.has(tile.id)) toUpdate.push({ tile, column })
    }
    const columns = new Map(toUpdate.map(({ tile, column }) => [tile, column]))
    const changedIds = await this.writer.update(toUpdate.map(({ tile }) => tile), trees, {
      check,
      names: (tree, tile) => this.#namesOf(tree, tile, columns.get(/** @type {any} */ (tile)))
    })
    if (this.#last && this.#column) ended.push(this.#column)
    for (const column of ended) await this.#endColumn(column, check)
    if (this.#last) await this.#endZooms(check)
    return { done: this.#last, again: changedIds }
  }

  async close () {
    await this.#tiles.return(undefined)
  }

  async #takeTiles () {
    const chunk = []
    while (chunk.length < CHUNK && !this.#last) {
      const { done, value } = await this.#tiles.next()
      if (done) this.#last = true
      else chunk.push(value)
    }
    return chunk
  }

  /** @returns {Column} */
  #columnOf ({ z, x }, ended) {
    const column = this.#column
    if (column && column.z === z && column.x === x) return column
    if (column) ended.push(column)
    return (this.#column = { z, x, rows: new Set(), listed: new Map() })
  }

  /** @param {Tree} tree @param {{y: number}} tile @param {Column | undefined} column */
  async #namesOf (tree, { y }, column) {
    if (!column) return []
    const { z, x } = column
    const filesByRow = await sharePromise(column.listed, tree, () => this.#listColumn(tree, z, x))
    return filesByRow.get(y) ?? []
  }

  #listColumn ({ root }, z, x) {
    return readColumn(path.join(root, `${z}`, `${x}`))
  }

  async #endColumn ({ z, x, rows, listed }, check) {
    for (const tree of check) {
      await this.#removeOthers(tree, z, x, await (listed.get(tree) ?? this.#listColumn(tree, z, x)), rows)
    }
    if (!this.#zooms.has(z)) {
      await this.#endZoom(check)
      this.#zooms.add(z)
    }
    this.#columns.add(`${z}/${x}`)
  }

  async #removeOthers (tree, z, x, filesByRow, rows) {
    for (const [y, files] of filesByRow) {
      if (rows.has(y) || this.touched.has(tileId(this.layer, z, x, y))) continue
      // a tile outside the selection may still be in the store
      for (const file of files) {
        await (this.selected(z, x, y) ? this.writer.removeUnknown(file, tree) : this.writer.remove(file, tree))
      }
    }
  }

  /** Removes the columns of the last zoom that the store does not have. */
  async #endZoom (check) {
    const [z] = [...this.#zooms].slice(-1)
    if (z !== undefined) for (const tree of check) await this.#removeColumns(tree, z)
    this.#columns.clear()
  }

  async #endZooms (check) {
    await this.#endZoom(check)
    for (const tree of check) {
      for (const z of await namesIn(tree.root)) {
        if (NUMBER.test(z) && !this.#zooms.has(+z)) await this.#removeColumns(tree, +z)
      }
    }
  }

  async #removeColumns (tree, z) {
    for (const x of await namesIn(path.join(tree.root, `${z}`))) {
      if (NUMBER.test(x) && !this.#columns.has(`${z}/${x}`)) {
        await this.#removeOthers(tree, z, +x, await this.#listColumn(tree, z, +x), new Set())
      }
    }
  }
}
