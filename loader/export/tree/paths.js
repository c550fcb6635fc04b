// The paths in a folder of trees. Everything except trees is in a hidden folder:
//
//   osm/…  osm@2024-03-01T00:00:00Z/…  osm@2024 -> osm@2024-03-01T00:00:00Z     trees and links
//   .tilecouch/osm.json       the place in the change feed that the trees have reached
//   .tilecouch/osm.lock       the process that writes them
//   .tilecouch/osm/tmp        files that are being written
//   .tilecouch/osm/new        unfinished trees
//   .tilecouch/osm/trash      trees that are being removed
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { formatReference, isExactTime } from '../../../core/index.js'
import { namesIn } from '../../formats/names.js'

export const HIDDEN = '.tilecouch'

const PERIOD = /^\d{4}(-\d\d(-\d\d)?)?$/

export class Paths {
  constructor (folder, layer) {
    this.folder = folder
    this.layer = layer
    this.hidden = path.join(folder, HIDDEN)
    this.state = path.join(this.hidden, `${layer}.json`)
    this.lock = path.join(this.hidden, `${layer}.lock`)
    this.tmp = path.join(this.hidden, layer, 'tmp')
    this.unfinished = path.join(this.hidden, layer, 'new')
    this.trash = path.join(this.hidden, layer, 'trash')
  }

  /** @param {string} [time] exact or a period; by default the present */
  tree (time) {
    return path.join(this.folder, formatReference(this.layer, time))
  }

  /** @param {string} time exact */
  unfinishedTree (time) {
    return path.join(this.unfinished, formatReference(this.layer, time))
  }

  /** Creates the folders, and removes files that a killed process left in them. */
  async prepare () {
    for (const dir of [this.tmp, this.trash]) await rm(dir, { recursive: true, force: true })
    for (const dir of [this.tmp, this.trash, this.unfinished]) await mkdir(dir, { recursive: true })
  }

  /**
   * Lists the trees and links of the layer in the folder.
   * @returns {Promise<{present: boolean, trees: string[], links: string[]}>} trees: exact times; links: periods, with
   *   any destination
   */
  async look () {
    const contents = { present: false, trees: /** @type {string[]} */ ([]), links: /** @type {string[]} */ ([]) }
    for (const name of await namesIn(this.folder)) {
      if (name === this.layer) contents.present = true
      if (!name.startsWith(`${this.layer}@`)) continue
      const time = name.slice(this.layer.length + 1)
      if (isExactTime(time)) contents.trees.push(time)
      else if (PERIOD.test(time)) contents.links.push(time)
    }
    return contents
  }
}
