// A layer as files that a web server serves by itself: the present, and every edition, in which what did not change is the
// same file under another name.
import { mkdir } from 'node:fs/promises'
import { TilecouchError, checkLayer, selectorOf } from '../../core/index.js'
import { checkTerms } from '../export/index.js'
import { lock } from '../export/lock.js'
import { explain } from '../export/target.js'
import { Changes } from './changes.js'
import { Files } from './files.js'
import { Keeper } from './keeper.js'
import { Paths } from './paths.js'
import { readKept, selectionOf } from './place.js'
import { Settler } from './settle.js'
import { Trees } from './trees.js'

export { nginxConfig } from './nginx.js'

/**
 * @typedef {object} TreeOptions
 * @property {import('../../core/area.js').Area} [area] only tiles that touch it
 * @property {import('../../core/grid.js').Zooms} [zooms] only these
 * @property {boolean} [editions] the past as well (true)
 * @property {boolean} [follow] goes on until the signal
 * @property {boolean} [force] takes over folders of these names that something else has written
 * @property {boolean} [permission] although the terms of the layer's upstream forbid archives
 * @property {AbortSignal} [signal]
 * @property {(tally: import('./settle.js').Tally) => void} [onProgress]
 * @property {(state: {state: 'comparing' | 'following' | 'away', error?: string, reason?: string}) => void} [onState] when following
 * @property {(name: string, there: boolean) => void} [onTree] told of trees of editions that come and go
 * @property {number} [mostChanges] tiles kept in mind that have changed; beyond that everything is compared
 * @property {Partial<import('./limits.js').keeperDefaults>} [limits]
 *
 * @typedef {import('./settle.js').Tally & {layer: string, folder: string, trees: string[], links: string[], failures: any[]}} TreeSummary
 *   trees: names of folders; links: names of links to them
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} folder
 * @param {TreeOptions} [options]
 * @returns {Promise<TreeSummary>}
 */
export async function exportTree (store, layer, folder, { area, zooms, editions = true, follow = false, force = false, permission = false, signal, onProgress, onState, onTree, mostChanges, limits } = {}) {
  checkTerms(await store.layer(checkLayer(layer)), permission)
  const paths = new Paths(folder, layer)
  /** @type {(() => Promise<void>) | undefined} */
  let unlock
  /** @type {Settler | undefined} */
  let settler
  const summary = async () => {
    const { present, trees, links } = await paths.look()
    return { layer, folder, trees: [...present ? [layer] : [], ...trees.map(time => `${layer}@${time}`)], links: links.map(time => `${layer}@${time}`), .../** @type {Settler} */ (settler).tally, failures: settler?.failures ?? [] }
  }
  try {
    await mkdir(paths.hidden, { recursive: true })
    unlock = await lock(paths.lock, paths.tree())
    const adopted = await isOthers(paths)
    if (adopted && !force) throw new TilecouchError('TARGET_EXISTS', { value: paths.tree(), why: 'it is not a tree of tilecouch, or no longer known as one' })
    await paths.prepare()
    const files = new Files(paths.tmp)
    settler = new Settler(store, files, { signal })
    const keeper = new Keeper({
      store, paths, settler, signal, onProgress, onState, limits,
      trees: new Trees(store, paths, files, { editions, onTree }),
      changes: new Changes(layer, { selected: selectorOf(area, zooms), most: mostChanges }),
      selection: selectionOf({ area, zooms, editions }),
      listing: { area, zooms }
    })
    try {
      await keeper.run({ follow, adopted })
    } catch (error) {
      // asked to stop following is how following ends
      if (error.code !== 'ABORTED' || !follow || !keeper.isWhole) throw error
    }
    return await summary()
  } catch (error) {
    const known = explain(error, folder)
    throw settler ? Object.assign(known, { summary: await summary().catch(() => undefined) }) : known
  } finally {
    await unlock?.()
  }
}

/** Whether there is anything of these names that no run before has written. */
async function isOthers (paths) {
  if (await readKept(paths.state)) return false
  const { present, trees, links } = await paths.look()
  return present || trees.length > 0 || links.length > 0
}
