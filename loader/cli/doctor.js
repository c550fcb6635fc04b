// tilecouch doctor
import { doctor } from '../check/doctor/index.js'
import { writeMetrics } from '../check/doctor/metrics.js'
import { withDatabase } from './store.js'
import { runTask } from './task.js'
import { keepClosed, openExisting, openedWords } from './new-store.js'
import { BLANK, linesOf, plural } from './output.js'
import { Couch } from '../store/couch.js'

const WIDTH = 80 // columns

/** @type {import('./command.js').Declaration} */
export const doctorCommand = {
  options: [
    '--fix', '--private',
    ['--cors <origins>', 'with --fix: web pages of these origins (or *) may read every database of the server'],
    ['--allow-viewer', 'with --fix: browsers may run the viewer from CouchDB; applies to the whole server'],
    ['--embed <origins>', 'with --allow-viewer: pages of these origins (* or none) may show the viewer in a frame'],
    ['--q <n>', '', { digits: 4 }], ['--n <n>', '', { digits: 4 }], '--gateway <url>',
    ['--metrics <file>', 'also write the findings to a .prom file, which node_exporter reads']
  ],
  needs: [['--private', '--fix']],
  help: `Examples:
  tilecouch doctor --fix
  tilecouch doctor --fix --cors https://maps.example.org --allow-viewer
  tilecouch doctor --gateway http://localhost:9090 --json

Some checks need admin rights; skipped checks are listed. The exit code is 1
when a finding is bad.`,
  run: runDoctor
}

async function runDoctor (context, options) {
  const { output, signal } = context
  const { fix = false, private: closed = false, cors, allowViewer, embed, q, n, gateway, metrics } = options
  const conditions = { cors, allowViewer, embed, q, n }
  return withDatabase(context, options, async url => {
    const existing = closed ? await openExisting(url) : undefined
    if (existing) await keepClosed(existing)
    return runTask(context, new Couch(url), {
      command: 'doctor',
      figures: report => ({ about: aboutOf(report) }),
      async run () {
        const report = await doctor(url, { fix, closed, ...conditions, gateway, signal, folder: options.data })
        if (metrics !== undefined) await writeMetrics(metrics, report)
        if (isOpened(report)) output.note(openedWords(report.url))
        return report
      },
      report: reportLines,
      isFaulty: ({ state }) => state === 'bad'
    })
  }, { creates: fix })
}

/**
 * The part of a report for the document of the work. The worst findings are first: the last ones may not fit.
 * @param {import('../check/doctor/index.js').Report} report
 */
function aboutOf ({ state, counts, findings }) {
  const { free, size } = findings.find(({ area, check }) => area === 'disk' && check === 'room')?.figures ?? {}
  return {
    state,
    counts,
    ...(free !== undefined && { disk: { free, size } }),
    findings: findings.map(({ figures, ...finding }) => finding)
  }
}

/** Whether this run published a store that all may read. @param {import('../check/doctor/index.js').Report} report */
const isOpened = ({ findings }) =>
  findings.some(({ check, fixed }) => fixed && ['published', 'deployed'].includes(check)) &&
  findings.some(({ check, found }) => check === 'access' && found.startsWith('everybody may read'))

const MARK = { bad: 'BAD', warning: 'WARNING', unknown: 'UNKNOWN' } // the worst first
const INDENT = ' '.repeat(9)

/** Problems in full, other findings in one line per area. @param {import('../check/doctor/index.js').Report} report */
export function reportLines ({ url, server, counts, findings, seconds }) {
  const states = Object.keys(MARK).filter(state => counts[state]).map(state => `${counts[state]} ${state}, `)
  const fixable = findings.filter(finding => finding.fixable).map(({ check }) => check)
  const isFixed = finding => finding.fixed !== undefined
  return linesOf([
    url,
    `${server}: ${states.join('')}${counts.ok} ok, in ${seconds.toFixed(1)} s`,
    ...findings.filter(({ state }) => state === 'bad' || state === 'warning')
      .flatMap(finding => [BLANK, ...fullLines(finding)]),
    ...findings.filter(isFixed)
      .flatMap(finding => [BLANK, ...wrap(`FIXED    ${titleOf(finding)}was: ${finding.fixed}`, INDENT)]),
    ...grouped('UNKNOWN', findings.filter(({ state }) => state === 'unknown'), ({ found }) => found, unknownLine),
    ...grouped(
      'ok', findings.filter(finding => finding.state === 'ok' && !isFixed(finding)), ({ area }) => area, okLine
    ),
    fixable.length && [BLANK, ...wrap(`\`tilecouch doctor --fix\` repairs: ${fixable.join(', ')}`, '')],
    counts.bad && [BLANK, `${plural(counts.bad, 'problem')} cannot wait.`]
  ])
}

const titleOf = ({ area, check }) => `${area}: ${check === area ? '' : `${check}: `}`

/** @param {import('../check/doctor/index.js').Finding} finding */
function fullLines ({ state, area, check, found, why, advice }) {
  return [
    ...wrap(`${MARK[state].padEnd(9)}${titleOf({ area, check })}${found}`, INDENT),
    why && wrap(`${INDENT}${why}`, INDENT),
    advice && wrap(`${INDENT}-> ${advice}`, `${INDENT}   `)
  ]
}

/** Findings in a line per group. */
function grouped (mark, findings, keyOf, lineOf) {
  const groups = new Map()
  for (const finding of findings) groups.set(keyOf(finding), [...groups.get(keyOf(finding)) ?? [], finding])
  const lines = [...groups].flatMap(([key, group]) => wrap(mark.padEnd(9) + lineOf(key, group), INDENT))
  return lines.length ? [BLANK, ...lines] : []
}

const unknownLine = (found, group) =>
  `${group.map(({ area, check }) => check === area ? area : `${area} ${check}`).join(', ')}: ${found}`

const okLine = (area, group) =>
  `${area}: ${group.map(({ check, found }) => check === area ? found : `${check} ${found}`).join('; ')}`

/** Wraps a text at the width of a terminal. Words are never cut, so that they can be copied. */
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
