// The command `tilecouch serve`: reads its options, starts the gateway, and prints its addresses.
import { once } from 'node:events'
import { Option } from 'commander'
import { collect, refuse } from '../loader/cli/options.js'
import { LiveReport } from '../loader/cli/live.js'
import { BLANK, bytes, countWords, duration, plural, secondsSince } from '../loader/cli/output.js'
import { ProgressLine } from '../loader/cli/progress.js'
import { mirrorOptions, serveOptions } from './edge/options.js'
import { loadOptions } from './gateway/config.js'
import { describeOption } from './gateway/options.js'

/** Flags without defaults: a missing value may come from the environment or the file. */
function flagsOf (table) {
  return table.filter(({ flags }) => flags).flatMap(option => {
    const { flags, type, text, default: initial } = option
    const flag = new Option(flags, describeOption(option))
    if (['names', 'layers', 'networks'].includes(type)) flag.argParser(collect)
    if (type !== 'boolean') return [flag]
    if (initial === true) flag.description = `do not ${text}`
    const oppositeFlag = new Option(initial ? flags.replace('--no-', '--') : flags.replace('--', '--no-')).hideHelp()
    // the positive flag first: without it, commander takes a --no- for a switch that is on
    return initial ? [oppositeFlag, flag] : [flag, oppositeFlag]
  })
}

/** @type {import('../loader/cli/command.js').Declaration} */
export const serveCommand = {
  options: [
    ...flagsOf(serveOptions),
    ['--set <name=value>', 'any other option, such as maxAge=1h; repeatable', { parse: collect }]
  ],
  help: `Examples:
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
they would conflict with later ones of the origin.`,
  run: runServe
}

/** Returns the options of the command line. */
function commandLineOptions ({ set = [], ...values }) {
  const setOptions = set.map(text => {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? []
    const option = serveOptions.find(({ name: optionName }) => optionName === name)
    if (!name) refuse('--set', text.split('=')[0], 'it takes name=value')
    if (option?.secret) {
      const why = `everybody on this machine can see the command line: use ${option.env} or the file of --config`
      refuse('--set', name, why)
    }
    return [name, value]
  })
  const flags = serveOptions.filter(({ name }) => values[name] !== undefined).map(({ name }) => [name, values[name]])
  return Object.fromEntries([...setOptions, ...flags])
}

async function runServe (context, values) {
  const { output, signal } = context
  const flags = commandLineOptions(values)
  const { options, warnings } = await loadOptions({ flags, table: serveOptions })
  if (options.from) return serveMirror(context, flags)
  const { serve } = await import('./serve.js') // only this command needs the gateway
  const running = await serve(options, { signal, warnings })
  const { ended, close, ...value } = running
  output.result(value, outputLines(running, options))
  return untilStopped(running, { output, signal })
}

async function serveMirror ({ output, signal, args }, flags) {
  const { options, warnings } = await loadOptions({ flags, table: mirrorOptions })
  // on a terminal, messages say the same as the log
  if (output.isTerminal && !output.json && flags.logLevel === undefined) options.logLevel = 'error'
  const { serve } = await import('./serve.js')
  const started = performance.now()
  const progress = new ProgressLine(output)
  const live = new LiveReport(output, progress, {
    eventOf: () => ({ mirror: running.mirror?.() }),
    complete: () => [upToDateLine(running.mirror?.(), secondsSince(started))]
  })
  let isUp = false // before that, there is nothing to follow
  let latest = /** @type {import('./edge/mirror-supervisor.js').StateChange | undefined} */ (undefined)
  const show = () => {
    if (isUp && latest && (output.json || output.isTerminal)) live.change(latest) // otherwise the log has it
  }
  const running = await serve(options, {
    signal,
    warnings,
    args,
    onStateChange (change) {
      latest = change
      show()
    },
    onProgress ({ counts, pending, state }) {
      if (!isUp || !output.isTerminal || state !== 'reading') return
      progress.draw(counts.tiles, undefined, () =>
        [bytes(counts.bytes), ...countWords({ 'changes to look at': pending })])
    }
  })
  const { ended, close, mirror, wanted, ...value } = running
  if (output.json) live.event('up', value)
  else output.result(value, outputLines(running, options))
  isUp = true
  show()
  try {
    await untilStopped(running, { output, signal })
  } finally {
    progress.end()
  }
}

/** @param {any} report */
function upToDateLine ({ from, counts }, seconds) {
  const copied = counts.documents ? `: ${plural(counts.documents, 'document')} (${bytes(counts.bytes)})` : ''
  return `Up to date after ${duration(seconds)}${copied}. Following the changes of ${from}.`
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

/**
 * @param {Awaited<ReturnType<typeof import('./serve.js').serve>>} serving
 * @param {Record<string, any>} options
 */
function outputLines (serving, { viewer: hasViewer, data, upstream }) {
  const { viewer, tiles, asOf, wmts, health, metrics, workers, db, embedded, from, wanted, mirror } = serving
  const isFilled = mirror === undefined || mirror().upToDate
  return [
    from ? 'The gateway is up, on a mirror.' : 'The gateway is up.',
    BLANK,
    hasViewer && `  Viewer    ${viewer}`,
    `  Tiles     ${tiles}`,
    `  As of     ${asOf}`,
    `  WMTS      ${wmts}`,
    `  Health    ${health}`,
    metrics && `  Metrics   ${metrics}`,
    BLANK,
    from && `  Origin    ${from}`,
    wanted && `  Mirrored  ${describePart(wanted)}`,
    `  ${from ? 'Store  ' : 'CouchDB'}   ${db}${embedded ? `, embedded, data in ${data}` : ''}`,
    !isFilled && [
      '  The mirror is being filled. Tiles are served as they arrive; addresses with',
      '  a time and the timeline work when it is complete.'
    ],
    workers > 1 && `  Workers   ${workers}`,
    !upstream && '  No tiles are fetched from tile servers.',
    '  Ctrl-C stops.'
  ]
}

/** Describes the mirrored part in words. @param {import('../core/mirror/selection.js').Wanted} wanted */
function describePart ({ layers, area, zooms, current, since }) {
  const parts = [
    layers ? layers.join(', ') : '',
    zooms ? `zoom ${[...new Set([zooms.min, zooms.max])].join('-')}` : '',
    area ? `in ${area.bbox.map(degrees => +degrees.toFixed(4)).join(',')}` : '',
    current ? 'without the past' : '',
    since && !current ? `the past from ${since} on` : ''
  ].filter(Boolean)
  return parts.length ? parts.join('; ') : 'everything'
}
