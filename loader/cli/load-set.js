// tilecouch load --dated
import { loadSet, openSet } from '../set.js'
import { countLines, failureLines, rate, warningLines } from './load-report.js'
import { bytes, count, duration, plural, secondsSince } from './output.js'
import { Progress } from './progress.js'

const SHOWN_FAILURES = 5 // lines of each edition; --json has more
const SHOWN_NAMES = 5 // of what lies among the sources and is none

/**
 * @param {import('./program.js').Context} context
 * @param {any} options
 * @param {string[]} names
 * @param {{settings: any, selection: any, filled: (context: any, options: any, action: any) => Promise<number>}} how
 */
export async function loadDatedSet (context, options, names, { settings, selection, filled }) {
  const { output } = context
  const set = await openSet(names, { ...selection, onProblem: error => output.note(`Also: ${error.message}`) })
  announceSet(output, set)
  return filled(context, options, async store => {
    const started = performance.now()
    /** @type {Progress | undefined} */
    let progress
    let began = started
    try {
      const result = await loadSet(store, set, {
        ...settings,
        onBegin: (member, index, source) => {
          began = performance.now()
          progress = new Progress(output, source, `${index + 1}/${set.members.length} ${plain(member.name)}`)
        },
        onProgress: (summary, tuner) => progress?.show(summary, tuner),
        onEdition: edition => {
          progress?.end()
          sayEdition(output, edition, secondsSince(began))
        }
      })
      return { result, report: () => reportSet(output, result, { started }) }
    } catch (error) {
      progress?.end()
      if (error.summary) reportSet(output, error.summary, { started, ended: error.code === 'ABORTED' ? 'stopped' : 'failed', of: set.members.length })
      throw error
    }
  })
}

/** Names of files hold whatever their makers liked; a terminal obeys some of it. */
const plain = text => text.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd')

function announceSet (output, { members, passedOver }) {
  output.note(`${plural(members.length, 'source')}, from ${members[0].time} to ${members.at(-1).time}`)
  if (!passedOver.length) return
  const more = passedOver.length - SHOWN_NAMES
  output.note(`Passed over, since they are no tiles: ${passedOver.slice(0, SHOWN_NAMES).map(plain).join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`)
}

/**
 * @param {import('./output.js').Output} output
 * @param {any} edition
 * @param {number} seconds
 */
function sayEdition (output, { time, name, skipped, ...result }, seconds) {
  const begin = `${time}  ${plain(name)}: `
  if (skipped) return output.line(`${begin}loaded before`)
  const parts = [
    `${count(result.created)} new`, `${count(result.advanced)} changed`, ...(result.backfilled ? [`${count(result.backfilled)} into the past`] : []),
    ...(result.gone ? [`${count(result.gone)} of them gone`] : []), `${count(result.unchanged)} unchanged`, ...(result.failed ? [`${count(result.failed)} failed`] : [])
  ]
  output.line(`${begin}${plural(result.tiles, 'tile')} in ${duration(seconds)}: ${parts.join(', ')} (${bytes(result.bytes)})`)
  for (const line of [...failureLines(result, SHOWN_FAILURES), ...(result.warnings ?? []).flatMap(warningLines)]) output.line(line)
}

/**
 * @param {import('./output.js').Output} output
 * @param {any} result of loadSet, or as far as it came
 * @param {{started: number, ended?: string, of?: number}} how of: editions there were to load
 */
function reportSet (output, result, { started, ended, of = 0 }) {
  const seconds = secondsSince(started)
  const skipped = result.editions.filter(edition => edition.skipped).length
  const title = ended ? `${result.layer} (${ended}): ${count(result.editions.length)} of ${plural(of, 'edition')}` : `${result.layer}: ${plural(result.editions.length, 'edition')}`
  output.result({ ...result, seconds }, !ended && skipped === result.editions.length ? [`${title}, all of them loaded before`] : [
    `${title}, ${skipped ? `${count(skipped)} of them loaded before, ` : ''}${plural(result.tiles, 'tile')} in ${duration(seconds)} (${rate(result.tiles, seconds)}/s)`,
    ...countLines(result),
    ...(result.failed ? [`  ${count(result.failed)} failed`] : []),
    ...(ended ? ['  Run it again: it goes on.'] : [])
  ])
}
