// tilecouch doctor
import { existsSync } from 'node:fs'
import { TilecouchError } from '../errors.js'
import { doctor } from '../doctor/index.js'
import { writeMetrics } from '../doctor/metrics.js'
import { withDatabase } from './connect.js'
import { wholeNumber } from './options.js'
import { bytes, count, plural } from './output.js'

const WIDTH = 80 // columns
const UNITS = { '': 1, k: 1e3, M: 1e6, G: 1e9 }

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addDoctorCommand (program, run) {
  program.command('doctor')
    .description('check a CouchDB and its store for problems, and with --fix prepare and repair them')
    .option('--fix')
    .option('--cors <origins>', 'pages of these origins may read every database of the server: https://maps.example.org, or *')
    .option('--allow-viewer', 'browsers may run the viewer that CouchDB serves, from every database of the server; ' +
      '`tilecouch serve` does not need it')
    .option('--q <n>')
    .option('--n <n>')
    .option('--expected-tiles <n>', 'tiles that the store will have, with all versions, such as 40M: advises --q and --n, and creates ' +
      'the database with them')
    .option('--tile-bytes <n>', 'bytes per tile, for --expected-tiles (default: 10000)')
    .option('--mirrors', 'also ask the stores at the other end of its mirrors for their clocks')
    .option('--gateway <url>')
    .option('--metrics <file>', 'also write the findings for Prometheus, to a .prom file that node_exporter reads')
    .addHelpText('after', `
Examples:
  tilecouch doctor --db http://admin@localhost:5984/tiles
  tilecouch doctor --fix
  tilecouch doctor --fix --cors https://maps.example.org --allow-viewer
  tilecouch doctor --expected-tiles 40M --fix
  tilecouch doctor --mirrors --gateway http://localhost:9090 --json
  tilecouch doctor --metrics /var/lib/node_exporter/tilecouch.prom

Without --fix nothing is changed. Some checks need admin rights; skipped checks are listed. The exit code is 1 when a finding is bad.`)
    .action(run(doctorCommand))
}

async function doctorCommand (context, options) {
  const { output, signal } = context
  const { fix = false, cors, allowViewer, mirrors, gateway, metrics } = options
  const wanted = {
    cors,
    allowViewer,
    q: wholeNumber('--q', options.q, 4),
    n: wholeNumber('--n', options.n, 4),
    tiles: tilesOf(options.expectedTiles),
    tileBytes: wholeNumber('--tile-bytes', options.tileBytes, 9)
  }
  return withDatabase(fix ? context : readOnly(context), options, async url => {
    const report = await doctor(url, { fix, ...wanted, mirrors, gateway, signal, folder: options.data })
    if (metrics !== undefined) await writeMetrics(metrics, report)
    output.result(report, describe(report))
    return report.state === 'bad' ? 1 : 0
  })
}

/** Without --fix no embedded store is created. @param {import('./program.js').Context} context */
const readOnly = context => ({
  ...context,
  openEmbedded: async dir => {
    if (!existsSync(dir)) throw new TilecouchError('DATABASE_NOT_FOUND', { db: `in ${dir}` })
    return context.openEmbedded(dir)
  }
})

/** @param {string | undefined} value such as `40M` */
function tilesOf (value) {
  if (value === undefined) return undefined
  const [, number, unit] = /^(\d{1,12}(?:\.\d{1,3})?)([kMG]?)$/.exec(value) ?? []
  const tiles = Math.round(+number * UNITS[unit])
  if (!(tiles > 0)) throw new TilecouchError('BAD_OPTION', { option: '--expected-tiles', value })
  return tiles
}

const MARK = { bad: 'BAD', warning: 'WARNING', unknown: 'UNKNOWN' }
const INDENT = ' '.repeat(9)

/** Problems in full, what is right in one line per area. @param {import('../doctor/index.js').Report} report */
export function describe ({ url, server, counts, findings, advice, seconds }) {
  const said = Object.entries(MARK).filter(([state]) => counts[state]).map(([state]) => `${counts[state]} ${state}`)
  return [
    `${url}`,
    `${server}: ${said.length ? `${said.join(', ')}, ` : ''}${counts.ok} ok, in ${seconds.toFixed(1)} s`,
    ...findings.filter(({ state }) => state === 'bad' || state === 'warning').flatMap(one => ['', ...full(one)]),
    ...shardLines(advice),
    ...findings.filter(({ fixed }) => fixed !== undefined).flatMap(one => ['', ...wrap(`${'FIXED'.padEnd(9)}${titleOf(one)}was: ${one.fixed}`, INDENT)]),
    ...unknowns(findings.filter(({ state }) => state === 'unknown')),
    ...fine(findings.filter(({ state, fixed }) => state === 'ok' && fixed === undefined)),
    ...(findings.some(({ fixable }) => fixable) ? ['', '`tilecouch doctor --fix` repairs: ' + findings.filter(({ fixable }) => fixable).map(({ check }) => check).join(', ')] : []),
    ...(counts.bad ? ['', `${plural(counts.bad, 'problem')} cannot wait.`] : [])
  ]
}

const titleOf = ({ area, check }) => `${area}: ${check === area ? '' : `${check}: `}`

/** @param {import('../doctor/index.js').Finding} finding */
function full ({ state, area, check, found, why, advice }) {
  return [
    ...wrap(`${MARK[state].padEnd(9)}${titleOf({ area, check })}${found}`, INDENT),
    ...(why ? wrap(`${INDENT}${why}`, INDENT) : []),
    ...(advice ? wrap(`${INDENT}-> ${advice}`, `${INDENT}   `) : [])
  ]
}

/** The checks that were skipped, grouped by reason. */
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

/** Lines of a terminal. A word is never cut, so that it can be copied. */
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

/** @param {import('../doctor/shards.js').Advice} [advice] */
function shardLines (advice) {
  if (!advice) return []
  const { q, n, tiles, nodes, bytes: size, shardDocs, shardBytes, notes } = advice
  const copies = n > 1 ? `, ${bytes(size * n)} with all copies` : ''
  return [
    '',
    `${count(tiles)} tiles are about ${bytes(size)}${copies}. Advice for ${plural(nodes, 'node')}: q=${q} n=${n}`,
    `${INDENT}Each shard then has ${count(shardDocs)} tiles, ${bytes(shardBytes)}, and its compaction needs that space again.`,
    ...notes.flatMap(note => wrap(`${INDENT}${note}`, INDENT))
  ]
}
