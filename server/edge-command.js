// tilecouch edge
import { Option } from 'commander'
import { bytes, count, duration, plural } from '../loader/cli/output.js'
import { ProgressLine } from '../loader/cli/progress.js'
import { edgeOptions } from './edge/options.js'
import { loadOptions } from './gateway/config.js'
import { addressLines, flagsIn, flagsOf, otherLines, untilStopped } from './serve-command.js'

const FLAGS = edgeOptions.filter(({ name }) => name !== 'from') // it is the argument

/** @param {import('commander').Command} program @param {import('../loader/cli/program.js').Run} run */
export function addEdgeCommand (program, run) {
  const command = program.command('edge')
    .description('a mirror of a store that follows it, and a gateway on top: serves on when the store is away, and catches up when it is back')
    .argument('[from]', edgeOptions[0].text)
  for (const option of flagsOf(FLAGS)) command.addOption(option)
  command
    .addOption(new Option('--db <env|url>', 'as --store').hideHelp())
    .addHelpText('after', '\nEvery option is also a variable (TILECOUCH_MAX_LAG, TILECOUCH_FROM) and a key of the file (maxLag, from): see docs/mirrors.md and docs/gateway.md.' +
      '\nThe name at the origin is in FROM or TILECOUCH_FROM_USER, the password in TILECOUCH_FROM_PASSWORD or TILECOUCH_FROM_PASSWORD_FILE; those of the store in --store, COUCHDB_USER, COUCHDB_PASSWORD or COUCHDB_PASSWORD_FILE.' +
      '\nUpstreams are left to the origin: what an edge fetched and stored itself would conflict with what the origin stores later (tilecouch check --fix).' +
      '\n\nExamples:\n  tilecouch edge http://maps.example.org:5984/tiles --area 13.0,52.3,13.8,52.7 --zoom 0-14' +
      '\n  tilecouch edge https://maps.example.org/db --layer osm --current --port 8080 --memory 1GB --workers 2' +
      '\n  tilecouch edge http://origin:5984/tiles --store http://localhost:5984/tiles --max-lag 1h')
    .action(run(edgeCommand))
}

async function edgeCommand ({ output, signal }, given, from) {
  const flags = flagsIn({ ...given, from, store: given.store ?? given.db }, edgeOptions)
  const { options, warnings } = await loadOptions({ flags, table: edgeOptions })
  // on a terminal the same is said in words
  if (output.isTerminal && !output.json && given.logLevel === undefined) options.logLevel = 'error'
  const { edge } = await import('./edge.js') // only this command needs it
  const said = new LayerStatements(output)
  const running = await edge(options, { signal, warnings, onStateChange: turn => said.turn(turn), onProgress: report => said.progress(report) })
  said.begin(running, options)
  try {
    await untilStopped(running, { output, signal })
  } finally {
    said.end()
  }
}

/** What is mirrored, in words. @param {import('../core/mirror/selection.js').Wanted} wanted */
export function describe ({ layers, area, zooms, current, since }) {
  const parts = [
    layers ? layers.join(', ') : '',
    zooms ? `zoom ${[...new Set([zooms.min, zooms.max])].join('-')}` : '',
    area ? `in ${area.bbox.map(degrees => +degrees.toFixed(4)).join(',')}` : '',
    current ? 'without the past' : since ? `the past from ${since} on` : ''
  ].filter(Boolean)
  return parts.length ? parts.join('; ') : 'everything'
}

/** How the mirror goes: lines for people, an object a line with --json. */
class LayerStatements {
  #waiting = /** @type {import('./edge/mirror-supervisor.js').StateChange[]} */ ([]) // what came before the addresses
  #running = /** @type {import('./edge.js').Edge | undefined} */ (undefined)
  #line

  /** @param {import('../loader/cli/output.js').Output} output */
  constructor (output) {
    this.output = output
    this.#line = new FillingLine(output)
  }

  /** @param {import('./edge.js').Edge} running @param {Record<string, any>} options */
  begin (running, options) {
    this.#running = running
    const { ended, close, mirror, wanted, ...value } = running
    const report = mirror()
    if (this.output.json) this.#event({ event: 'up', ...value, mirror: report })
    else this.output.result(value, lines(running, options, report))
    for (const turn of this.#waiting.splice(0)) this.turn(turn)
  }

  /** @param {import('./edge/mirror-supervisor.js').StateChange} turn */
  turn (turn) {
    if (!this.#running) return void this.#waiting.push(turn)
    const { state, error, reason, report } = turn
    if (this.output.json) return this.#event({ event: state, ...(error && { error, reason }), mirror: report })
    if (!this.output.isTerminal) return // the log says it
    this.#line.end()
    const text = this.#text(turn, this.#running)
    if (text) this.output.note(text)
  }

  #event (object) {
    this.output.stdout.write(JSON.stringify({ time: new Date().toISOString(), ...object }) + '\n')
  }

  /** @param {import('./edge/mirror-supervisor.js').StateChange} turn @param {import('./edge.js').Edge} running */
  #text ({ state, before, error, reason = '', seconds = 0, isFirst, report: { from, counts, upToDate } }, { store }) {
    const name = isAbout(reason, store) ? 'The store' : 'The origin'
    if (state === 'away') {
      return `${error === 'UNREACHABLE' ? `${name} is away` : 'The mirror waits'}: ${reason} [${error}]. ${upToDate || counts.documents ? 'What is here is served on.' : 'Nothing is here yet that could be served.'}`
    }
    const got = counts.documents ? `: ${plural(counts.documents, 'document')} (${bytes(counts.bytes)})` : ''
    if (isFirst) return `Up to date after ${duration(seconds)}${got}. Following the changes of ${from}.`
    const back = before === 'away' ? `Back after ${duration(seconds)}: ` : ''
    if (state === 'following') return `${back}${back ? 'up' : 'Up'} to date again.`
    return back && `${back}reading what has changed …`
  }

  progress (report) {
    if (this.#running && report.state === 'reading' && this.output.isTerminal) this.#line.show(report)
  }

  end () {
    this.#line.end()
  }
}

/** Whether an error is about an address, and not about one that only begins like it. */
const isAbout = (reason, url) => reason.split(/[\s,]+/).some(word => word.replace(/:$/, '') === url)

class FillingLine extends ProgressLine {
  /** @param {import('./edge/mirror-supervisor.js').MirrorReport} report */
  show ({ counts, pending }) {
    this.draw(counts.tiles, undefined, rate => [bytes(counts.bytes), `${count(Math.round(rate))}/s`, ...(pending ? [`${count(pending)} changes to look at`] : [])])
  }
}

/** @param {import('./edge.js').Edge} running @param {Record<string, any>} options @param {import('./edge/mirror-supervisor.js').MirrorReport} report */
function lines (running, options, { upToDate }) {
  const { from, store, embedded, wanted } = running
  return [
    'The edge is up.',
    '',
    ...addressLines(running, options),
    '',
    `  Origin    ${from}`,
    `  Mirrored  ${describe(wanted)}`,
    `  Store     ${store}${embedded ? `, embedded, data in ${options.data}, with the password of its admin` : ''}`,
    ...(upToDate ? [] : ['  It is being filled: what has arrived is served, as-of addresses and the timeline follow when all of it is there.']),
    ...otherLines(running, options)
  ]
}
