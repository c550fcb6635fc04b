// The tables and plots of the results of bench/memory.js, for docs/benchmarks/load.md.
import { lines } from '../plots/charts.js'
import { machineLine, thousands } from '../plots/words.js'

/** @param {any} result bench/results/memory.json */
export const tables = result => ({
  memoryMachine:
    `${machineLine(result)}; ${thousands(result.tiles)} tiles in ${thousands(Math.round(result.seconds))} s, ` +
    `at most ${result.peak} MB.`
})

export const plots = ({ samples }) => ({
  'memory-load': lines({
    title: 'Memory of a load', x: { title: 'tiles loaded' }, y: { title: 'resident memory, MB' },
    rows: samples.map(({ tiles, rss }) => ({ series: 'tilecouch load', x: tiles, y: rss }))
  })
})
