// Tables, sentences and plots of what bench/bulk.js measured.
import { lines, groupedBars } from '../plots/charts.js'
import { machineLine, megabytes, programRows, range, rounds as times, thousands } from '../plots/words.js'
import { DIGITS, RANDOM, SERVER, SHUFFLED, TILES } from './documents.js'
import { PUTS } from './growth.js'
import { LOADER, atATime, settingsOf } from './sweep.js'

const PEAK = [1000, 5000] // documents a request, between which the original saw its peak
const fold = value => `${value < 10 ? value.toFixed(1) : thousands(Math.round(value))} times`
const clock = seconds => seconds < 120 ? `${seconds.toFixed(seconds < 10 ? 1 : 0)} s` : `${(seconds / 60).toFixed(1)} min`
const nameOf = batch => batch === 1 ? '1 (a PUT each)' : thousands(batch)
const best = rows => rows.reduce((a, b) => b.median > a.median ? b : a)
const rawOf = ({ rows }) => rows.filter(({ way }) => way !== LOADER)
const flightsOf = sweep => [...new Set(rawOf(sweep).map(({ flights }) => flights))].sort((a, b) => a - b)

/** @param {any} result bench/results/bulk.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { sweeps, ids, growth, rounds, seconds, retries } = result
  return {
    bulkMachine: `${machineLine(result)}. ${times(rounds)}, each beginning with another contender; a sample of a sweep ends after ${seconds} s at the latest. ${retries ? `${retries === 1 ? 'One request' : `${thousands(retries)} requests`} had to be made again.` : 'No request had to be made again, no document was refused.'}`,
    bulkFindings: findings(result).map(finding => `- ${finding}`).join('\n'),
    bulkSmall: sweepTable(sweeps.small, table),
    bulkTiny: sweepTable(sweeps.tiny, table),
    bulkTiles: sweepTable(sweeps.tiles, table),
    bulkStops: stops(result),
    bulkLoader: loader(result),
    bulkIds: idsTable(ids.small, table),
    bulkTileIds: idsTable(ids.tiles, table),
    bulkGrowth: table(['how', 'documents', 'time', 'documents a second: first / last stretch', 'file', 'compacted', ''], growth.curves.map(({ name, points, stopped, written, compacted }) => {
      const last = points[points.length - 1]
      return [name, thousands(last.documents), clock(last.seconds), `${thousands(points[0].rate)} / ${thousands(last.rate)}`, megabytes(written), compacted === null ? 'not within its time' : megabytes(compacted), stopped ? 'stopped' : 'all in']
    })),
    bulkGrowthSays: growthSays(result),
    bulkPrograms: table(['server', 'version', 'settings'], programRows({ ...result, programs: { CouchDB: { version: result.machine.couchdb, ...result.programs.CouchDB } } }))
  }
}

function sweepTable (sweep, table) {
  const flights = flightsOf(sweep)
  const batches = [...new Set(rawOf(sweep).map(({ batch }) => batch))].sort((a, b) => a - b)
  const at = (batch, count) => rawOf(sweep).find(row => row.batch === batch && row.flights === count)
  const loaded = sweep.rows.find(({ way }) => way === LOADER)
  return table(['documents a request', ...flights.map(count => `${atATime(count)}: documents a second`)], [
    ...batches.map(batch => [nameOf(batch), ...flights.map(count => at(batch, count) ? range(at(batch, count)) : '')]),
    ...(loaded ? [[`${LOADER}, settled at ${thousands(loaded.batch)} with ${loaded.flights} at a time`, ...flights.map((_, index) => index === flights.length - 1 ? range(loaded) : '')]] : [])
  ])
}

const idsTable = ({ documents, rows }, table) => table(['ids', 'documents a second', 'file', 'bytes a document', 'compacted', 'bytes a document'], rows.map(row =>
  [row.ids, range(row), megabytes(row.written), thousands(Math.round(row.written / documents)), megabytes(row.compacted), thousands(Math.round(row.compacted / documents))]))

/** Where a sweep ends before its largest batch, and why. */
function stops ({ sweeps, most }) {
  const told = Object.values(sweeps).flatMap(({ size, bytes, batches, ...sweep }) => flightsOf(sweep).flatMap(count => {
    const [wanted, largest] = [Math.max(...batches), Math.max(...settingsOf({ batches, flights: [count], bytes, most }).map(({ batch }) => batch))]
    return largest < wanted ? [`tiles of ${thousands(size)} bytes with ${atATime(count)} at ${thousands(largest)}`] : []
  }))
  return `No more than ${megabytes(most)} of JSON are under way at once. ${told.length ? `So these sweeps end early: ${told.join(', ')}.` : 'No sweep had to end for that.'}`
}

/** The loader beside the best that a fixed setting reached with the same documents. */
function loader ({ sweeps }) {
  return Object.values(sweeps).flatMap(sweep => {
    const found = sweep.rows.find(({ way }) => way === LOADER)
    if (!found) return []
    const top = best(rawOf(sweep))
    return [`Tiles of ${thousands(sweep.size)} bytes: the loader wrote ${range(found)} a second, with ${thousands(found.batch)} a request and ${found.flights} requests at a time; the best that was posted by hand was ${range(top)}, with ${thousands(top.batch)} a request and ${atATime(top.flights)}: the loader reached ${Math.round(found.median / top.median * 100)} % of it.`]
  }).join('\n')
}

function growthSays ({ growth: { curves, documents, seconds, putSeconds } }) {
  const by = Object.fromEntries(curves.map(curve => [curve.name, curve]))
  const slower = curves.filter(({ points }) => points.length > 1).map(({ name, points }) => `${name}: ${Math.round(points[points.length - 1].rate / points[0].rate * 100)} %`)
  const stopped = curves.filter(one => one.stopped).map(({ name, points }) => `“${name}” was stopped at ${thousands(points[points.length - 1].documents)} of ${thousands(documents)} documents, since its ${clock(name === PUTS ? putSeconds : seconds)} were up; what the rest would have taken is not guessed`)
  const met = by[DIGITS].points.flatMap(b => by[RANDOM].points.filter(a => a.documents === b.documents).map(a => [a, b])).pop()
  const same = met ? ` At ${thousands(met[0].documents)} documents, random ids had taken ${clock(met[0].seconds)} and ordered ones ${clock(met[1].seconds)}: ${fold(met[0].seconds / met[1].seconds)} as long.` : ''
  return `The rate in the last stretch, as a share of the first: ${slower.join('; ')}.${same}${stopped.length ? ` ${stopped.join('; ')}.` : ''}`
}

/** What is to be learnt, from the figures themselves. */
function findings (result) {
  const { sweeps: { small, tiles }, ids } = result
  const raw = rawOf(small)
  const one = raw.filter(({ flights }) => flights === 1)
  const [put, top] = [one.find(({ batch }) => batch === 1), best(one)]
  const dense = one.filter(({ batch }) => batch >= PEAK[0] && batch <= PEAK[1])
  const low = dense.reduce((a, b) => b.median < a.median ? b : a)
  const of = (rows, name) => rows.find(row => row.ids === name)
  const file = (a, b) => (of(ids.small.rows, a).written / of(ids.small.rows, b).written)
  const four = best(rawOf(tiles))
  return [
    `Small documents, one request at a time: a PUT each ${range(put)} a second, ${thousands(top.batch)} a request ${range(top)}: ${fold(top.median / put.median)} as many.`,
    `Between ${thousands(PEAK[0])} and ${thousands(PEAK[1])} documents a request the slowest is ${thousands(low.batch)} with ${range(low)} a second, the fastest ${thousands(best(dense).batch)} with ${range(best(dense))}: ${overlap(low, best(dense)) ? 'their rounds overlap, so that there is no peak to be seen' : 'their rounds do not overlap'}.`,
    `Random ids instead of ordered ones of 10 digits: ${Math.round(of(ids.small.rows, RANDOM).median / of(ids.small.rows, DIGITS).median * 100)} % of the rate, a file ${fold(file(RANDOM, DIGITS))} as large before compaction; the ids that CouchDB gives today: ${Math.round(of(ids.small.rows, SERVER).median / of(ids.small.rows, DIGITS).median * 100)} % and ${fold(file(SERVER, DIGITS))}.`,
    `Tile ids in order: ${Math.round(of(ids.small.rows, TILES).median / of(ids.small.rows, DIGITS).median * 100)} % of the rate of 10 digits; shuffled: ${Math.round(of(ids.small.rows, SHUFFLED).median / of(ids.small.rows, DIGITS).median * 100)} %. For tiles of ${thousands(tiles.size)} bytes, shuffled ids reach ${Math.round(of(ids.tiles.rows, SHUFFLED).median / of(ids.tiles.rows, TILES).median * 100)} % of the rate of ordered ones.`,
    `Tiles of ${thousands(tiles.size)} bytes: best at ${thousands(four.batch)} a request with ${atATime(four.flights)}, ${range(four)} a second.`
  ]
}

const overlap = (a, b) => a.min <= b.max && b.min <= a.max

/** @param {any} result */
export function plots ({ sweeps: { small, tiny, tiles }, ids, growth: { curves, documents } }) {
  const points = sweep => sweep.rows.map(({ way, batch, median, min, max }) => ({ series: way, x: batch, y: median, low: min, high: max }))
  const per = 'documents a second'
  const batches = { title: 'documents a request (1: a PUT each)', log: true }
  const along = (title, y, valueOf, pointsOf = ({ points: stretches }) => stretches) => lines({
    title, x: { title: 'documents in the database' }, y, rows: curves.flatMap(curve => pointsOf(curve).map(point => ({ series: curve.name, x: point.documents, y: valueOf(point) })))
  })
  return {
    'bulk-small': lines({ title: `Documents of ${small.size} bytes, by how many of them are in a request`, x: batches, y: { title: per }, rows: points(small) }),
    'bulk-peak': lines({
      title: 'Around 3,000 documents a request, where the original saw a peak', x: { title: 'documents a request' }, y: { title: 'seconds for 100,000 documents, one request at a time' },
      rows: small.rows.filter(({ flights, batch }) => flights === 1 && batch >= 100).map(({ way, batch, median, min, max }) => ({ series: way, x: batch, y: 1e5 / median, low: 1e5 / max, high: 1e5 / min }))
    }),
    'bulk-tiny': lines({ title: `Tiles of ${tiny.size} bytes: posted by hand, and by the loader that finds its batch`, x: batches, y: { title: per }, rows: points(tiny) }),
    'bulk-tiles': lines({ title: `Tiles of ${thousands(tiles.size)} bytes: posted by hand, and by the loader that finds its batch`, x: batches, y: { title: per }, rows: points(tiles) }),
    'bulk-ids': groupedBars({
      title: `The file of ${thousands(ids.small.documents)} documents of ${small.size} bytes, by their ids`, unit: 'bytes a document',
      rows: ids.small.rows.flatMap(row => [['as written', row.written], ['compacted', row.compacted]].map(([name, bytes]) => ({ group: row.ids, name, value: bytes / ids.small.documents })))
    }),
    'bulk-growth': along(`Growing to ${thousands(documents)} documents: does it get slower?`, { title: `${per}, in each stretch`, log: true }, point => point.rate),
    'bulk-time': along('Growing: the time it has taken', { title: 'seconds of writing until there' }, point => point.seconds, ({ points: stretches }) => [{ documents: 0, seconds: 0 }, ...stretches])
  }
}
