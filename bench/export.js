// Measures the export of a layer to every target, each in its own process. Compares nginx on an exported tree with
// nginx on plain files.
import { rm } from 'node:fs/promises'
import { behindNginx } from './export/behind-nginx.js'
import { distinctOf, fillStore } from './export/data.js'
import { exportAll } from './export/out.js'
import { stoppable, temporaryFolder } from './stoppable.js'

export const run = ({ server, quick, log }) => stoppable(log, async ({ signal, closing }) => {
  const scale = quick ? { tiles: 5000, rounds: 1, samples: 1 } : { tiles: 100_000, rounds: 2, samples: 3 }
  const dir = await temporaryFolder('export', closing)
  const url = `${server}/bench_export`
  log(`${scale.tiles} tiles, ${distinctOf(scale.tiles)} of them different; a tenth differs in the second edition`)
  await fillStore(url, scale.tiles, { signal, closing, log })

  const exported = await exportAll({ url, dir, ...scale, signal, log })
  const served = await behindNginx({
    dir, tree: exported.tree, tiles: scale.tiles, seconds: quick ? 1 : 2, rounds: scale.samples, signal, closing, log
  })
  await rm(exported.tree, { recursive: true })

  const budgets = [...exported.budgets, ...served?.budgets ?? []]
  return {
    ...scale,
    distinct: distinctOf(scale.tiles),
    targets: exported.targets,
    tree: exported.treeCost,
    served: served?.results,
    missing: served ? {} : { nginx: 'nginx or wrk is not installed' },
    budgets
  }
})
