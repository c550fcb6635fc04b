// Exports a layer as files that a web server can serve: the present and every edition. A tile that did not change
// between editions is one file with several names. `tilecouch export --tree` uses it.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { checkLayer, gridOf } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { checkTerms } from '../index.js'
import { targetError } from '../../formats/atomic-file.js'
import { lock } from '../../formats/lock.js'
import { isOwnFolder } from '../../formats/files.js'
import { Paths } from './paths.js'
import { readState } from './state.js'
import { TreeWriter } from './writer.js'

export { nginxConfig, writeNginxConfig } from './nginx.js'

/**
 * @typedef {object} TreeOptions
 * @property {import('../../../core/area.js').Area} [area] only tiles that touch it
 * @property {import('../../../core/grid.js').Zooms} [zooms] only tiles of these zooms
 * @property {boolean} [editions] also the editions (true)
 * @property {boolean} [follow] continues until the signal
 * @property {boolean} [force] takes over folders of these names that another program has written
 * @property {boolean} [permission] exports although the terms of the layer's upstream forbid archives
 * @property {AbortSignal} [signal]
 * @property {(tally: import('./tiles.js').Tally) => void} [onProgress]
 * @property {(state: {state: 'comparing' | 'following' | 'away', error?: string, reason?: string}) => void} [onState]
 *   when following
 * @property {(name: string, there: boolean) => void} [onTree] called when the tree of an edition appears or disappears
 * @property {Partial<import('./writer.js').treeDefaults>} [limits]
 *
 * @typedef {import('./tiles.js').Tally & {layer: string, folder: string, trees: string[], links: string[], failures:
 *   any[]}} TreeSummary
 *   trees: names of folders; links: names of links to these folders
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {string} folder
 * @param {TreeOptions} [options]
 * @returns {Promise<TreeSummary>}
 */
export async function exportTree (store, layer, folder, options = {}) {
  const { follow = false, force, permission } = options
  const doc = await store.layer(checkLayer(layer))
  checkTerms(doc, permission)
  const paths = new Paths(folder, layer)
  /** @type {(() => Promise<void>) | undefined} */
  let unlock
  /** @type {TreeWriter | undefined} */
  let writer
  try {
    if (await isOwnFolder(paths.hidden)) await isOwnFolder(path.dirname(paths.tmp))
    await mkdir(paths.hidden, { recursive: true })
    unlock = await lock(paths.lock, paths.tree())
    const adopted = await isUnknown(paths)
    if (adopted && !force) {
      throw new TilecouchError('TARGET_EXISTS', {
        value: paths.tree(), why: 'it is not a tree of tilecouch, or no longer known as one'
      })
    }
    await paths.prepare()
    writer = new TreeWriter(store, paths, { ...options, area: options.area?.in(gridOf(doc)) })
    try {
      await writer.run({ follow, adopted })
    } catch (error) {
      // following always ends with ABORTED
      if (error.code !== 'ABORTED' || !follow || !writer.isComplete) throw error
    }
    return await summaryOf(paths, writer)
  } catch (error) {
    const reported = targetError(error, folder)
    if (writer) reported.summary = await summaryOf(paths, writer).catch(() => undefined)
    throw reported
  } finally {
    await unlock?.()
  }
}

/** @param {Paths} paths @param {TreeWriter} writer */
async function summaryOf (paths, { tileWriter: { tally, failures } }) {
  const { folder, layer } = paths
  const { present, trees, links } = await paths.look()
  const names = times => times.map(time => `${layer}@${time}`)
  return { layer, folder, trees: [...present ? [layer] : [], ...names(trees)], links: names(links), ...tally, failures }
}

/** Whether there are files of these names that no earlier run has written. @param {Paths} paths */
async function isUnknown (paths) {
  if (await readState(paths.state)) return false
  const { present, trees, links } = await paths.look()
  return present || trees.length > 0 || links.length > 0
}
