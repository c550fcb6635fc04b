// Pure functions that collect the findings of the overview: those of the last `tilecouch doctor` and those of the page
// itself. Both have one form; the worst comes first.
import { isOpen } from '../../../core/access.js'
import { STATES, findingDefaults } from '../../../core/findings.js'
import { workState } from '../../../core/work.js'
import { pendingOf } from './figures.js'

const DESIGN = '_design/versions'
const VIEWS = ['by_area', 'by_tile', 'by_time', 'by_zoom', 'conflicts', 'expiring', 'rest_by_area', 'stored', 'styles']
const INTERRUPTED = 7 * 86_400_000 // milliseconds for which interrupted work is reported

/**
 * @typedef {{kind: 'command', line: string} | {kind: 'link', place: string} |
 *   {kind: 'action', name: 'compact' | 'compactIndex' | 'cleanUp' | 'build', path: string}} Remedy
 * @typedef {{area: string, check: string, state: string, found: string, why?: string, advice?: string,
 *   fixable?: boolean, remedies?: Remedy[]}} Finding
 */

/**
 * The findings of the page itself.
 * @param {object} seen
 * @param {any} seen.info @param {any} seen.index @param {any[]} seen.designs @param {any} seen.security
 * @param {{name: string | null, isServerAdmin: boolean}} seen.user @param {any[]} seen.work @param {number} seen.now
 * @param {import('./figures.js').Figures | null} seen.figures
 * @param {any} say the texts of these findings @param {(bytes: number) => string} size in words
 * @returns {Finding[]}
 */
export function ownFindings ({ info, index, designs, security, user, work, now, figures }, say, size) {
  const add = (area, check, state, words, remedies = /** @type {Remedy[]} */ ([])) =>
    ({ area, check, state, ...words, remedies })
  const push = [command('tilecouch push')]
  /** @type {(Finding | false)[]} */
  const findings = [
    user.name === null && user.isServerAdmin
      ? add('access', 'admins', 'bad', say.noAdmins)
      : add('access', 'admins', 'ok', say.admins),
    designs.some(doc => doc.validate_doc_update)
      ? add('access', 'validation', 'ok', say.validation)
      : add('access', 'validation', 'bad', say.noValidation, push),
    add('access', 'readers', 'ok', isOpen(security) ? say.publicRead : say.closedRead)
  ]
  const views = designs.find(({ _id }) => _id === DESIGN)?.views ?? {}
  const missing = VIEWS.filter(name => !views[name])
  if (missing.length) {
    findings.push(add('indexes', 'deployed', 'warning', fill(say.notDeployed, missing.join(', ')), push))
  }
  if (index) findings.push(
    behind(index, add, say),
    waste('indexes', index, { name: 'compactIndex', path: '_compact/versions' }, add, say, size)
  )
  findings.push(waste('database', info, { name: 'compact', path: '_compact' }, add, say, size))
  if (figures?.conflicts) {
    findings.push(add('database', 'conflicts', 'warning', fill(say.conflicts, figures.conflicts),
      [command('tilecouch check --only conflicts --fix')]))
  }
  const stopped = work.filter(doc => workState(doc, now) === 'interrupted' && now - Date.parse(doc.seen) < INTERRUPTED)
  if (stopped.length) findings.push(add(
    'work', 'interrupted', 'warning', fill(say.interrupted, stopped.length), [{ kind: 'link', place: 'work' }]
  ))
  return /** @type {Finding[]} */ (findings.filter(Boolean))
}

/** The texts of a finding with its figure. */
const fill = ({ found, why, advice }, value) => ({ found: found(value), why, advice })

const command = line => /** @type {Remedy} */ ({ kind: 'command', line })

function behind (index, add, say) {
  const pending = pendingOf(index)
  const { behind: limit, far } = findingDefaults
  if (pending <= limit) return add('indexes', 'up to date', 'ok', say.upToDate)
  const state = pending > far ? 'bad' : 'warning'
  const build = [{ kind: 'action', name: 'build', path: `${DESIGN}/_view/by_time` }]
  const words = fill(say.behind, pending)
  if (!index.updater_running) return add('indexes', 'up to date', state, words, build)
  return add('indexes', 'up to date', state, { ...words, advice: say.behind.wait })
}

function waste (area, { sizes: { file = 0, active = 0 } = {}, compact_running: isRunning }, action, add, say, size) {
  const slack = file - active
  const isLittle = slack < findingDefaults.little ||
    (file < findingDefaults.waste * active && slack < findingDefaults.waits)
  if (isLittle || isRunning) return add(area, 'compaction', 'ok', say.compact)
  return add(
    area,
    'compaction',
    'warning',
    fill(say.waste, { file: size(file), slack: size(slack) }),
    [{ kind: 'action', ...action }]
  )
}

/** The newest report of the doctor. @param {any[]} work documents */
export function reportOf (work) {
  let newest
  for (const doc of work) {
    if (doc.command !== 'doctor' || !Array.isArray(doc.about?.findings)) continue
    if (!newest || doc._id > newest._id) newest = doc // ids begin with their moment
  }
  return newest
}

/**
 * All findings, the worst first. If both checked one thing, the newer finding of the page counts.
 * @param {Finding[]} pageFindings @param {any} [report] document of work
 * @returns {Finding[]}
 */
export function allFindings (pageFindings, report) {
  const nameOf = ({ area, check }) => `${area} ${check}`
  const names = new Set(pageFindings.map(nameOf))
  const doctorFindings = (report?.about.findings ?? []).filter(isFinding).filter(finding => !names.has(nameOf(finding)))
    .map(finding => ({ ...finding, remedies: remediesOf(finding) }))
  const findings = [...pageFindings, ...doctorFindings]
  return STATES.flatMap(state => findings.filter(finding => finding.state === state))
}

const isFinding = finding => finding && STATES.includes(finding.state) &&
  ['area', 'check', 'found'].every(field => typeof finding[field] === 'string')

// commands in the advice of the doctor that are complete
const COMMAND_FORMS = [
  'push',
  'check --only \\w+ --fix',
  '(?:seed|prune) --expired --all',
  'prune [a-z0-9][\\w-]*(?: --dry-run)?',
  'doctor --fix(?: --allow-viewer)?'
]
const COMMANDS = new RegExp(`tilecouch (?:${COMMAND_FORMS.join('|')})(?![\\w-])`, 'g')
const REQUESTS = /POST \S+\/_(?:(view_cleanup)|compact(?:\/([\w-]+))?)(?![\w/])/g

/** @param {Finding} finding of the doctor @returns {Remedy[]} */
export function remediesOf ({ state, advice = '', fixable }) {
  if (state === 'ok') return []
  const text = String(advice)
  /** @type {Remedy[]} */
  const actions = [...text.matchAll(REQUESTS)].map(([, cleanup, index]) => cleanup
    ? { kind: 'action', name: 'cleanUp', path: '_view_cleanup' }
    : { kind: 'action', name: index ? 'compactIndex' : 'compact', path: index ? `_compact/${index}` : '_compact' })
  const lines = new Set([...text.matchAll(COMMANDS)].map(([line]) => line))
  if (fixable && ![...lines].some(line => line.startsWith('tilecouch doctor') || line === 'tilecouch push')) {
    lines.add('tilecouch doctor --fix')
  }
  return [...actions, ...[...lines].map(command)]
}
