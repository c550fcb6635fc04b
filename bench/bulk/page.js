// Tables, sentences and plots for the results of bench/bulk.js.
import { lines, groupedBars } from '../plots/charts.js'
import { machineLine, programList, rounds as times, thousands } from '../plots/words.js'
import { LOADER, atATime } from './sweep.js'

const nameOf = batch => batch === 1 ? '1 (a PUT each)' : thousands(batch)
const rawOf = ({ rows }) => rows.filter(({ way }) => way !== LOADER)
const flightsOf = sweep => [...new Set(rawOf(sweep).map(({ flights }) => flights))].sort((a, b) => a - b)

// documents per request in the tables; the plots show all
const SHOWN = new Set([1, 10, 100, 200, 1000, 2000, 3000, 5000, 10000])

/** @param {any} result bench/results/bulk.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { sweeps, ids, rounds, seconds } = result
  const programs = { CouchDB: { version: result.machine.couchdb, ...result.programs.CouchDB } }
  return {
    bulkMachine: `${machineLine(result)}; ${times(rounds)}; a sample of a sweep ends after ${seconds} s at the latest.`,
    bulkSmall: sweepTable(sweeps.small, table),
    bulkTiles: sweepTable(sweeps.tiles, table),
    bulkIds: idsTable(ids.small, table),
    bulkPrograms: programList({ ...result, programs })
  }
}

function sweepTable (sweep, table) {
  const flights = flightsOf(sweep)
  const batches = [...new Set(rawOf(sweep).map(({ batch }) => batch))]
    .filter(batch => SHOWN.has(batch))
    .sort((a, b) => a - b)
  const rateOf = (batch, count) => rawOf(sweep).find(row => row.batch === batch && row.flights === count)?.median
  const rows = batches.map(batch => [nameOf(batch), ...flights.map(count => thousands(rateOf(batch, count) ?? ''))])
  const loader = sweep.rows.find(({ way }) => way === LOADER)
  if (loader) {
    rows.push([`${LOADER}: ${thousands(loader.batch)}, ${atATime(loader.flights)}`, '', thousands(loader.median)])
  }
  return table(['documents a request', ...flights.map(count => `documents a second, ${atATime(count)}`)], rows)
}

const idsTable = ({ documents, rows }, table) =>
  table(
    ['ids', 'documents a second', 'bytes a document', 'compacted'],
    rows.map(({ ids, median, written, compacted }) => [
      ids,
      thousands(median),
      thousands(Math.round(written / documents)),
      thousands(Math.round(compacted / documents))
    ])
  )

export function plots ({ sweeps: { small, tiny, tiles }, ids }) {
  const points = sweep =>
    sweep.rows.map(({ way, batch, median, min, max }) => ({ series: way, x: batch, y: median, low: min, high: max }))
  const per = 'documents a second'
  const batches = { title: 'documents a request (1: a PUT each)', log: true }
  return {
    'bulk-small': lines(
      { title: `Documents of ${small.size} bytes, by how many of them are in a request`, x: batches, y: {
        title: per
      }, rows: points(small) }
    ),
    'bulk-peak': lines({
      title: 'Around 3,000 documents a request, where the original saw a peak',
      x: { title: 'documents a request' }, y: { title: 'seconds for 100,000 documents, one request at a time' },
      rows: small.rows.filter(({ flights, batch }) => flights === 1 && batch >= 100)
        .map(({ way, batch, median, min, max }) => (
          { series: way, x: batch, y: 1e5 / median, low: 1e5 / max, high: 1e5 / min }
        ))
    }),
    'bulk-tiny': lines(
      { title: `Tiles of ${tiny.size} bytes: posted by hand, and by the loader that finds its batch`, x: batches, y: {
        title: per
      }, rows: points(tiny) }
    ),
    'bulk-tiles': lines(
      {
        title: `Tiles of ${thousands(tiles.size)} bytes: posted by hand, and by the loader that finds its batch`,
        x: batches, y: { title: per }, rows: points(tiles)
      }
    ),
    'bulk-ids': groupedBars({
      title: `The file of ${thousands(ids.small.documents)} documents of ${small.size} bytes, by their ids`,
      unit: 'bytes a document',
      rows: ids.small.rows.flatMap(row => [
        ['as written', row.written], ['compacted', row.compacted]
      ].map(([name, bytes]) => ({ group: row.ids, name, value: bytes / ids.small.documents })))
    })
  }
}
