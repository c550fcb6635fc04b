// The tables and plots of the results of bench/growth.js, for docs/benchmarks/growth.md.
import { MEASURES } from '../growth.js'
import { mean } from '../measure.js'
import { lines } from '../plots/charts.js'
import { machineLine, thousands } from '../plots/words.js'

const FORECAST = [1e8, 1e9] // versions of larger stores, computed instead of measured
/** @type {Record<string, [number, string][]>} */
const LARGER = {
  s: [[1, 's'], [60, 'min'], [3600, 'h'], [86400, 'd']],
  MB: [[1, 'MB'], [1e3, 'GB'], [1e6, 'TB']]
}

const figure = value => value >= 100 ? thousands(Math.round(value)) : value.toPrecision(2)

/** @param {any} result bench/results/growth.json @param {import('../plots/words.js').Table} table */
export const tables = (result, table) => ({
  growthMachine: `${machineLine(result)}; requests: medians of ${result.rounds}.`,
  growthSizes: table(
    ['', ...result.stages.map(({ versions }) => `${thousands(versions)} versions`), 'for ten times the versions'],
    Object.entries(MEASURES).map(([name, { unit }]) => [
      `${name}, ${unit}`,
      ...result.stages.map(({ results }) => figure(results[name])),
      `${(10 ** fitOf(result.stages, name).exponent).toPrecision(2)} times`
    ])
  ),
  growthForecast: table(
    ['', ...FORECAST.map(versions => `${thousands(versions)} versions`)],
    Object.entries(MEASURES).filter(([, { of }]) => ['pass', 'size'].includes(of))
      .map(([name, { unit }]) =>
        [name, ...FORECAST.map(versions => formatted(forecastOf(result.stages, name, versions), unit))])
  )
})

/** Extrapolates a measure: it keeps growing as between the two largest sizes. */
function forecastOf (stages, name, versions) {
  const [before, last] = stages.slice(-2)
  const [valueBefore, value] = [before, last].map(({ results }) => results[name])
  const slope = Math.log(value / valueBefore) / Math.log(last.versions / before.versions)
  return value * (versions / last.versions) ** slope
}

/** A computed value with two digits, in a suitable unit. @param {string} unit s or MB */
function formatted (value, unit) {
  const [size, name] = LARGER[unit].findLast(([least]) => value >= least) ?? LARGER[unit][0]
  return `${thousands(Number((value / size).toPrecision(2)))} ${name}`
}

/**
 * The curve scale · versions ^ exponent nearest to the measured values, by least squares of their logarithms.
 * @param {{versions: number, results: Record<string, number>}[]} stages
 * @param {string} name of a measure
 */
function fitOf (stages, name) {
  const points = stages.map(({ versions, results }) => [Math.log(versions), Math.log(results[name])])
  const [middleX, middleY] = [0, 1].map(axis => mean(points.map(point => point[axis])))
  const spread = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0)
  const slope = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0)
  const exponent = spread ? slope / spread : 0
  return { exponent, scale: Math.exp(middleY - exponent * middleX) }
}

function curves ({ stages }, title, unit, kind) {
  const names = Object.keys(MEASURES).filter(name => MEASURES[name].of === kind)
  const rowsOf = valueOf => names.flatMap(series =>
    stages.map(({ versions, results }) => ({ series, x: versions, y: valueOf(series, versions, results) })))
  return lines({
    title,
    x: { title: 'versions in the store; points are measured, lines are fitted', log: true },
    y: { title: unit, log: true },
    rows: rowsOf((series, _, results) => results[series]),
    fits: rowsOf((series, versions) => {
      const { scale, exponent } = fitOf(stages, series)
      return scale * versions ** exponent
    })
  })
}

export const plots = result => ({
  'growth-requests': curves(result, 'One request to a store that grows', 'milliseconds', 'request'),
  'growth-passes': curves(result, 'Passes over a store that grows', 'seconds', 'pass'),
  'growth-idle': curves(result, 'Maintenance with nothing to do', 'seconds', 'idle')
})
