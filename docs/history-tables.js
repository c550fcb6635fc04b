// Tables of what bench/history.js measured.

/** @param {any} result bench/results/history.json @param {(head: any[], rows: any[][]) => string} table */
export function historyTables ({ quick, machine, rounds, stages, variants, steps, budgets }, table) {
  const thousands = number => number.toLocaleString('en-US')
  const megabytes = bytes => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`
  const ms = figures => figures ? ['p50', 'p90', 'p99'].map(rank => figures.ms[rank].toFixed(figures.ms.p50 < 10 ? 1 : 0)).join(' / ') : ''
  const largest = stages[stages.length - 1]
  const sizes = stages.map(({ versions }) => `${thousands(versions)} versions`)
  return {
    historyMachine: `${quick ? '**A short run (`--quick`) on a machine that did other things as well: a first look.** ' : ''}CouchDB ${machine.couchdb}, Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, ${machine.memory}, ${machine.date}; ${rounds} random views a size, ${stages[0].q} shards.`,
    historyBudgets: table(['what', 'target', 'measured', ''], budgets.map(({ what, target, figure, met }) => [what, target, figure, met ? 'pass' : '**falls short**'])),
    historyViewport: table(['milliseconds, p50 / p90 / p99', ...sizes, 'answer'],
      Object.keys(largest.results).map(name => [name, ...stages.map(({ results }) => ms(results[name])), kilobytes(largest.results[name].bytes)])),
    historyStages: table(['', ...sizes], [
      ['loading what is new', ...stages.map(({ load }) => `${load.toFixed(0)} s`)],
      ['building its index', ...stages.map(({ index }) => `${index.toFixed(0)} s`)],
      ['database, as loaded', ...stages.map(({ database }) => megabytes(database))],
      ['index, as built', ...stages.map(({ indexFile }) => megabytes(indexFile))],
      ['first three queries after a restart, ms', ...stages.map(({ first }) => first ? first.map(Math.round).join(', ') : 'not restarted')]
    ]),
    historyVariants: table(['milliseconds', 'p50', 'p90', 'p99', 'max', 'answer'],
      Object.entries(variants).map(([name, { ms: { p50, p90, p99, max }, bytes }]) => [name, p50, p90, p99, max, kilobytes(bytes)])),
    historySteps: table(['tiles that differ', 'way', 'requests', 'received', 'ms p50 / p90 / p99'], steps.flatMap(({ share, results }) =>
      Object.entries(results).map(([name, figures], index) => [index ? '' : `${share * 100} %`, name, figures.requests.p50, kilobytes(figures.bytes), ms(figures)])))
  }
}

const kilobytes = figure => figure ? `${Math.round(figure.p50 / 1000)} kB` : ''
