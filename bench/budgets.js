// The performance budgets of the design, and the rows of results that show whether each budget is met.

/** @type {{what: string, target: string, answers: [result: string, row: RegExp][]}[]} answers: the rows of results */
const goals = [
  {
    what: 'bulk load',
    target: '>= 90 % of raw `_bulk_docs`, >= 8x one PUT a tile, within 5 % of the best fixed setting',
    answers: [
      ['load', /^load \/ raw/],
      ['load', /^load \/ one PUT/],
      ['load', /^load, tuning itself/]
    ]
  },
  {
    what: 'first load, until the map can be asked',
    target: '<= 1.6x the time of raw `_bulk_docs` of the same documents',
    answers: [['load', /^first load, until/]]
  },
  {
    what: 'whole command `tilecouch load`, less its start',
    target: '<= 1.7x raw `_bulk_docs` for 10,000 tiles, <= 1.5x for 100,000',
    answers: [['command', /^whole load/]]
  },
  {
    what: 'start of a command',
    target: '<= 0.15 s',
    answers: [['command', /^start of/]]
  },
  {
    what: 'second edition, nothing changed',
    target: '>= 8x the first load',
    answers: [['load', /^second edition, nothing changed/]]
  },
  {
    what: 'second edition, 30 % changed',
    target: '>= 70 % of the raw ceiling',
    answers: [['load', /^second edition, 30 % changed/]]
  },
  {
    what: 'cold tile through the gateway',
    target: '>= 1.5x plain attachment GETs through one Node client',
    answers: [['serve', /^cold tile/]]
  },
  {
    what: 'cold pan',
    target: '>= 2x the tiles a second of plain attachment GETs, half their time a view',
    answers: [['cold', /^cold, (past|present), /]]
  },
  {
    what: 'hot tile through the gateway',
    target: 'one process >= 15x CouchDB, two >= 75 % of nginx serving files',
    answers: [['serve', /^hot tile/]]
  },
  {
    what: 'export behind nginx, any edition',
    target: '= nginx serving files (taken as >= 95 %)',
    answers: [['export', /^nginx, tree/]]
  },
  {
    what: 'mirror, CouchDB to CouchDB',
    target: '>= 4x CouchDB’s own replicator; tuned, >= 4x at 3 kB a tile, 3.5x at 10 kB, 2.5x at 50 kB',
    answers: [['mirror', /^mirror \//]]
  },
  {
    what: 'offline area into PouchDB',
    target: '>= 4x `PouchDB.replicate`, tuned',
    answers: [['offline', /^offline area/]]
  },
  {
    what: 'viewport history (10 x 8 tiles)',
    target: '<= 30 ms at 1 M versions, <= 50 ms at 10 M; grows as log n',
    answers: [
      ['history', /^history of a view/],
      ['history', /^that \//]
    ]
  },
  {
    what: 'maintenance that finds nothing to do',
    target: '<= 2 s at 10 M versions',
    answers: [
      ['growth', /^prune, nothing/],
      ['growth', /^expired tiles, none/],
      ['growth', /^check of conflicts, nothing/],
      ['growth', /^mirror, nothing/],
      ['growth', /^backup, nothing/]
    ]
  },
  {
    what: 'database size after compaction',
    target: '<= 1.06x the image bytes at 10 kB a tile',
    answers: [['load', /^database after compaction/]]
  },
  {
    what: 'memory of a load, mirror, export',
    target: 'flat: <= 250 MB (a load: 200 MB)',
    answers: [
      ['memory', /^memory of a load/],
      ['command', /^memory of the command/],
      ['mirror', /^memory of a mirror/],
      ['export', /^memory of an export/]
    ]
  }
]

const NOT_MEASURED = 'not measured'
const pageOf = { memory: 'load', command: 'load' } // results that another page shows

/** Every budget with every row that answers it. @param {Record<string, any>} results by name */
export const budgetRows = results => goals.flatMap(({ what, target, answers }) => answers.flatMap(([name, row]) => {
  const budgets = (results[name]?.budgets ?? []).filter(budget => row.test(budget.what))
  const rows =
    budgets.map(one => ({ measured: one.what, figure: `${one.figure}`, judged: one.met ? 'pass' : '**falls short**' }))
  return (rows.length ? rows : [{ measured: name, figure: NOT_MEASURED, judged: NOT_MEASURED }])
    .map(entry => ({ what, target, page: pageOf[name] ?? name, ...entry }))
}))

/** A list of the budgets, each with its rows. @param {Record<string, any>} results */
export function budgetLists (results) {
  const rows = budgetRows(results)
  const budgets = [...new Set(rows.map(({ what }) => what))].map(what => {
    const answers = rows.filter(row => row.what === what)
    const lines = answers.map(({ measured, figure, page, judged }) =>
      `  - [${measured}](benchmarks/${page}.md): ${figure}${judged === 'pass' ? '' : `, ${judged}`}`)
    return [`- **${what}**: ${answers[0].target}`, ...lines].join('\n')
  })
  return { budgets: budgets.join('\n') }
}
