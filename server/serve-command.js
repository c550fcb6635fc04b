// tilecouch serve
import { Option } from 'commander'
import { loadOptions } from './gateway/config.js'
import { options as table } from './gateway/options.js'

/** @param {import('commander').Command} program @param {import('../loader/cli/program.js').Run} run */
export function addServeCommand (program, run) {
  const command = program.command('serve')
    .description('the gateway: tiles of a CouchDB from memory, at any time, as XYZ, TMS, quadkeys and WMTS, filled from upstreams')
  for (const option of gatewayFlags()) command.addOption(option)
  command
    .addHelpText('after', '\nEvery option is also a variable (TILECOUCH_PORT) and a key of the file (port): see docs/gateway.md.' +
      '\n\nExamples:\n  tilecouch serve\n  tilecouch serve --db http://localhost:5984/tiles --port 8080 --memory 1GB --workers 2\n  tilecouch serve --config /etc/tilecouch/gateway.json --ops-port 9090')
    .action(run(serveCommand))
}

/** Without defaults, so that what was not said can still come from the environment or the file. */
function gatewayFlags () {
  return table.flatMap(({ flags, type, text, shown, default: value }) => {
    const shownDefault = type === 'boolean' || !shown || shown === '{}' ? '' : ` (default: ${shown})`
    const flag = new Option(flags, text + shownDefault)
    if (type !== 'boolean') return [flag]
    // "no-" in front of a text that says what the switch is for
    if (value === true) flag.description = `do not ${text}`
    const other = new Option(value ? flags.replace('--no-', '--') : flags.replace('--', '--no-')).hideHelp()
    // the positive one first: on its own, commander takes a --no- for a switch that is on
    return value ? [other, flag] : [flag, other]
  })
}

async function serveCommand ({ output, signal }, given) {
  const flags = Object.fromEntries(table.filter(({ name }) => given[name] !== undefined).map(({ name }) => [name, given[name]]))
  const { options, warnings } = await loadOptions({ flags })
  const { serve } = await import('./serve.js') // only this command needs the gateway
  const running = await serve(options, { signal, warnings })
  const { ended, close, ...value } = running
  output.result(value, lines(running, options))
  const stopped = new Promise(resolve => { signal.aborted ? resolve(undefined) : signal.addEventListener('abort', resolve) })
  try {
    await Promise.race([stopped, ended])
    output.note('\nStopping …')
  } finally {
    await close()
  }
}

/** @param {import('./serve.js').Serving} serving @param {Record<string, any>} options */
function lines ({ viewer, tiles, asOf, wmts, health, metrics, db, embedded, workers }, { viewer: hasViewer, data, upstream }) {
  return [
    'The gateway is up.',
    '',
    ...(hasViewer ? [`  Viewer    ${viewer}`] : []),
    `  Tiles     ${tiles}`,
    `  As of     ${asOf}`,
    `  WMTS      ${wmts}`,
    `  Health    ${health}`,
    `  Metrics   ${metrics}`,
    '',
    `  CouchDB   ${db}${embedded ? `, embedded, data in ${data}` : ''}`,
    ...(workers > 1 ? [`  Workers   ${workers}`] : []),
    ...(upstream ? [] : ['  Upstreams are not asked.']),
    '  Ctrl-C stops.'
  ]
}
