// The tables and plots of the results of bench/offline.js, for docs/benchmarks/offline.md.
import { bars, spans } from '../plots/charts.js'
import { machineLine, range, rounds as inRounds, thousands } from '../plots/words.js'

const NAMES = { replicate: 'PouchDB.replicate', 'replicate, tuned': 'PouchDB.replicate, batches of 1,000' }
const mapNamed = (figures, show) => Object.entries(figures).map(([name, figure]) => show(NAMES[name] ?? name, figure))

/** @param {any} result bench/results/offline.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { browser, tiles, bytes, rounds, estimate, figures, refresh } = result
  const rounded = number => thousands(Math.round(number))
  return {
    offlineMachine: `${machineLine(result)}; ${browser} with its profile on the disk; ${thousands(tiles)} tiles of ` +
      `${bytes / 1000} kB, ${rounds === 1 ? 'one round' : `${inRounds(rounds)} in turns`}.`,
    offlineRates: table(['', 'tiles a second (lowest to ' +
      'highest)', 'longest task of the page', 'reading a tile: p50',
      'p99'], mapNamed(figures, (name, { median, min, max, longestTask, read }) =>
      [name, range({ median, min, max }), `${longestTask} ms`, `${read.p50} ms`, `${read.p99} ms`])),
    offlineRefresh: `The estimate of the area took ${rounded(estimate.ms)} ms and ${estimate.requests} ` +
      (`${estimate.requests === 1 ? 'request' : 'requests'}. After an edition that changed ` +
        (`${thousands(refresh.wanted)} of the tiles, a refresh took ${thousands(refresh.changed.tiles)} tiles in ` +
          `${(refresh.ms / 1000).toFixed(1)} s.`))
  }
}

export const plots = ({ figures }) => ({
  'offline-rates': bars({
    title: 'Taking an area into the browser', unit: 'tiles a second, median, lowest and highest round',
    rows: mapNamed(figures,
      (name, { median, min, max }) => ({ name, value: median, low: min, high: max, ours: name === 'tilecouch' }))
  }),
  'offline-reading': spans({
    title: 'Reading a tile from the browser', unit: 'milliseconds',
    rows: mapNamed(figures, (name, { read }) => ({ name, ...read, ours: name === 'tilecouch' }))
  })
})
