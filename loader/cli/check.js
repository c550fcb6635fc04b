// tilecouch check: look for faults in a store, layers, or files of tiles, and repair those with only one possible fix.
import { stat } from 'node:fs/promises'
import { parseReference } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { resolve } from '../check/conflicts.js'
import { check } from '../check/index.js'
import { upgrade } from '../check/upgrade.js'
import { faults } from '../check/files/faults.js'
import { JsonLines } from '../formats/json-lines.js'
import { areaOptions, partOf, refuse } from './options.js'
import { BLANK, bytes, count, duration, linesOf, moreLine, plural, table } from './output.js'
import { LiveReport, followed } from './live.js'
import { ProgressLine, pushReport } from './progress.js'
import { runStoreTask, runTask } from './task.js'

const SHOWN = 20 // documents named; --json has more

/** @type {import('./command.js').Declaration} */
export const checkCommand = {
  arguments: [['[what...]', 'a file or folder, layers, or layer@time (default: the whole store)']],
  options: [
    '--fix',
    ['--only <what>', 'conflicts: only those between stores; upgrade: only what earlier programs wrote',
      { choices: ['conflicts', 'upgrade'] }],
    '--live', ...areaOptions, '--scheme <scheme>', '--grid <name|file>',
    ['--no-decode', 'check the frame of every tile only, without decoding its pixels or features'],
    '--report <file>'
  ],
  excludes: [['--only', ['--report']]],
  help: `Examples:
  tilecouch check osm relief --no-decode
  tilecouch check city.mbtiles --report found.jsonl
  tilecouch check --only conflicts --fix --live

The exit code is 0 if there is no fault, or none left; warnings do not count. docs/checking.md lists the findings.`,
  run: runCheck
}

async function runCheck (context, options, names) {
  const { only, fix = false, live, decode, scheme } = options
  if (live && !(only === 'conflicts' && fix)) refuse('--live', true, 'it goes with --only conflicts --fix')
  const wholeOption = fix ? '--fix' : only && '--only'
  const target = await targetOf(names, { isOfStore: Boolean(wholeOption) })
  const part = { ...await partOf(options), scheme, grid: options.grid }
  refuseParts(options, target, part, wholeOption)
  const settings = { ...part, fix, decode, signal: context.signal }
  if (target.file) return runTask(context, undefined, checkTask(context, options, target.file, settings))
  const layer = target.layers?.length === 1 ? target.layers[0] : undefined
  const about = { command: 'check', layer, follows: live }
  return runStoreTask(context, options, store => {
    if (only === 'conflicts') return { ...about, ...conflictsTask(context, options, store, target.layers) }
    if (only === 'upgrade') return { ...about, ...upgradeTask(context, options, store) }
    const subject = layer === undefined ? store : { store, layer, time: target.time }
    const layers = layer === undefined ? target.layers : undefined
    return { ...about, ...checkTask(context, options, subject, { ...settings, layers }) }
  })
}

/**
 * Refuses a part of a layer where whole layers are needed, and a part of several layers.
 * @param {Record<string, any>} options @param {Target} target
 */
function refuseParts ({ only, zoom = true }, { file, layers = [], time }, { area, zooms }, wholeOption) {
  const isPart = Boolean(area || zooms || time || file)
  if (wholeOption && isPart) refuse(wholeOption, only ?? true, 'it takes whole layers, as they are now')
  if (only === 'upgrade' && layers.length) refuse('--only', only, 'upgrade concerns the whole store: name no layers')
  if (isPart && !file && layers.length !== 1) refuse('--zoom', zoom, 'name one layer, file or folder')
}

// no layer has such a name: it must be a file
const isNameOfFile = text => /[\\/]|\.[a-z]+$/i.test(text.replace(/@.*/, ''))

/**
 * @typedef {{file?: string, layers?: string[], time?: string}} Target
 *
 * @param {string[]} names
 * @param {{isOfStore: boolean}} options isOfStore: a layer comes before a file or folder with its name
 * @returns {Promise<Target>}
 */
async function targetOf (names, { isOfStore }) {
  const [name] = names
  if (!names.length) return {}
  const mayBeFile = names.length === 1 && (!isOfStore || isNameOfFile(name))
  if (mayBeFile && await stat(name).then(() => true, () => false)) return { file: name }
  const references = names.map(text => {
    if (isNameOfFile(text)) throw new TilecouchError('SOURCE_NOT_FOUND', { value: text })
    return parseReference(text)
  })
  const timedReference = references.find(({ time }) => time !== undefined)
  if (timedReference && names.length > 1) refuse('WHAT', names.join(' '), 'a layer with a time is checked by itself')
  return { layers: references.map(({ layer }) => layer), time: timedReference?.time }
}

function checkTask ({ output }, { report: file, decode }, subject, settings) {
  if (file === '-' && output.json) refuse('--report', file, 'with --json standard output is for the result')
  const list = file === undefined ? undefined : new JsonLines(file, { stdout: output.stdout })
  if (file === '-') output.leaveStdout()
  return {
    unit: typeof subject === 'string' ? 'tiles' : 'versions',
    figures: ({ tiles, total, bytes: size, faults: faultCount, warnings, kinds }) =>
      ({ done: tiles, total, about: { bytes: size, faults: faultCount, warnings, kinds } }),
    run: onProgress => check(subject, {
      ...settings,
      onFinding: list && (finding => list.add(finding)),
      onProgress: output.json ? undefined : onProgress // undefined: tiles need not be counted
    }).finally(() => list?.close()),
    report (summary, seconds, ended) {
      const isNothing = summary.kind === 'store' && !summary.layers.length && !summary.faults && !summary.warnings
      return ended && isNothing ? undefined : checkLines(summary, { seconds, file, decode, ended })
    },
    isFaulty: summary => (summary.repair ?? summary).faults
  }
}

function checkLines (summary, { seconds, file, decode, ended }) {
  const { what, kind, layers, tiles, versions, faults: faultCount, warnings, kinds, checked, repair } = summary
  const readParts = [
    layers && plural(layers.length, 'layer'),
    plural(tiles, 'tile'),
    versions !== undefined && plural(versions, 'version'),
    bytes(summary.bytes)
  ]
  const rate = checked ? ` (${count(Math.round((checked.contents ?? tiles) / seconds))}/s)` : ''
  const repairable = Object.entries(kinds).reduce((sum, [code, number]) => sum + (faults[code].fix ? number : 0), 0)
  const counts = [plural(faultCount, 'fault'), plural(warnings, 'warning'), ...checkedWords(checked, decode)]
  return [
    `${what}${layers ? '' : ` (${kind})`}${ended}: ${linesOf(readParts).join(', ')} in ${duration(seconds)}${rate}`,
    `  ${ended ? 'so far ' : ''}${linesOf(counts).join(', ')}`,
    findingLines(summary, file, !repair),
    repair && repairLines(repair),
    !repair && repairable && kind === 'store' && [BLANK, `--fix repairs ${count(repairable)} of these.`]
  ]
}

/** What was checked, in words. */
const checkedWords = ({ decoded, gone, index } = /** @type {Record<string, any>} */ ({}), decode) => [
  decoded !== undefined && (decode ? `${count(decoded)} decoded` : 'none decoded'),
  gone && `${count(gone)} gone`,
  index !== undefined && (index ? 'time index compared' : 'no time index')
]

/** @param {import('../check/index.js').Repaired} repair */
function repairLines ({ repaired, remaining, faults: faultCount, warnings, named }) {
  const remainingCount = faultCount + warnings
  const sum = Object.values(repaired).reduce((total, number) => total + number, 0)
  const codes = Object.keys(remaining)
  return [
    BLANK,
    sum ? `${count(sum)} repaired:` : 'Nothing was repaired.',
    ...Object.entries(repaired).map(([code, number]) => `  ${code}: ${count(number)} ` +
      `(${faults[code].fix ?? 'taken from the mirror'})`),
    remainingCount ? `${plural(faultCount, 'fault')} and ${plural(warnings, 'warning')} left:` : 'Nothing is left.',
    ...named.slice(0, SHOWN).map(nameFinding),
    ...moreLine(remainingCount, SHOWN),
    codes.length && [BLANK, ...codes.map(code => `${code}: ${faults[code].advice ?? 'see docs/checking.md'}`)]
  ]
}

/** @param {import('../check/index.js').Finding & {reason?: string}} finding */
const nameFinding = ({ code, where, why, reason = why }) => `  ${code} ${where}${reason ? `: ${reason}` : ''}`

const RESOLVING = 'Resolving conflicts as they come. Ctrl-C ends it.'
const WHAT = { left: 'left as it is', refused: 'refused', unknown: 'image missing' }

/** --only conflicts */
function conflictsTask ({ output, signal }, { fix = false, live = false }, store, layers) {
  const progress = Object.assign(new ProgressLine(output, 'documents'), { isQuiet: live })
  const report = new LiveReport(output, progress, { complete: () => [RESOLVING] })
  let tally = { conflicts: 0, settled: 0, ended: 0 }
  return {
    unit: 'documents',
    progress,
    figures ({ conflicts, settled, ended, left = 0, refused = 0, unknown = 0 }) {
      const about = { only: 'conflicts', ended }
      return {
        done: conflicts + settled,
        failed: left + refused + unknown,
        about: live ? followed(report, { ...about, source: store.url }) : about
      }
    },
    run: onProgress => resolve(store, {
      layers,
      live,
      dryRun: !fix,
      signal,
      onState (change) {
        report.change(change)
        onProgress(tally)
      },
      onProgress (done) {
        tally = done
        if (live) report.news({ 'losing revisions deleted': done.ended })
        onProgress(done)
      }
    }),
    report: summary => [
      conflictWords(summary, !fix),
      summary.named.slice(0, SHOWN).map(({ id, what, reason }) => `  ${WHAT[what]}: ${id}: ${reason}`),
      moreLine(summary.left + summary.refused + summary.unknown, SHOWN)
    ],
    isFaulty: ({ left, refused, unknown }) => left + refused + unknown
  }
}

/** @param {import('../check/conflicts.js').ResolveSummary} summary @param {boolean} dryRun */
function conflictWords ({ conflicts, ended, past, contested, promoted, merged, settled }, dryRun) {
  const would = dryRun ? 'would be ' : ''
  return [
    conflicts
      ? `${plural(conflicts, 'document')} with conflicts: ${plural(ended, 'losing revision')} ${would}deleted`
      : 'No conflicts.',
    settled && `  ${plural(settled, 'tile')} ${would}brought in line with all statements`,
    past && `  ${plural(past, 'version')} ${would}copied to the past`,
    contested &&
      `  ${plural(contested, 'version')} ${would}moved to an earlier second, since another image has the same time`,
    promoted && `  ${plural(promoted, 'past version')} ${would}made the newest`,
    merged && `  ${plural(merged, 'document')} of layers, editions or the store ${would}merged`
  ]
}

/** --only upgrade */
const upgradeTask = ({ output, signal }, { fix = false }, store) => ({
  about: { only: 'upgrade' },
  run: () => upgrade(store, { dryRun: !fix, signal, onPush: pushReport(output, 'deployed') }),
  facts: () => ({ dryRun: !fix }),
  report: summary => upgradeLines(summary, store.url, fix)
})

function upgradeLines ({ from, to, steps, designs, skipped, unstated = 0 }, url, fix) {
  const outdated = designs.filter(({ action }) => action !== 'unchanged')
  const todo = fix ? '' : 'to do: '
  return [
    `${url}: schema ${from}, this tilecouch writes ${to}`,
    ...steps.map(({ name, does }) => `  ${todo}${name}: ${does}`),
    ...outdated.map(({ id, action, fields }) => `  ${todo}${id} ` +
      `(${action}${fields.length ? `: ${fields.join(', ')}` : ''})`),
    skipped && `  No design documents: ${skipped}. \`tilecouch push\` publishes it.`,
    unstated &&
      `  Without a manifest: ${plural(unstated, 'edition')}, made by an earlier program or on a device. Only ` +
        'their versions say what they found.',
    !(steps.length + outdated.length) && '  Nothing to do.'
  ]
}

/** A table of the kinds of findings, faults first; file: has all of them. */
function findingLines ({ faults: faultCount, warnings, kinds, examples }, file, hasAdvice) {
  const codes = Object.keys(faults).filter(code => kinds[code]).sort((a, b) => rank(a) - rank(b))
  if (!codes.length) return []
  const advice = hasAdvice ? codes.filter(code => faults[code].advice) : []
  const isCut = faultCount + warnings > codes.length
  return [
    BLANK,
    table(['', 'what', 'count', 'for example'], codes.map(code => {
      const { level, where, why } = examples[code]
      return [level, code, kinds[code], why ? `${where}: ${why}` : where]
    })),
    advice.length && [BLANK, advice.map(code => `${code}: ${faults[code].advice}`)],
    file && file !== '-' && [BLANK, `All of it is in ${file}.`],
    !file && isCut && [BLANK, 'All of it: --report FILE']
  ]
}

const rank = code => faults[code].level === 'fault' ? 0 : 1
