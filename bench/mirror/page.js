// The tables and plots of the results of bench/mirror.js, for docs/benchmarks/mirror.md.
import { groupedBars } from '../plots/charts.js'
import { machineLine, range, rounds as inRounds, thousands } from '../plots/words.js'

/** @param {any} result bench/results/mirror.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, rounds, servers, sizes, memory } = result
  const names = Object.keys(sizes[0].results)
  const kinds = sizes.map(({ bytes }) => `${bytes / 1000} kB a tile`)
  return {
    mirrorMachine: `${machineLine(result)}, ` +
      (`${servers === 2 ? 'two servers on one machine' : 'one server for both sides'}; ${thousands(tiles)} tiles, ` +
        `${inRounds(rounds)}; ${thousands(memory.tiles)} tiles for the memory.`),
    mirrorRates: table(
      ['documents a second', ...kinds],
      names.map(name => [name, ...sizes.map(({ results }) => range(results[name], '/s'))])
    )
  }
}

export const plots = ({ sizes }) => ({
  'mirror-rates': groupedBars({
    title: 'Copying a store from one CouchDB to another', unit: 'documents a second, median, lowest and highest round',
    rows: sizes.flatMap(({ bytes, results }) => Object.entries(results)
      .map(([name, { median, min, max }]) => (
        { group: `${bytes / 1000} kB a tile`, name, value: median, low: min, high: max }
      )))
  })
})
