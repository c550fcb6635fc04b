// One layer as it is, brought under another name: its document, its tiles, its editions.
import { TilecouchError, checkSound, layerId, layerRange } from '../../core/index.js'
import { LayerStatements } from '../../core/store/statements.js'
import { everyTile, settleAll } from '../store/settle.js'
import { copyEditions, copyManifests, layerOf, writeLayer } from './papers.js'
import { Tally } from './tally.js'
import { Copier, copyDefaults } from './tiles.js'

const PASSES = 3 // over what was written by others while it was copied

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} from
 * @param {string} to
 * @param {import('../copy.js').CopyOptions & {source: import('../store/index.js').Store, renaming?: boolean}} options
 */
export async function copyAll (store, from, to, { source, area, zooms, time, history = true, renaming = false, permission, dryRun = false, signal, onProgress, limits }) {
  const here = await source.couch.get(layerId(from))
  if (!here) throw new TilecouchError('LAYER_NOT_FOUND', { layer: from })
  checkSound(here)
  const isNew = await isEmptyLayer(store.couch, to)
  const make = there => layerOf(here, there, { to, time, area, zooms, permission, renaming: renaming ? from : undefined })
  if (dryRun) make(await store.couch.get(layerId(to)))
  else await writeLayer(store.couch, to, make)

  const tally = new Tally()
  // of a part nobody has loaded what an edition counts and says
  const isWhole = history && !area && !zooms && !dryRun
  try {
    const copied = isWhole ? await copyManifests(source, store, { from, to, time }) : new Set()
    for (let pass = 0; pass < PASSES; pass++) {
      tally.tiles = tally.unchanged = tally.moved = 0
      const copier = new Copier(source.couch, store.couch, {
        to, time, history, isNew: isNew && !pass, tally, dryRun, signal, onProgress, limits: { ...copyDefaults, ...limits }
      })
      await copier.copy(source.listTiles(from, { area, zooms, signal }))
      if (!tally.moved || dryRun) break
    }
    if (!dryRun && (isWhole || isNew)) await settleWhole(store.couch, to, { copied, isNew, tally, signal })
    if (isWhole) tally.editions = await copyEditions(source, store, { from, to, time, isOurs: renaming })
  } catch (error) {
    throw Object.assign(error, { summary: { from, to, ...tally } })
  }
  return { from, to, ...tally }
}

/** What was copied may speak of tiles that only the target has, and what was said there of tiles that were copied: of one that was killed, too. */
async function settleWhole (couch, to, { copied, isNew, tally, signal }) {
  const said = new LayerStatements(couch, to, signal)
  await said.open()
  const all = [...said.manifests, ...said.removals]
  if (isNew ? all.every(({ run }) => copied.has(run)) : !all.length) return // what was copied follows from what was copied
  await settleAll(couch, to, everyTile(couch, said, signal), {
    said,
    signal,
    onSettled (tiles) {
      for (const [id, { error }] of tiles) if (error) tally.fail(id, error)
    }
  })
}

/** Whether no tile stands under a name. @param {import('../store/couch.js').Couch} couch @param {string} layer */
export async function isEmptyLayer (couch, layer) {
  const rows = await couch.page({ ...layerRange(layer), limit: 1 })
  return rows.length === 0
}
