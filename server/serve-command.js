// tilecouch serve
import { Option } from 'commander'
import { loadOptions } from './gateway/config.js'
import { options as gatewayOptions } from './gateway/options.js'

/** @param {import('commander').Command} program @param {import('../loader/cli/program.js').Run} run */
export function addServeCommand (program, run) {
  const command = program.command('serve')
    .description('the gateway: tiles of a CouchDB from memory, at any time, as XYZ, TMS, quadkeys and WMTS, filled from upstreams')
  for (const option of flagsOf(gatewayOptions)) command.addOption(option)
  command
    .addHelpText('after', '\nEvery option is also a variable (TILECOUCH_PORT) and a key of the file (port): see docs/gateway.md.' +
      '\n\nExamples:\n  tilecouch serve\n  tilecouch serve --db http://localhost:5984/tiles --port 8080 --memory 1GB --workers 2\n  tilecouch serve --config /etc/tilecouch/gateway.json --ops-port 9090')
    .action(run(serveCommand))
}

/** Without defaults, so that what was not said can still come from the environment or the file. @param {import('./gateway/options.js').Option[]} table */
export function flagsOf (table) {
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

/** What was said of them on the command line. @param {Record<string, any>} given @param {import('./gateway/options.js').Option[]} table */
export const flagsIn = (given, table) => Object.fromEntries(table.filter(({ name }) => given[name] !== undefined).map(({ name: key }) => [key, given[key]]))

async function serveCommand ({ output, signal }, given) {
  const { options, warnings } = await loadOptions({ flags: flagsIn(given, gatewayOptions) })
  const { serve } = await import('./serve.js') // only this command needs the gateway
  const running = await serve(options, { signal, warnings })
  const { ended, close, ...value } = running
  output.result(value, lines(running, options))
  await untilStopped(running, { output, signal })
}

/** Until Ctrl-C, or until the gateway gives up by itself. @param {{ended: Promise<void>, close: () => Promise<void>}} running */
export async function untilStopped ({ ended, close }, { output, signal }) {
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
  return ['The gateway is up.', '', ...addressLines(serving, options), '', `  CouchDB   ${db}${embedded ? `, embedded, data in ${options.data}, with the password of its admin` : ''}`, ...otherLines(serving, options)]
}

/** @param {Omit<import('./serve.js').Serving, 'embedded'>} serving @param {Record<string, any>} options */
export const addressLines = ({ viewer, tiles, asOf, wmts, health, metrics }, { viewer: hasViewer }) => [
  ...(hasViewer ? [`  Viewer    ${viewer}`] : []),
  `  Tiles     ${tiles}`,
  `  As of     ${asOf}`,
  `  WMTS      ${wmts}`,
  `  Health    ${health}`,
  ...(metrics ? [`  Metrics   ${metrics}`] : [])
]

/** @param {{workers: number}} serving @param {Record<string, any>} options */
export const otherLines = ({ workers }, { upstream }) => [
  ...(workers > 1 ? [`  Workers   ${workers}`] : []),
  ...(upstream ? [] : ['  Upstreams are not asked.']),
  '  Ctrl-C stops.'
]
