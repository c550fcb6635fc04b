// tilecouch check
import { TilecouchError, checkLayer } from '../../core/index.js'
import { check } from '../check.js'
import { repairs } from '../check/repairs.js'
import { resolveDatabase } from '../couchapp/environments.js'
import { openSource } from '../mirror/sides.js'
import { Store } from '../store/index.js'
import { faults } from '../verify/faults.js'
import { withPatientStore } from './connect.js'
import { FindingList, findingLines } from './findings.js'
import { bytes, count, duration, plural, secondsSince } from './output.js'
import { ProgressLine } from './progress.js'

const SHOWN = 20 // documents named; --json has more

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addCheckCommand (program, run) {
  program.command('check')
    .description('check a whole store: every layer, every version and its bytes, indexes and design documents; and mend what has one right answer')
    .option('--layer <names>', 'only these layers, separated by commas')
    .option('--repair', 'mend what has one right answer, and say of the rest what can be done')
    .option('--from <env|url>', 'with --repair: take bytes that are damaged here from this mirror, where they are what the document says')
    .option('--no-decode', 'look at the frame of every tile only, without decoding its pixels or features')
    .option('--list <file>', 'write everything that was found to this file, one JSON object a line')
    .addHelpText('after', `
Examples:
  tilecouch check --db production
  tilecouch check --layer osm,relief --no-decode
  tilecouch check --repair --list found.jsonl
  tilecouch check --repair --from http://mirror.example.org:5984/tiles

Without --repair it changes nothing: that is its dry run. Readers and loads go on meanwhile. The exit code is 0 if there is no
fault, or none left; warnings do not count. What is found, and what is done about it, is in docs/checking.md. The name and
password at --from are in TILECOUCH_FROM_USER and TILECOUCH_FROM_PASSWORD.`)
    .action(run(checkCommand))
}

async function checkCommand (context, options) {
  const { repair = false, from } = options
  if (from !== undefined && !repair) throw new TilecouchError('BAD_OPTION', { option: '--from', value: from, why: 'it goes with --repair' })
  const layers = options.layer?.split(',').map(name => checkLayer(name.trim()))
  return withPatientStore(context, options, async store => {
    const mirror = from === undefined ? undefined : await openMirror(from, store)
    return checkStore(context, options, store, { layers, repair, from: mirror, decode: options.decode, signal: context.signal })
  })
}

async function openMirror (from, store) {
  const mirror = new Store(openSource(await resolveDatabase(from, { side: 'TILECOUCH_FROM' }) ?? from, { retries: 3 }))
  await mirror.recognise()
  if (mirror.url === store.url) throw new TilecouchError('SAME_DATABASE', { url: mirror.url, where: store.url })
  return mirror
}

async function checkStore ({ output }, { list: file }, store, settings) {
  const progress = new ProgressLine(output)
  const started = performance.now()
  const list = file === undefined ? undefined : new FindingList(file)
  const ended = (summary, how) => {
    progress.end()
    if (summary && (!how || summary.layers.length || summary.faults + summary.warnings)) show(output, summary, secondsSince(started), file, how)
  }
  try {
    const summary = await check(store, {
      ...settings,
      onFinding: list && (finding => list.add(finding)),
      onProgress: ({ layer, tiles, bytes: size, faults: wrong, warnings }) => progress.draw(tiles, undefined, rate => [
        layer, bytes(size), `${count(Math.round(rate))}/s`, ...(wrong ? [plural(wrong, 'fault')] : []), ...(warnings ? [plural(warnings, 'warning')] : [])
      ])
    })
    ended(summary)
    return (summary.repair ?? summary).faults ? 1 : 0
  } catch (error) {
    ended(error.summary, error.code === 'ABORTED' ? 'stopped' : 'given up')
    throw error
  } finally {
    list?.close()
  }
}

/** @param {import('./output.js').Output} output @param {import('../check.js').CheckReport} summary */
function show (output, summary, seconds, list, ended) {
  const { layers, tiles, versions, bytes: size, faults: wrong, warnings, kinds, repair } = summary
  const mendable = Object.entries(kinds).filter(([code]) => repairs[code]).reduce((sum, [, number]) => sum + number, 0)
  output.result({ ...summary, seconds }, [
    `${summary.store}${ended ? ` (${ended})` : ''}: ${plural(layers.length, 'layer')}, ${plural(tiles, 'tile')}, ${plural(versions, 'version')}, ${bytes(size)} in ${duration(seconds)}`,
    `  ${ended ? 'so far ' : ''}${plural(wrong, 'fault')}, ${plural(warnings, 'warning')}`,
    ...findingLines(summary, { list, advise: !repair }),
    ...(repair ? repairLines(repair) : mendable ? ['', `--repair mends ${count(mendable)} of these.`] : [])
  ])
}

/** @param {import('../check.js').Repaired} repair */
function repairLines ({ repaired, remaining, faults: wrong, warnings, named }) {
  const left = wrong + warnings
  const sum = Object.values(repaired).reduce((total, number) => total + number, 0)
  const codes = Object.keys(remaining)
  return [
    '',
    sum ? `${count(sum)} mended:` : 'Nothing was mended.',
    ...Object.entries(repaired).map(([code, number]) => `  ${code}: ${count(number)} (${repairs[code]?.does ?? 'taken from the mirror'})`),
    left ? `${plural(wrong, 'fault')} and ${plural(warnings, 'warning')} left:` : 'Nothing is left.',
    ...named.slice(0, SHOWN).map(({ code, where, why, reason }) => `  ${code} ${where}${reason || why ? `: ${reason ?? why}` : ''}`),
    ...(left > SHOWN ? [`  and ${count(left - SHOWN)} more`] : []),
    ...(codes.length ? ['', ...codes.map(code => `${code}: ${faults[code].advice ?? 'see docs/checking.md'}`)] : [])
  ]
}
