// Measures the costs that grow with a store. One database is filled in steps, and each size gets the same queries and
// maintenance. Tiles have 300 to 600 bytes; one in ten has a past. A million versions take some 14 minutes; `--most
// 10000000` continues to ten million, in about two hours. Each size is printed as soon as it is measured.
import path from 'node:path'
import { compose } from '../loader/couchapp/compose.js'
import { push } from '../loader/couchapp/push.js'
import { backup } from '../loader/backup/index.js'
import { resolve } from '../loader/check/conflicts.js'
import { compact, sizesOf } from '../loader/maintain/compact.js'
import { expire } from '../loader/maintain/expired/index.js'
import { mirror } from '../loader/maintain/mirror/index.js'
import { prune } from '../loader/maintain/prune/index.js'
import { Couch } from '../loader/store/couch.js'
import { warmAll } from '../loader/store/indexes.js'
import { parseArea } from '../core/area.js'
import { VIEW, viewsOf } from './history/data.js'
import { bboxOf, queries } from './history/viewport.js'
import { percentiles } from './measure.js'
import { thousands } from './plots/words.js'
import { dropping, newStore, stoppable, temporaryFolder } from './stoppable.js'
import { noiseTile } from './tiles.js'

const LAYER = 'grown'
const [OLD, NEW, AS_OF] = ['2023-03-01T00:00:00Z', '2024-03-01T00:00:00Z', '2023']
const CORNER = { z: 18, x: 20000, y: 20000 }
const ROWS = 80 // rows of tiles: a store grows by columns
const PAST = 10 // one tile out of PAST has a past
const IDLE = 2 // seconds for maintenance with nothing to do, DESIGN.md 7
const SLACK = 1.3 // allowed factor between two sizes for reasons other than growth

/**
 * The measures of a size, and how their cost may grow.
 * @type {Record<string, {of: 'request' | 'pass' | 'idle' | 'size', unit: string}>}
 */
export const MEASURES = {
  'load of what is new, until the map is servable': { of: 'pass', unit: 's' },
  'database, compacted': { of: 'size', unit: 'MB' },
  'indexes, compacted': { of: 'size', unit: 'MB' },
  'history of a view': { of: 'request', unit: 'ms' },
  'view as of a time, with its images': { of: 'request', unit: 'ms' },
  'mirror of a part': { of: 'request', unit: 'ms' },
  'prune after the load': { of: 'pass', unit: 's' },
  'check of conflicts': { of: 'pass', unit: 's' },
  'whole backup': { of: 'pass', unit: 's' },
  'prune, nothing to do': { of: 'idle', unit: 's' },
  'expired tiles, none': { of: 'idle', unit: 's' },
  'check of conflicts, nothing new': { of: 'idle', unit: 's' },
  'mirror, nothing new': { of: 'idle', unit: 's' },
  'backup, nothing new': { of: 'idle', unit: 's' }
}

/** @param {{server: string, quick: boolean, most?: number, log: (text: string) => void}} options */
export const run = ({ server, quick, most = quick ? 10_000 : 1_000_000, log }) =>
  stoppable(log, async ({ signal, closing }) => {
  const sizes = [1000, 10_000, 100_000, 1_000_000, 10_000_000].filter(size => size <= most && (quick || size > 1000))
  const rounds = quick ? 20 : 100
  const store = await newStore(`${server}/bench_growth`, closing, {})
  closing.push(dropping(new Couch(`${server}/bench_growth_part`)))
  const folder = await temporaryFolder('growth', closing)
  const stages = []
  for (const [index, versions] of sizes.entries()) {
    log(`\n${thousands(versions)} versions`)
    const costs = await measure(store, { server, versions, before: sizes[index - 1] ?? 0, rounds, folder, signal, log })
    stages.push({ versions, results: costs })
  }
  return { rounds, stages, budgets: budgetsOf(stages) }
})

async function measure (store, { server, versions, before, rounds, folder, signal, log }) {
  const [tiles, storedTiles] = [versions, before].map(count => Math.round(count * PAST / (PAST + 1)))
  const figures = /** @type {Record<string, number>} */ ({})
  const note = (name, value) => {
    figures[name] = value
    log(`  ${name.padEnd(40)} ${value.toPrecision(4).padStart(10)} ${MEASURES[name].unit}`)
  }
  const timed = async (name, task, times = 1) => {
    const durations = []
    for (let turn = 0; turn < times; turn++) {
      signal.throwIfAborted()
      const start = performance.now()
      await task(turn)
      durations.push(performance.now() - start)
    }
    note(name, percentiles(durations, 3).p50 / (MEASURES[name].unit === 's' ? 1000 : 1))
  }

  await timed('load of what is new, until the map is servable', async () => {
    if (!storedTiles) await store.defineLayer(LAYER, { format: 'png', ttl: 365 * 86400 })
    for (const [time, every] of /** @type {[string, number][]} */ ([[OLD, 1], [NEW, PAST]])) {
      const { failed } = await store.write(made({ held: storedTiles, tiles, time, every }),
        { signal, stored: new Date().toISOString().replace(/\.\d+/, '') })
      if (failed) throw new Error(`${failed} tiles were not written`)
    }
    if (!storedTiles) {
      await push(store.couch, (await compose()).map(({ validate_doc_update: _, _attachments, ...doc }) => doc),
        { signal })
    }
    await warmAll(store.couch, signal)
  })
  await compact(store, { when: 'always', signal })
  const { file, views: indexSizes } = await sizesOf(store, { signal })
  note('database, compacted', file / 1e6)
  note('indexes, compacted', indexSizes.file / 1e6)

  const tileBlock = { layer: LAYER, ...CORNER, columns: Math.floor(tiles / ROWS), rows: ROWS }
  const views = viewsOf([tileBlock], rounds, versions)
  const queryHistory = queries(store.url)
  const expected = VIEW.columns * VIEW.rows
  await timed('history of a view', async time => {
    const { rows } = await queryHistory(views[time], signal)
    if (rows < expected) throw new Error(`${rows} versions in a view of ${expected} tiles`)
  }, rounds)
  await timed('view as of a time, with its images', async time => {
    const area = parseArea({ bbox: bboxOf(views[time]) })
    let images = 0
    for await (const { bytes } of store.fetch(
      store.list(LAYER, { time: AS_OF, area, zooms: { min: CORNER.z, max: CORNER.z } }), { signal }
    )) if (bytes) images++
    if (images < expected) throw new Error(`${images} images in a view of ${expected} tiles`)
  }, Math.min(rounds, 20))

  const url = `${server}/bench_growth_part`
  const part =
    { layers: [LAYER], area: parseArea({ bbox: bboxOf(views[0]) }), zooms: { min: CORNER.z, max: CORNER.z }, signal }
  await dropping(new Couch(url))()
  await timed('mirror of a part', () => mirror(`${server}/bench_growth`, url, part))
  await timed('mirror, nothing new', () => mirror(`${server}/bench_growth`, url, part))

  const policy = { last: 2 }
  await timed('prune after the load', () => prune(store, LAYER, { policy, compact: 'never', signal }))
  await timed('prune, nothing to do', () => prune(store, LAYER, { policy, compact: 'never', signal }), 3)
  await timed('expired tiles, none', () => expire(store, { action: 'remove', dryRun: true, signal }), 3)
  await timed('check of conflicts', () => resolve(store, { signal }))
  await timed('check of conflicts, nothing new', () => resolve(store, { signal }), 3)
  const [whole, increment] = ['whole', 'more'].map(name => path.join(folder, name))
  await timed('whole backup', () => backup(store, whole, { force: true, signal }))
  await timed('backup, nothing new', () => backup(store, increment, { base: whole, force: true, signal }))
  return figures
}

export function * made ({ held, tiles, time, every }) {
  for (let index = held; index < tiles; index++) {
    if (index % every) continue
    const seed = index * 2 + (time === NEW ? 1 : 0)
    yield { layer: LAYER, z: CORNER.z, x: CORNER.x + Math.floor(index / ROWS), y: CORNER.y +
      index % ROWS, time, bytes: noiseTile(seed, 200 + (index * 7919) % 300) }
  }
}

/**
 * A request may grow with the logarithm of the store's size, a pass over the whole store with its size.
 * @param {{versions: number, results: Record<string, number>}[]} stages
 */
export function budgetsOf (stages) {
  const [first, last] = [stages[0], stages[stages.length - 1]]
  const times = last.versions / first.versions
  const log = Math.log(last.versions) / Math.log(first.versions)
  const size = thousands(last.versions)
  return Object.entries(MEASURES).map(([name, { of: growthKind }]) => {
    const value = last.results[name]
    if (growthKind === 'idle') {
      return {
        what: `${name}, ${size} versions`, target: `<= ${IDLE} s`, figure: `${value.toFixed(2)} s`, met: value <= IDLE
      }
    }
    const growth = value / first.results[name]
    const limit = SLACK * (growthKind === 'request' ? log : times)
    return {
      what: `${name}, ${size} / ${thousands(first.versions)} versions`,
      target: `<= ${limit.toFixed(1)}x`, figure: `${growth.toFixed(1)}x`, met: growth <= limit
    }
  })
}
