// Tables, sentences and plots of what bench/bulk.js measured.
import { lines, groupedBars } from '../plots/charts.js'
import { machineLine, megabytes, programRows, range, rounds as times, thousands } from '../plots/words.js'
import { LOADER, atATime } from './sweep.js'

const nameOf = batch => batch === 1 ? '1 (a PUT each)' : thousands(batch)
const rawOf = ({ rows }) => rows.filter(({ way }) => way !== LOADER)
const flightsOf = sweep => [...new Set(rawOf(sweep).map(({ flights }) => flights))].sort((a, b) => a - b)

/** @param {any} result bench/results/bulk.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { sweeps, ids, rounds, seconds, retries } = result
  return {
    bulkMachine: `${machineLine(result)}. ${times(rounds)}, each beginning with another contender; a sample of a sweep ends after ${seconds} s at the latest. ${retries ? `${retries === 1 ? 'One request' : `${thousands(retries)} requests`} had to be made again.` : 'No request had to be made again, no document was refused.'}`,
    bulkSmall: sweepTable(sweeps.small, table),
    bulkTiny: sweepTable(sweeps.tiny, table),
    bulkTiles: sweepTable(sweeps.tiles, table),
    bulkIds: idsTable(ids.small, table),
    bulkTileIds: idsTable(ids.tiles, table),
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

export function plots ({ sweeps: { small, tiny, tiles }, ids }) {
  const points = sweep => sweep.rows.map(({ way, batch, median, min, max }) => ({ series: way, x: batch, y: median, low: min, high: max }))
  const per = 'documents a second'
  const batches = { title: 'documents a request (1: a PUT each)', log: true }
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
    })
  }
}
