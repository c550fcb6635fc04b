// What bench/growth.js measured, for docs/benchmarks/growth.md.
import { MEASURES } from '../growth.js'
import { lines } from '../plots/charts.js'
import { machineLine, thousands } from '../plots/words.js'

const figure = value => value >= 100 ? thousands(Math.round(value)) : value.toPrecision(2)

/** @param {any} result bench/results/growth.json @param {import('../plots/words.js').Table} table */
export const tables = (result, table) => ({
  growthMachine: `${machineLine(result)}; requests: medians of ${result.rounds}.`,
  growthSizes: table(['', ...result.stages.map(({ versions }) => `${thousands(versions)} versions`)],
    Object.entries(MEASURES)
      .map(([name, { unit }]) => [`${name}, ${unit}`, ...result.stages.map(({ results }) => figure(results[name]))]))
})

const curves = ({ stages }, title, unit, wanted) => lines({
  title, x: { title: 'versions in the store', log: true }, y: { title: unit, log: true },
  rows: Object.entries(MEASURES).filter(([, { of }]) => wanted.includes(of))
    .flatMap(([series]) => stages.map(({ versions, results }) => ({ series, x: versions, y: results[series] })))
})

export const plots = result => ({
  'growth-requests': curves(result, 'One request to a store that grows', 'milliseconds', ['request']),
  'growth-passes': curves(result, 'Passes over a store that grows', 'seconds', ['pass']),
  'growth-idle': curves(result, 'Maintenance with nothing to do', 'seconds', ['idle'])
})
