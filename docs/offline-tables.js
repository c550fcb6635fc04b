// Tables of what bench/offline.js measured.

const NAMES = { tilecouch: 'tilecouch', replicate: '`PouchDB.replicate`', 'replicate, tuned': '`PouchDB.replicate`, batches of 1,000', 'leaflet.offline': 'leaflet.offline' }

/** @param {any} result bench/results/offline.json @param {(head: any[], rows: any[][]) => string} table */
export function offlineTables ({ quick, machine, browser, tiles, bytes, rounds, estimate, figures, refresh, budgets }, table) {
  const thousands = number => Math.round(number).toLocaleString('en-US')
  return {
    offlineMachine: `${quick ? '**A short run (`--quick`): a first look.** ' : ''}CouchDB ${machine.couchdb}, ${browser} with its profile on the disk, Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores for all of it, ${machine.memory}, ${machine.date}; ${thousands(tiles)} tiles of ${bytes / 1000} kB, ${rounds === 1 ? 'one round' : `${rounds} rounds in turns`}.`,
    offlineBudgets: table(['what', 'target', 'measured', ''], budgets.map(({ what, target, figure, met }) => [what, target, figure, met ? 'pass' : '**falls short**'])),
    offlineRates: table(['', 'tiles a second (lowest to highest)', 'longest task of the page', 'reading a tile: p50', 'p99'], Object.entries(figures).map(([name, { median, min, max, longestTask, read }]) =>
      [NAMES[name] ?? name, `${thousands(median)} (${thousands(min)}–${thousands(max)})`, `${longestTask} ms`, `${read.p50} ms`, `${read.p99} ms`])),
    offlineRefresh: `The estimate of the area took ${Math.round(estimate.ms)} ms and ${estimate.requests} ${estimate.requests === 1 ? 'request' : 'requests'}. After an edition that changed ${thousands(refresh.wanted)} of the tiles, a refresh took ${thousands(refresh.changed.tiles)} tiles in ${(refresh.ms / 1000).toFixed(1)} s.`
  }
}
