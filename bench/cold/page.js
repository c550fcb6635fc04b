// The tables of the results of bench/cold.js, for docs/benchmarks/cold.md.
import { machineLine, ms, rounds as inRounds, thousands } from '../plots/words.js'

const percentileText = figures => ['p50', 'p90', 'p99'].map(rank => ms(figures.ms[rank])).join(' / ')

/** @param {any} result bench/results/cold.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, bytes, rounds, views, singles, results } = result
  const contenders = Object.keys(Object.values(results)[0])
  const head = [
    '',
    ...contenders.map(name => `${name}: tiles a second`),
    ...contenders.map(name => `${name}: ms a view`)
  ]
  const rows = Object.entries(results).map(([walk, byContender]) => [
    walk,
    ...contenders.map(name => thousands(byContender[name].rate.median)),
    ...contenders.map(name => percentileText(byContender[name]))
  ])
  const amounts = `${thousands(tiles)} tiles of ${thousands(bytes)} bytes; ${inRounds(rounds)}`
  return {
    coldMachine: `${machineLine(result)}; ${amounts}, ${views} views a person, ${singles} single tiles.`,
    coldFigures: table(head, rows)
  }
}

export const plots = () => ({})
