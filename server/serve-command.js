// tilecouch serve
import { once } from 'node:events'
import { Option } from 'commander'
import { collect, refuse } from '../loader/cli/options.js'
import { bytes, countWords, duration, plural } from '../loader/cli/output.js'
import { ProgressLine } from '../loader/cli/progress.js'
import { mirrorOptions, serveOptions } from './edge/options.js'
import { loadOptions } from './gateway/config.js'
import { describeOption } from './gateway/options.js'

export function addServeCommand (program, run) {
  const command = program.command('serve')
    .description('start the gateway, an HTTP server for maps')
  for (const option of flagsOf(serveOptions)) command.addOption(option)
  command
    .option('--set <name=value>', 'any other option, such as maxAge=1h; repeatable', collect)
    .addHelpText('after', `
Examples:
  tilecouch serve
  tilecouch serve --db http://localhost:5984/tiles --port 8080 --memory 1GB --workers 2
  tilecouch serve --config /etc/tilecouch/gateway.json --set accessLog=true
  tilecouch serve --from http://maps.example.org:5984/tiles --bbox 13.0,52.3,13.8,52.7 --zoom 0-14
  tilecouch serve --from https://maps.example.org/db --layer osm --current --memory 1GB --workers 2
  tilecouch serve --from http://origin:5984/tiles --db http://localhost:5984/tiles --max-lag 1h

Every option is also an environment variable (TILECOUCH_PORT) and a key of the
file of --config (port): see docs/gateway.md.

With --from, the store of --db becomes a mirror of that store, the origin
(default: an embedded store in ./edge). It serves while the origin is away, and
catches up afterwards. The name for the origin is in --from or
TILECOUCH_FROM_USER, its password in TILECOUCH_FROM_PASSWORD or the file of
TILECOUCH_FROM_PASSWORD_FILE. A mirror does not fetch tiles from tile servers:
they would conflict with later ones of the origin.`)
    .action(run(serveCommand))
}

/** Flags without defaults: what is not given may come from the environment or the file. */
function flagsOf (table) {
  return table.filter(({ flags }) => flags).flatMap(option => {
    const { flags, type, text, default: initial } = option
    const flag = new Option(flags, describeOption(option))
    if (['names', 'layers', 'networks'].includes(type)) flag.argParser(collect)
    if (type !== 'boolean') return [flag]
    if (initial === true) flag.description = `do not ${text}`
    const other = new Option(initial ? flags.replace('--no-', '--') : flags.replace('--', '--no-')).hideHelp()
    // the positive one first: on its own, commander takes a --no- for a switch that is on
    return initial ? [other, flag] : [flag, other]
  })
}

/** The options that were given on the command line. */
function givenOptions ({ set = [], ...given }) {
  const named = set.map(text => {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? []
    const option = serveOptions.find(one => one.name === name)
    if (!name) refuse('--set', text.split('=')[0], 'it takes name=value')
    if (option?.secret) {
      const why = `everybody on this machine can see the command line: use ${option.env} or the file of --config`
      refuse('--set', name, why)
    }
    return [name, value]
  })
  const flags = serveOptions.filter(({ name }) => given[name] !== undefined).map(({ name }) => [name, given[name]])
  return Object.fromEntries([...named, ...flags])
}

async function serveCommand ({ output, signal, args }, given) {
  const flags = givenOptions(given)
  let { options, warnings } = await loadOptions({ flags, table: serveOptions })
  const { serve } = await import('./serve.js') // only this command needs the gateway
  if (!options.from) {
    const running = await serve(options, { signal, warnings })
    const { ended, close, ...value } = running
    output.result(value, lines(running, options))
    return untilStopped(running, { output, signal })
  }
  ({ options, warnings } = await loadOptions({ flags, table: mirrorOptions }))
  // messages say the same
  if (output.isTerminal && !output.json && flags.logLevel === undefined) options.logLevel = 'error'
  const messages = new MirrorMessages(output)
  const running = await serve(options, {
    signal,
    warnings,
    args,
    onStateChange: change => messages.change(change),
    onProgress: report => messages.progress(report)
  })
  messages.begin(running, options)
  try {
    await untilStopped(running, { output, signal })
  } finally {
    messages.end()
  }
}

/** Waits for Ctrl-C, or for the gateway to fail. */
async function untilStopped ({ ended, close }, { output, signal }) {
  const stopped = signal.aborted ? undefined : once(signal, 'abort')
  try {
    await Promise.race([stopped, ended])
    output.note('\nStopping …')
  } finally {
    await close()
  }
}

const storeWords = (url, embedded, { data }) => `${url}${embedded ? `, embedded, data in ${data}` : ''}`

const lines = (serving, options) => [
  'The gateway is up.',
  '',
  ...addressLines(serving, options),
  '',
  `  CouchDB   ${storeWords(serving.db, serving.embedded, options)}`,
  ...otherLines(serving, options)
]

const addressLines = ({ viewer, tiles, asOf, wmts, health, metrics }, { viewer: hasViewer }) => [
  ...(hasViewer ? [`  Viewer    ${viewer}`] : []),
  `  Tiles     ${tiles}`,
  `  As of     ${asOf}`,
  `  WMTS      ${wmts}`,
  `  Health    ${health}`,
  ...(metrics ? [`  Metrics   ${metrics}`] : [])
]

const otherLines = ({ workers }, { upstream }) => [
  ...(workers > 1 ? [`  Workers   ${workers}`] : []),
  ...(upstream ? [] : ['  No tiles are fetched from tile servers.']),
  '  Ctrl-C stops.'
]

/** What is mirrored, in words. @param {import('../core/mirror/selection.js').Wanted} wanted */
export function describe ({ layers, area, zooms, current, since }) {
  const parts = [
    layers ? layers.join(', ') : '',
    zooms ? `zoom ${[...new Set([zooms.min, zooms.max])].join('-')}` : '',
    area ? `in ${area.bbox.map(degrees => +degrees.toFixed(4)).join(',')}` : '',
    current ? 'without the past' : '',
    since && !current ? `the past from ${since} on` : ''
  ].filter(Boolean)
  return parts.length ? parts.join('; ') : 'everything'
}

/** What happens to the mirror: lines for people; with --json one object per line. */
class MirrorMessages {
  #waiting = /** @type {any[]} */ ([]) // changes before the addresses were printed
  #running
  #line

  /** @param {import('../loader/cli/output.js').Output} output */
  constructor (output) {
    this.output = output
    this.#line = new FillingLine(output)
  }

  begin (running, options) {
    this.#running = running
    const { ended, close, mirror, wanted, ...value } = running
    const report = mirror()
    if (this.output.json) this.#event({ event: 'up', ...value, mirror: report })
    else this.output.result(value, mirrorLines(running, options, report))
    for (const change of this.#waiting.splice(0)) this.change(change)
  }

  /** @param {import('./edge/mirror-supervisor.js').StateChange} change */
  change (change) {
    if (!this.#running) return void this.#waiting.push(change)
    const { state, error, reason, report } = change
    if (this.output.json) return this.#event({ event: state, ...(error && { error, reason }), mirror: report })
    if (!this.output.isTerminal) return // it is in the log
    this.#line.end()
    const text = this.#text(change, this.#running)
    if (text) this.output.note(text)
  }

  #event (object) {
    this.output.event({ time: new Date().toISOString(), ...object })
  }

  /** @param {import('./edge/mirror-supervisor.js').StateChange} change */
  #text ({ state, before, error, reason = '', seconds = 0, isFirst, report: { from, counts, upToDate } }, { store }) {
    if (state === 'away') {
      const name = isAbout(reason, store) ? 'The store' : 'The origin'
      const title = error === 'UNREACHABLE' ? `${name} is away` : 'The mirror waits'
      const rest = upToDate || counts.documents ? 'It serves what it has.' : 'It has nothing to serve yet.'
      return `${title}: ${reason} [${error}]. ${rest}`
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

/** Whether an error names exactly this address. */
const isAbout = (reason, url) => reason.split(/[\s,]+/).some(word => word.replace(/:$/, '') === url)

class FillingLine extends ProgressLine {
  /** @param {import('./edge/mirror-supervisor.js').MirrorReport} report */
  show ({ counts, pending }) {
    this.draw(counts.tiles, undefined, () => [bytes(counts.bytes), ...countWords({ 'changes to look at': pending })])
  }
}

function mirrorLines (running, options, { upToDate }) {
  const { from, store, embedded, wanted } = running
  return [
    'The gateway is up, on a mirror.',
    '',
    ...addressLines(running, options),
    '',
    `  Origin    ${from}`,
    `  Mirrored  ${describe(wanted)}`,
    `  Store     ${storeWords(store, embedded, options)}`,
    ...(upToDate ? [] : [
      '  The mirror is being filled. Tiles are served as they arrive; addresses with',
      '  a time and the timeline work when it is complete.'
    ]),
    ...otherLines(running, options)
  ]
}
