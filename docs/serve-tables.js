// Tables of what bench/serve.js and bench/serve-memory.js measured.

/** @typedef {(head: any[], rows: any[][]) => string} Table */

const thousands = number => number.toLocaleString('en-US')
const judged = budgets => budgets.map(({ what, target, figure, met }) => [what, target, figure, met ? 'pass' : '**falls short**'])
const brief = quick => quick ? '**A short run (`--quick`) on a machine that did other things as well: a first look.** ' : ''
const ms = value => value < 1 ? value.toFixed(2) : value < 10 ? value.toFixed(1) : Math.round(value)
const range = ({ median, min, max }) => min === max ? thousands(median) : `${thousands(median)} (${thousands(min)}–${thousands(max)})`

/** @param {any} result bench/results/serve.json @param {Table} table */
export function serveTables ({ quick, machine, tiles, bytes, levels, rounds, seconds, wrk, programs, missing, results, budgets }, table) {
  const connections = levels.map(level => level === 1 ? '1 connection' : `${level} connections`)
  const rows = show => Object.entries(results).map(([name, figures]) => [name, ...levels.map(level => show(figures[level]))])
  return {
    serveMachine: `${brief(quick)}CouchDB ${machine.couchdb}, Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, ${machine.memory}, ${machine.date}; wrk ${wrk}; ${thousands(tiles)} tiles of ${thousands(bytes)} bytes with two versions each; ${rounds} ${rounds === 1 ? 'round' : 'rounds'} of ${seconds} s.`,
    serveBudgets: table(['what', 'target', 'measured', ''], judged(budgets)),
    serveRates: table(['requests a second: median (lowest–highest)', ...connections],
      rows(({ rate }) => range(rate))),
    serveLatencies: table(['milliseconds, p50 / p90 / p99 / max', ...connections], rows(figures => ['p50', 'p90', 'p99', 'max'].map(rank => ms(figures.ms[rank])).join(' / '))),
    servePrograms: table(['server', 'version', 'settings'], [
      ...Object.entries(programs).map(([name, { version, settings }]) => [name, version, settings]),
      ...Object.entries(missing).map(([name, why]) => [name, '', `**not measured**: ${why}`])
    ])
  }
}

/** @param {any} result bench/results/serve-memory.json @param {Table} table */
export function serveMemoryTables ({ quick, machine, tiles, memory, requests, seconds, changes, tenths, peak, budgets }, table) {
  return {
    serveMemoryMachine: `${brief(quick)}${machine.cpu}, ${machine.cores} cores, ${machine.date}; ${thousands(requests)} requests in ${thousands(seconds)} s over ${thousands(tiles)} tiles with two versions each, \`--memory ${memory}\`, ${thousands(changes)} tiles changed meanwhile; at most ${peak} MB.`,
    serveMemoryBudgets: table(['what', 'target', 'measured', ''], judged(budgets)),
    serveMemory: table(['tenth', ...tenths.map((_, at) => at + 1)], [['resident MB, median', ...tenths.map(Math.round)]])
  }
}
