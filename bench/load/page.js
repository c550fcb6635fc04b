// The tables and plots of the results of bench/load.js, for docs/benchmarks/load.md.
import { CHANGED, SECOND } from '../load.js'
import { bars } from '../plots/charts.js'
import { machineLine, range, rounds, thousands } from '../plots/words.js'

const rates = (results, table) =>
  table(['', 'a second: median (lowest–highest)'], Object.entries(results).map(([name, rate]) => [name, range(rate)]))

/** @param {any} result bench/results/load.json @param {import('../plots/words.js').Table} table */
export const tables = (result, table) => ({
  loadMachine: `${machineLine(result)}; ${thousands(result.tiles)} tiles of ${thousands(result.bytes)} bytes, ` +
    `${rounds(result.rounds)}.`,
  first: rates(result.first, table),
  second: rates(result.second, table),
  secondParts: partsOfSecond(result, table)
})

/** Compares the time of the changed edition with the times of its parts, each measured alone. */
function partsOfSecond ({ tiles, second }, table) {
  const documents = 2 * CHANGED / 10 * tiles
  const [nothing, thirty, must, readToo] =
    [SECOND.nothing, SECOND.thirty, SECOND.must, SECOND.readToo].map(name => second[name].median)
  const writes = documents / must
  const reads = documents / readToo - writes
  const comparing = tiles / nothing
  const together = writes + reads + comparing
  const load = documents / thirty
  const ofRaw = seconds => (writes / seconds).toFixed(2)
  return table(['', 'seconds', 'of the raw rate'], [
    [`raw writes of ${thousands(documents)} documents`, writes.toFixed(1), ofRaw(writes)],
    ['reading the heads of the changed tiles', reads.toFixed(1), ''],
    [`reading and comparing ${thousands(tiles)} tiles`, comparing.toFixed(1), ''],
    ['these together', together.toFixed(1), ofRaw(together)],
    ['the load', load.toFixed(1), ofRaw(load)]
  ])
}

const rows = results => Object.entries(results)
  .map(
    ([name, { median, min, max }]) => ({ name, value: median, low: min, high: max, ours: !/^raw|^one PUT/.test(name) })
  )

export const plots = ({ first, second }) => ({
  'load-first': bars(
    { title: 'First load', unit: 'tiles a second, median, lowest and highest round', rows: rows(first) }
  ),
  'load-second': bars(
    { title: 'Second edition', unit: 'documents a second, median, lowest and highest round', rows: rows(second) }
  )
})
