// tilecouch serve
import { Option } from 'commander'
import { TilecouchError } from '../loader/errors.js'
import { collect } from '../loader/cli/options.js'
import { bytes, count, duration, plural } from '../loader/cli/output.js'
import { ProgressLine } from '../loader/cli/progress.js'
import { mirrorOptions, serveOptions } from './edge/options.js'
import { loadOptions } from './gateway/config.js'

/** @param {import('commander').Command} program @param {import('../loader/cli/program.js').Run} run */
export function addServeCommand (program, run) {
  const command = program.command('serve')
    .description('start the gateway: maps from a store, or from a mirror of another store')
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

Every option is also an environment variable (TILECOUCH_PORT) and a key of the file of --config (port): see docs/gateway.md.
With --from, the store of --db becomes a mirror (default: an embedded store in ./edge). It serves while the origin is away, and catches
up afterwards. The password of the origin is in TILECOUCH_FROM_PASSWORD or TILECOUCH_FROM_PASSWORD_FILE, the name in --from or
TILECOUCH_FROM_USER. Upstreams are left to the origin: tiles that the mirror fetched itself would conflict with later ones of the origin.`)
    .action(run(serveCommand))
}

/** Flags without defaults: what is not given may come from the environment or the file. @param {import('./gateway/options.js').Option[]} table */
function flagsOf (table) {
  return table.filter(({ flags }) => flags).flatMap(({ flags, type, text, shown, default: initial }) => {
    const shownDefault = type === 'boolean' || !shown || shown === '{}' ? '' : ` (default: ${shown})`
    const flag = new Option(flags, text + shownDefault)
    if (type === 'names' || type === 'layers' || type === 'networks') flag.argParser((value, /** @type {any} */ before) => [...(before ?? []), value])
    if (type !== 'boolean') return [flag]
    // "no-" in front of a text that says what the switch is for
    if (initial === true) flag.description = `do not ${text}`
    const other = new Option(initial ? flags.replace('--no-', '--') : flags.replace('--', '--no-')).hideHelp()
    // the positive one first: on its own, commander takes a --no- for a switch that is on
    return initial ? [other, flag] : [flag, other]
  })
}

/**
 * The options that were given on the command line.
 * @param {Record<string, any>} given
 */
function givenOptions ({ set = [], ...given }) {
  const named = set.map(text => {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? []
    const option = serveOptions.find(one => one.name === name)
    if (!name) throw new TilecouchError('BAD_OPTION', { option: '--set', value: text.split('=')[0], why: 'it takes name=value' })
    if (option?.secret) {
      const why = `everybody on this machine can see the command line: use ${option.env} or the file of --config`
      throw new TilecouchError('BAD_OPTION', { option: '--set', value: name, why })
    }
    return [name, value]
  })
  const flags = serveOptions.filter(({ name }) => given[name] !== undefined).map(({ name }) => [name, given[name]])
  return Object.fromEntries([...named, ...flags])
}

async function serveCommand ({ output, signal }, given) {
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
  if (output.isTerminal && !output.json && flags.logLevel === undefined) options.logLevel = 'error' // a terminal shows messages instead
  const messages = new MirrorMessages(output)
  const listeners = { onStateChange: turn => messages.turn(turn), onProgress: report => messages.progress(report) }
  const running = /** @type {import('./serve.js').Edge} */ (await serve(options, { signal, warnings, ...listeners }))
  messages.begin(running, options)
  try {
    await untilStopped(running, { output, signal })
  } finally {
    messages.end()
  }
}

/** Waits for Ctrl-C, or for the gateway to fail. @param {{ended: Promise<void>, close: () => Promise<void>}} running */
async function untilStopped ({ ended, close }, { output, signal }) {
  const stopped = new Promise(resolve => { signal.aborted ? resolve(undefined) : signal.addEventListener('abort', resolve) })
  try {
    await Promise.race([stopped, ended])
    output.note('\nStopping …')
  } finally {
    await close()
  }
}

/** @param {import('./serve.js').Serving} serving @param {Record<string, any>} options */
function lines (serving, options) {
  const { db, embedded } = serving
  return ['The gateway is up.', '', ...addressLines(serving, options), '', `  CouchDB   ${db}${embedded ? `, embedded, data in ${options.data}` : ''}`, ...otherLines(serving, options)]
}

/** @param {Omit<import('./serve.js').Serving, 'embedded'>} serving @param {Record<string, any>} options */
const addressLines = ({ viewer, tiles, asOf, wmts, health, metrics }, { viewer: hasViewer }) => [
  ...(hasViewer ? [`  Viewer    ${viewer}`] : []),
  `  Tiles     ${tiles}`,
  `  As of     ${asOf}`,
  `  WMTS      ${wmts}`,
  `  Health    ${health}`,
  ...(metrics ? [`  Metrics   ${metrics}`] : [])
]

/** @param {{workers: number}} serving @param {Record<string, any>} options */
const otherLines = ({ workers }, { upstream }) => [
  ...(workers > 1 ? [`  Workers   ${workers}`] : []),
  ...(upstream ? [] : ['  Upstreams are not asked.']),
  '  Ctrl-C stops.'
]

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

/** What happens to the mirror: lines for people; with --json one object per line. */
class MirrorMessages {
  #waiting = /** @type {import('./edge/mirror-supervisor.js').StateChange[]} */ ([]) // before the addresses were printed
  #running = /** @type {import('./serve.js').Edge | undefined} */ (undefined)
  #line

  /** @param {import('../loader/cli/output.js').Output} output */
  constructor (output) {
    this.output = output
    this.#line = new FillingLine(output)
  }

  /** @param {import('./serve.js').Edge} running @param {Record<string, any>} options */
  begin (running, options) {
    this.#running = running
    const { ended, close, mirror, wanted, ...value } = running
    const report = mirror()
    if (this.output.json) this.#event({ event: 'up', ...value, mirror: report })
    else this.output.result(value, mirrorLines(running, options, report))
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

  /** @param {import('./edge/mirror-supervisor.js').StateChange} turn @param {import('./serve.js').Edge} running */
  #text ({ state, before, error, reason = '', seconds = 0, isFirst, report: { from, counts, upToDate } }, { store }) {
    const name = isAbout(reason, store) ? 'The store' : 'The origin'
    if (state === 'away') {
      return `${error === 'UNREACHABLE' ? `${name} is away` : 'The mirror waits'}: ${reason} [${error}]. ${upToDate || counts.documents ? 'It serves what it has.' : 'It has nothing to serve yet.'}`
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
    this.draw(counts.tiles, undefined, rate => [bytes(counts.bytes), `${count(Math.round(rate))}/s`, ...(pending ? [`${count(pending)} changes to look at`] : [])])
  }
}

/** @param {import('./serve.js').Edge} running @param {Record<string, any>} options @param {import('./edge/mirror-supervisor.js').MirrorReport} report */
function mirrorLines (running, options, { upToDate }) {
  const { from, store, embedded, wanted } = running
  return [
    'The gateway is up, on a mirror.',
    '',
    ...addressLines(running, options),
    '',
    `  Origin    ${from}`,
    `  Mirrored  ${describe(wanted)}`,
    `  Store     ${store}${embedded ? `, embedded, data in ${options.data}` : ''}`,
    ...(upToDate ? [] : ['  The mirror is being filled. Tiles are served as they arrive; addresses with a time and the timeline follow when it is complete.']),
    ...otherLines(running, options)
  ]
}
