// tilecouch load --dated: sources with times in their names, each as an edition.
import { checkDiffs, loadSet, openSet } from '../load/set.js'
import { countLines, failureLines, loadFigures, rates, warningLines } from './load-report.js'
import { fillStore } from './new-store.js'
import { bytes, count, countWords, duration, plural, secondsSince, table } from './output.js'
import { CountingProgress, countSource } from './progress.js'

const SHOWN_NAMES = 5 // of files in a dated set that hold no tiles

/** @param {import('./program.js').Context} context */
export async function loadDatedSet (context, options, names, { settings, selection }) {
  const { output } = context
  const set = await openSet(names, { ...selection, onProblem: error => output.note(`Also: ${error.message}`) })
  checkDiffs(set, settings.complete)
  const { length } = set.members
  announceSet(output, set)
  if (options.dryRun) return showSet(output, settings.layer, set)
  const progress = new CountingProgress(output)
  let began = 0
  const reportedCodes = new Set()
  return fillStore(context, options, {
    command: 'load',
    layer: settings.layer,
    unit: 'tiles',
    about: { sources: length },
    progress,
    figures: loadFigures,
    async run ({ store, onProgress, work }) {
      const result = await loadSet(store, set, {
        ...settings,
        onBegin (member, index, source) {
          began = performance.now()
          work.show({ edition: member.time, about: { source: index + 1 } })
          progress.count(countSource(source), `${count(index + 1)} of ${count(length)}, ${plain(member.name)}`)
        },
        onFirstTiles ({ warnings }) {
          const newWarnings = warnings.filter(({ code }) => !reportedCodes.has(code)) // each edition lists its own
          for (const { code } of newWarnings) reportedCodes.add(code)
          if (newWarnings.length) output.note(newWarnings.map(warningLines))
        },
        onProgress,
        onEdition (edition) {
          progress.end()
          printEdition(output, edition, secondsSince(began))
        }
      }).finally(() => { progress.total = undefined }) // the total of the last source
      work.show({ edition: undefined, total: undefined })
      return result
    },
    report: (result, seconds, ended) => setLines(result, { seconds, ended, of: length })
  })
}

/** File names may contain anything; some of it controls a terminal. */
const plain = text => text.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd')

function announceSet (output, { members, passedOver }) {
  output.note(`${plural(members.length, 'source')}, from ${members[0].time} to ${members.at(-1).time}`)
  if (!passedOver.length) return
  const more = passedOver.length - SHOWN_NAMES
  const shownNames = passedOver.slice(0, SHOWN_NAMES).map(plain).join(', ')
  output.note(`Skipped, not tiles: ${shownNames}${more > 0 ? ` and ${count(more)} more` : ''}`)
}

/** With --dry-run. */
function showSet (output, layer, { members, passedOver }) {
  const editions = members.map(({ path, time }) => ({ time, source: path }))
  output.result({ layer, editions, passedOver, dryRun: true }, [
    `Would load ${plural(members.length, 'edition')} of ${layer}:`,
    ...table(['time', 'source'], editions.map(({ time, source }) => [time, plain(source)])).map(line => `  ${line}`),
    'Nothing was changed.'
  ])
}

function printEdition (output, { time, name, skipped, ...result }, seconds) {
  const begin = `${time}  ${plain(name)}: `
  if (skipped) return output.line(`${begin}loaded before`)
  const parts = [
    `${count(result.created)} new`, `${count(result.advanced)} changed`,
    ...countWords({ 'into the past': result.backfilled, 'of them gone': result.gone }),
    `${count(result.unchanged)} unchanged`, ...countWords({ 'encoded anew': result.reencoded, failed: result.failed })
  ]
  output.line(`${begin}${plural(result.tiles, 'tile')} in ${duration(seconds)}: ${parts.join(', ')} ` +
    `(${bytes(result.bytes)})`)
  const warnings = (result.warnings ?? []).map(warningLines)
  output.line(failureLines({ .../** @type {any} */ (result), time }), warnings)
}

/** Describes the result of loadSet, or its work until it was stopped or failed; of: number of editions to load. */
function setLines (result, { seconds, ended, of: total }) {
  const { layer, editions } = result
  const skipped = editions.filter(edition => edition.skipped).length
  const loaded = ended ? `${count(editions.length)} of ${plural(total, 'edition')}` : plural(editions.length, 'edition')
  const title = `${layer}${ended}: ${loaded}`
  if (!ended && skipped === editions.length) return [`${title}, all loaded before`]
  return [
    `${title}, ${skipped ? `${count(skipped)} loaded before, ` : ''}${rates(result, seconds)}`,
    ...countLines(result),
    result.failed && `  ${count(result.failed)} failed`,
    ended && '  Run it again to continue.'
  ]
}
