// tilecouch doctor
import { existsSync } from 'node:fs'
import { TilecouchError } from '../../core/index.js'
import { doctor } from '../doctor/index.js'
import { writeMetrics } from '../doctor/metrics.js'
import { withDatabase } from './connect.js'
import { plural } from './output.js'

const WIDTH = 80 // columns

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addDoctorCommand (program, run) {
  program.command('doctor')
    .description('one look at everything that makes a store ill over years, the worst first; changes nothing')
    .option('--mirrors', 'ask the stores at the other end of its mirrors as well: what time they have')
    .option('--gateway <url>', 'look at a gateway or edge, too: its address, or that of its port for monitoring')
    .option('--metrics <file>', 'write what was found for Prometheus as well: a file ending in .prom that node_exporter reads')
    .addHelpText('after', `
Examples:
  tilecouch doctor --db http://admin@localhost:5984/tiles
  tilecouch doctor --mirrors --gateway http://localhost:9090 --json
  tilecouch doctor --metrics /var/lib/node_exporter/tilecouch.prom

Much is for admins of the server: whoever is none is told what he cannot see. The exit code is 1 when anything is bad.`)
    .action(run(doctorCommand))
}

async function doctorCommand (context, options) {
  const { output, signal } = context
  const { mirrors, gateway, metrics } = options
  return withDatabase(readOnly(context), options, async url => {
    const report = await doctor(url, { mirrors, gateway, signal, folder: options.data })
    if (metrics !== undefined) await writeMetrics(metrics, report)
    output.result(report, describe(report))
    return report.state === 'bad' ? 1 : 0
  })
}

/** Looking for a store makes none. @param {import('./program.js').Context} context */
const readOnly = context => ({
  ...context,
  openEmbedded: async dir => {
    if (!existsSync(dir)) throw new TilecouchError('DATABASE_NOT_FOUND', { db: `in ${dir}` })
    return context.openEmbedded(dir)
  }
})

const MARK = { bad: 'BAD', warning: 'WARNING', unknown: 'UNKNOWN' }
const INDENT = ' '.repeat(9)

/** What is wrong at length, what is right in a line an area. @param {import('../doctor/index.js').Report} report */
export function describe ({ url, server, counts, findings, seconds }) {
  const said = Object.entries(MARK).filter(([state]) => counts[state]).map(([state]) => `${counts[state]} ${state}`)
  return [
    `${url}`,
    `${server}: ${said.length ? `${said.join(', ')}, ` : ''}${counts.ok} ok, in ${seconds.toFixed(1)} s`,
    ...findings.filter(({ state }) => state === 'bad' || state === 'warning').flatMap(one => ['', ...full(one)]),
    ...unknowns(findings.filter(({ state }) => state === 'unknown')),
    ...fine(findings.filter(({ state }) => state === 'ok')),
    ...(counts.bad ? ['', `${plural(counts.bad, 'thing')} cannot wait.`] : [])
  ]
}

/** @param {import('../doctor/index.js').Finding} finding */
function full ({ state, area, check, found, why, advice }) {
  return [
    ...wrap(`${MARK[state].padEnd(9)}${area}: ${check === area ? '' : `${check}: `}${found}`, INDENT),
    ...(why ? wrap(`${INDENT}${why}`, INDENT) : []),
    ...(advice ? wrap(`${INDENT}-> ${advice}`, `${INDENT}   `) : [])
  ]
}

/** What could not be seen, put together by the reason. */
function unknowns (findings) {
  if (!findings.length) return []
  const reasons = new Map()
  for (const { area, check, found } of findings) reasons.set(found, [...reasons.get(found) ?? [], check === area ? area : `${area} ${check}`])
  return ['', ...[...reasons].flatMap(([found, names]) => wrap(`${MARK.unknown.padEnd(9)}${names.join(', ')}: ${found}`, INDENT))]
}

function fine (findings) {
  if (!findings.length) return []
  const areas = new Map()
  for (const { area, check, found } of findings) areas.set(area, [...areas.get(area) ?? [], check === area ? found : `${check} ${found}`])
  return ['', ...[...areas].flatMap(([area, names]) => wrap(`${'ok'.padEnd(9)}${area}: ${names.join('; ')}`, INDENT))]
}

/** Lines of a terminal; what has no space is not cut, so that it can be copied. */
function wrap (text, indent) {
  const lines = []
  let line = ''
  for (const word of text.split(/(?<=\S) /)) {
    if (line && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = indent + word
    } else line = line ? `${line} ${word}` : word
  }
  return [...lines, line]
}
