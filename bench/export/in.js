// Archives of one edition loaded into a new store, beside the raw ceiling for the same documents.
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { exportLayer } from '../../loader/export/index.js'
import { load } from '../../loader/load.js'
import { openSource } from '../../loader/sources/index.js'
import { Store } from '../../loader/store/index.js'
import { tileDocument } from '../../core/store/documents.js'
import { prepareTile } from '../../loader/store/tile.js'
import { budget, interleave, median } from '../measure.js'
import { plain, writeBulk } from '../raw.js'
import { LAYER, OLD } from '../block.js'
import { dropping } from '../stoppable.js'
import { edition, fillStore } from './data.js'

const KINDS = ['folder', 'zip', 'mbtiles', 'pmtiles']
const RAW = 'raw _bulk_docs 400x4'

/** @param {{server: string, dir: string, tiles: number, rounds: number, signal: AbortSignal, closing: (() => any)[], log: (text: string) => void}} options */
export async function loadAll ({ server, dir, tiles, rounds, signal, closing, log }) {
  log(`\nLoading ${tiles} tiles`)
  const origin = await fillStore(`${server}/bench_export_origin`, tiles, { signal, log })
  closing.push(dropping(origin))
  const files = Object.fromEntries(KINDS.map(kind => [kind, path.join(dir, kind === 'folder' ? 'in' : `in.${kind}`)]))
  for (const kind of KINDS) {
    await rm(files[kind], { recursive: true, force: true })
    await exportLayer(origin, LAYER, files[kind], { time: OLD, format: /** @type {any} */ (kind), signal })
  }
  const url = `${server}/bench_export_in`
  const fresh = async () => {
    await (await Store.create(url)).destroy()
    return Store.create(url, { public: false })
  }
  closing.push(async () => dropping(await Store.create(url))())
  const prepared = await Promise.all(Array.from(edition(tiles, OLD), prepareTile))
  const documents = function * () { for (const tile of prepared) yield plain(tileDocument(tile, { current: true, stored: OLD })) }
  const from = (source, options = {}) => async store => {
    const opened = await openSource(source, options)
    try {
      const { created, failed } = await load(store, opened, { layer: LAYER, time: OLD, signal })
      if (created !== tiles || failed) throw new Error(`${source}: ${created} of ${tiles} loaded, ${failed} failed`)
      return created
    } finally {
      await opened.close()
    }
  }
  const results = await interleave([
    { name: RAW, before: fresh, run: store => writeBulk(store.couch, documents(), { batch: 400, concurrency: 4, signal }) },
    ...KINDS.map(kind => ({ name: `load from ${kind}`, before: fresh, run: from(files[kind]) })),
    { name: 'load from another store', before: fresh, run: from(`${server}/bench_export_origin`, { from: { layer: LAYER, time: OLD } }) }
  ], rounds, log)
  const ratio = name => median(results[name].rates.map((rate, at) => rate / results[RAW].rates[at]))
  return { results, budgets: KINDS.map(kind => budget(`load from ${kind} / raw _bulk_docs ceiling`, 0.9, ratio(`load from ${kind}`))) }
}
