// Tables of what bench/mirror.js measured.

/** @param {any} result bench/results/mirror.json @param {(head: any[], rows: any[][]) => string} table */
export function mirrorTables ({ quick, machine, tiles, rounds, changes, servers, sizes, lag, memory, budgets }, table) {
  const thousands = number => number.toLocaleString('en-US')
  const rates = ({ median, min, max }) => min === max ? `${thousands(median)}/s` : `${thousands(median)}/s (${thousands(min)}–${thousands(max)})`
  const names = Object.keys(sizes[0].results)
  return {
    mirrorMachine: `${quick ? '**A short run (`--quick`): a first look.** ' : ''}CouchDB ${machine.couchdb}, ${servers === 2 ? 'two servers on one machine' : 'one server for both sides'}, Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, ${machine.memory}, ${machine.date}; ${thousands(tiles)} tiles, ${rounds === 1 ? 'one round' : `${rounds} rounds`}; ${thousands(changes)} changes for the lag, ${thousands(memory.tiles)} tiles for the memory.`,
    mirrorBudgets: table(['what', 'target', 'measured', ''], budgets.map(({ what, target, figure, met }) => [what, target, figure, met ? 'pass' : '**falls short**'])),
    mirrorRates: table(['documents a second', ...sizes.map(({ bytes }) => `${bytes / 1000} kB a tile`)], names.map(name => [name, ...sizes.map(({ results }) => rates(results[name]))])),
    mirrorLeft: table(['missing afterwards, as CouchDB’s replicator counts', ...sizes.map(({ bytes }) => `${bytes / 1000} kB a tile`)], names.map(name => [name, ...sizes.map(({ left }) => left[name])])),
    mirrorLag: table(['from confirmed at the source to told by the target', 'p50', 'p90', 'p99', 'max'], Object.entries(lag).map(([name, { p50, p90, p99, max }]) => [name, ...[p50, p90, p99, max].map(ms => `${ms} ms`)]))
  }
}
