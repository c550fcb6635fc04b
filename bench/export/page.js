// The tables and plots of the results of bench/export.js, for docs/benchmarks/export.md.
import { median } from '../measure.js'
import { bars, groupedBars } from '../plots/charts.js'
import { machineLine, megabytes, range, rounds as inRounds, thousands } from '../plots/words.js'

const connections = level => level === '1' ? '1 connection' : `${level} connections`
const spread = rates => ({ median: Math.round(median(rates)), min: Math.min(...rates), max: Math.max(...rates) })

/** @param {any} result bench/results/export.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, distinct, rounds, targets, tree, served, missing } = result
  const size = target => {
    if (target.size !== null) return megabytes(target.size)
    if (!target.name.startsWith('tree')) return ''
    return `${megabytes(tree.bytes)}: ${thousands(tree.files)} names of ${thousands(tree.contents)} files`
  }
  return {
    exportMachine: `${machineLine(result)}; ${thousands(tiles)} tiles of 10 kB, ${thousands(distinct)} of them ` +
      `different, ${inRounds(rounds)}.`,
    exportTargets: table(['target', 'seconds, median', 'tiles a second', 'most memory', 'size'], targets.map(target =>
      [target.name, target.seconds.toFixed(1), range(spread(target.rates)), `${target.peak} MB`, size(target)])),
    exportServed: served
      ? table(['requests a second: median ' +
        '(lowest–highest)', ...Object.keys(Object.values(served)[0]).map(connections)],
        Object.entries(served).map(([name, levels]) =>
        [name, ...Object.values(/** @type {any} */ (levels)).map(({ rate }) => range(rate))]))
      : `Not measured: ${missing.nginx}.`
  }
}

const bar = ({ median: value, min: low, max: high }) => ({ value, low, high })

export const plots = ({ targets, served }) => ({
  'export-targets': bars({
    title: 'Taking a layer out', unit: 'tiles a second, median, lowest and highest round',
    rows: targets.map(({ name, rates }) => ({ name, ...bar(spread(rates)), ours: name !== 'reading alone' }))
  }),
  ...served && {
    'export-served': groupedBars({
      title: 'nginx on an export', unit: 'requests a second, median, lowest and highest round',
      rows: Object.entries(served)
        .flatMap(([name, levels]) => Object.entries(/** @type {any} */ (levels))
          .map(([level, { rate }]) => ({ group: connections(level), name, ...bar(rate) })))
        .sort((a, b) => parseInt(a.group) - parseInt(b.group))
    })
  }
})
