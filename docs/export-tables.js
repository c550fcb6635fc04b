// Tables of what bench/export.js measured.

/** @param {any} result bench/results/export.json @param {(head: any[], rows: any[][]) => string} table */
export function exportTables ({ quick, machine, tiles, distinct, rounds, loaded, loadRounds, targets, outside, tree, served, loads, missing, budgets }, table) {
  const thousands = number => number.toLocaleString('en-US')
  const megabytes = bytes => bytes === null ? '' : `${thousands(Math.round(bytes / 1e6))} MB`
  const range = rates => `${thousands(Math.min(...rates))}–${thousands(Math.max(...rates))}`
  return {
    exportMachine: `${quick ? '**A short run (`--quick`) on a machine that did other things as well: a first look.** ' : ''}CouchDB ${machine.couchdb}, Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, ${machine.memory}, ${machine.date}; ${thousands(tiles)} tiles of 10 kB, ${thousands(distinct)} of them different, ${rounds} rounds; loads of ${thousands(loaded)} tiles, ${loadRounds} rounds.`,
    exportBudgets: table(['what', 'target', 'measured', ''], budgets.map(({ what, target, figure, met }) => [what, target, figure, met ? 'pass' : '**falls short**'])),
    exportTargets: table(['target', 'seconds, median', 'tiles a second', 'most memory', 'size'], targets.map(({ name, seconds, rates, peak, size }) =>
      [name, seconds.toFixed(1), range(rates), `${peak} MB`, size === null ? name.startsWith('tree') ? `${megabytes(tree.bytes)}: ${thousands(tree.files)} names of ${thousands(tree.contents)} files` : '' : megabytes(size)])),
    exportOutside: outside.length
      ? table(['what', 'seconds', 'size'], outside.map(({ name, seconds, size }) => [name, seconds.toFixed(1), megabytes(size)]))
      : Object.entries(missing).map(([name, why]) => `Not measured: ${name}: ${why}`).join('\n'),
    exportLoads: table(['what', 'median', 'lowest', 'highest'], Object.entries(loads).map(([name, { median, min, max }]) => [name, `${thousands(median)}/s`, `${thousands(min)}/s`, `${thousands(max)}/s`])),
    exportServed: served
      ? table(['requests a second: median (lowest–highest)', ...Object.keys(Object.values(served)[0]).map(level => level === '1' ? '1 connection' : `${level} connections`)], Object.entries(served).map(([name, levels]) =>
        [name, ...Object.values(/** @type {any} */ (levels)).map(({ rate: { median, min, max } }) => `${thousands(median)} (${thousands(min)}–${thousands(max)})`)]))
      : `Not measured: ${missing.nginx}.`
  }
}
