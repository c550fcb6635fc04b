// What bench/growth.js measured, for docs/benchmarks/growth.md.
import { lines } from '../plots/charts.js'
import { brief, judged, judgedHead, machineLine, megabytes, thousands } from '../plots/words.js'
import { AT, HEAD, HISTORY, REDIRECT, SMALL } from './asks.js'
import { LEVEL, curvesOf, shapeOf } from './bends.js'

const ASKED = [HEAD, AT, REDIRECT, HISTORY]
const PHASES = { loading: 'while loading', compacting: 'while compacting', indexing: 'while building the index', asking: 'while asked' }
const TILES = { title: 'tiles in the store', log: true }
const times = change => `${change.toFixed(2)}x`

/** What a curve does, in words. @param {ReturnType<typeof shapeOf>} shape */
const WORDS = {
  level: () => 'level',
  falling: ({ from, to }) => `less, most of it between ${thousands(from)} and ${thousands(to)} tiles`,
  logarithm: ({ from, to }) => `no faster than the logarithm; steepest between ${thousands(from)} and ${thousands(to)} tiles`,
  faster: ({ from, to }) => `**faster than the logarithm**; steepest between ${thousands(from)} and ${thousands(to)} tiles`
}

/** Why, as far as the figures say: what is read, and where from. */
function reasonOf ({ stages, missing }) {
  const [first, last] = [stages[0], stages[stages.length - 1]]
  if (!last.reads) return `What CouchDB reads for an answer was not measured (${Object.values(missing)[0]}), so these figures do not say why.`
  const disk = stages.flatMap(stage => ASKED.map(name => stage.reads[name].disk)).reduce((a, b) => Math.max(a, b))
  const cached = disk ? `not all was in the page cache: the disk was read for up to ${thousands(disk)} bytes a request, in whole pages and ahead of what was asked` : 'nothing came from the disk: the page cache held all of it'
  const read = name => `${name}: ${thousands(first.reads[name].bytes)} bytes, then ${thousands(last.reads[name].bytes)} (${times(last.reads[name].bytes / first.reads[name].bytes)})`
  const rewritten = ({ database, versions }) => Math.round(database.loaded - database.file / versions)
  return `What CouchDB reads of its files for one request, at ${thousands(first.tiles)} and at ${thousands(last.tiles)} tiles: ${ASKED.map(read).join('; ')}. At all sizes, ${cached}. ` +
    `Each version of a load left ${thousands(rewritten(first))} bytes in the file at ${thousands(first.tiles)} tiles, and ${thousands(rewritten(last))} at ${thousands(last.tiles)}, that compaction takes away.`
}

/** @param {any} result bench/results/growth.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { bytes, share, rounds, counted, settings, missing, stages, budgets } = result
  const sizes = stages.map(({ tiles }) => `${thousands(tiles)} tiles`)
  const row = (name, show) => [name, ...stages.map(show)]
  const logarithm = Math.log(stages[stages.length - 1].tiles) / Math.log(stages[0].tiles)
  const ranks = ({ ms }) => ['p50', 'p90', 'p99', 'max'].map(rank => brief(ms[rank])).join(' / ')
  const left = Object.entries(missing).map(([name, why]) => `Not measured: ${name}, ${why}.`).join('\n')
  return {
    growthMachine: `${machineLine(result)}; images of ${thousands(bytes)} bytes, ${share * 100} % of the tiles with a second version; ${settings.q} shards; loads of ${settings.batch} documents a batch, ${settings.concurrency} at a time; ${rounds} questions of each kind a size, and ${counted} more whose reads are counted.`,
    growthBudgets: table(judgedHead, judged(budgets)),
    growthLoad: table(['', ...sizes], [
      row('first edition of what is new, tiles a second', ({ first }) => thousands(first.rate)),
      row('lowest and highest part of it', ({ first: { slices } }) => slices.length > 1 ? `${thousands(Math.min(...slices.map(({ rate }) => rate)))}–${thousands(Math.max(...slices.map(({ rate }) => rate)))}` : ''),
      row('second edition of it, tiles a second', ({ second }) => thousands(second.rate)),
      row('compaction of the database', ({ database }) => `${brief(database.compaction)} s`),
      row('building the whole index', ({ index }) => `${brief(index.seconds)} s`),
      row('versions a second', ({ index }) => thousands(index.rate))
    ]),
    growthSizes: table(['', ...sizes], [
      row('versions', ({ versions }) => thousands(versions)),
      row('bytes that a new version adds to the file', ({ database }) => thousands(Math.round(database.loaded))),
      row('bytes a version when compacted', ({ database, versions }) => thousands(Math.round(database.file / versions))),
      row('database, compacted', ({ database }) => megabytes(database.file)),
      row('index, as built', ({ index }) => megabytes(index.built)),
      row('index, compacted', ({ index }) => megabytes(index.compacted)),
      row('bytes of it a version', ({ index, versions }) => thousands(Math.round(index.compacted / versions)))
    ]),
    growthAsks: table(['milliseconds, p50 / p90 / p99 / max', ...sizes], ASKED.flatMap(name => [name, name + SMALL].map(each => row(each, ({ results }) => ranks(results[each]))))),
    growthReads: stages[0].reads
      ? table(['bytes read of the files a request', ...sizes], ASKED.map(name => row(name, ({ reads }) => `${thousands(reads[name].bytes)}${reads[name].disk ? `, ${thousands(reads[name].disk)} from the disk` : ''}`)))
      : left,
    growthMemory: stages[0].memory
      ? table(['most resident memory of CouchDB and its `couchjs`, MB', ...sizes], Object.entries(PHASES).map(([phase, name]) => row(name, ({ memory }) => thousands(memory[phase]))))
      : left,
    growthBends: table(['', `from ${thousands(stages[0].tiles)} to ${thousands(stages[stages.length - 1].tiles)} tiles`, ''], curvesOf(result).map(({ name, points }) => {
      const shape = shapeOf(points)
      return [name, times(shape.change), WORDS[shape.kind](shape)]
    })),
    growthRule: `"Level" is a change of ${LEVEL * 100} % at most; the logarithm of the tiles grows ${times(logarithm)}, their number ${times(stages[stages.length - 1].tiles / stages[0].tiles)}.`,
    growthReason: reasonOf(result)
  }
}

/** @param {any} result bench/results/growth.json */
export function plots ({ bytes, stages }) {
  const curve = (series, valueOf) => stages.map(stage => ({ series, x: stage.tiles, y: valueOf(stage) }))
  const sliced = (series, edition) => stages.flatMap(stage => stage[edition].slices.map(({ tiles, rate }) => ({ series, x: tiles, y: rate })))
  return {
    'growth-load': lines({
      title: 'Loading and indexing a store that grows', x: TILES, y: { title: 'a second' },
      rows: [...sliced('first edition, tiles', 'first'), ...sliced('second edition, tiles', 'second'), ...curve('index as a whole, versions', ({ index }) => index.rate)]
    }),
    'growth-asks': lines({
      title: 'Asking a store that grows', x: TILES, y: { title: 'milliseconds: median, and a band up to the 90th percentile', log: true },
      rows: stages.flatMap(({ tiles, results }) => ASKED.map(name => ({ series: name, x: tiles, y: results[name].ms.p50, low: results[name].ms.p50, high: results[name].ms.p90 })))
    }),
    ...(stages[0].reads && {
      'growth-reads': lines({
        title: 'What CouchDB reads of its files for one request', x: TILES, y: { title: 'bytes', log: true },
        rows: ASKED.flatMap(name => curve(name, ({ reads }) => reads[name].bytes))
      })
    }),
    'growth-size': lines({
      title: 'What a version takes', x: TILES, y: { title: 'bytes a version' },
      rows: [
        ...curve('database, as loaded', ({ database }) => database.loaded), ...curve('database, compacted', ({ database, versions }) => database.file / versions),
        ...curve('the image in it', () => bytes), ...curve('index, compacted', ({ index, versions }) => index.compacted / versions)
      ]
    }),
    ...(stages[0].memory && {
      'growth-memory': lines({
        title: 'Most memory of CouchDB', x: TILES, y: { title: 'MB resident' },
        rows: Object.entries(PHASES).flatMap(([phase, name]) => curve(name, ({ memory }) => memory[phase]))
      })
    })
  }
}
