// tilecouch load --dated: sources with times in their names, each as an edition.
import { loadSet, openSet } from '../load/set.js'
import { countLines, failureLines, loadFigures, rates, spentSince, warningLines } from './load-report.js'
import { fillStore } from './new-store.js'
import { bytes, count, countWords, duration, plural, secondsSince, table } from './output.js'
import { CountingProgress, countSource } from './progress.js'
import { howEnded } from './task.js'

const SHOWN_NAMES = 5 // of files in a dated set that hold no tiles

/** @param {import('./program.js').Context} context */
export async function loadDatedSet (context, options, names, { settings, selection }) {
  const { output } = context
  const set = await openSet(names, { ...selection, onProblem: error => output.note(`Also: ${error.message}`) })
  const { length } = set.members
  announceSet(output, set)
  if (options.dryRun) return showSet(output, settings.layer, set)
  const about = { command: 'load', layer: settings.layer, unit: 'tiles', about: { sources: length } }
  return fillStore(context, options, about, async (store, url, work) => {
    const started = performance.now()
    let progress = new CountingProgress(output, undefined)
    let began = started
    const told = new Set()
    try {
      const result = await loadSet(store, set, {
        ...settings,
        onBegin: (member, index, source) => {
          began = performance.now()
          work.show({ edition: member.time, about: { source: index + 1 } })
          const title = `${count(index + 1)} of ${count(length)}, ${plain(member.name)}`
          progress = new CountingProgress(output, countSource(source), title)
        },
        onFirstTiles ({ warnings }) {
          const others = warnings.filter(({ code }) => !told.has(code)) // each edition has its own at its end
          for (const { code } of others) told.add(code)
          if (others.length) output.note(others.map(warningLines))
        },
        onProgress (summary) {
          const figures = loadFigures(summary, progress.total)
          progress.drawFigures(figures)
          work.show(figures)
        },
        onEdition: edition => {
          progress.end()
          printEdition(output, edition, secondsSince(began))
        }
      })
      work.show({ ...loadFigures(result), edition: undefined })
      const written = performance.now()
      return { result, report: ended => reportSet(output, result, { started, written, ended, of: length }) }
    } catch (error) {
      progress.end()
      if (error.summary) reportSet(output, error.summary, { started, ended: howEnded(error), of: length })
      throw error
    }
  })
}

/** File names may contain anything; some of it controls a terminal. */
const plain = text => text.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd')

function announceSet (output, { members, passedOver }) {
  output.note(`${plural(members.length, 'source')}, from ${members[0].time} to ${members.at(-1).time}`)
  if (!passedOver.length) return
  const more = passedOver.length - SHOWN_NAMES
  const named = passedOver.slice(0, SHOWN_NAMES).map(plain).join(', ')
  output.note(`Skipped, not tiles: ${named}${more > 0 ? ` and ${count(more)} more` : ''}`)
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

/** The result of loadSet, or what it did until it ended; of: editions to load. */
function reportSet (output, result, /** @type {any} */ { started, written, ended, of }) {
  const spent = spentSince(started, ended ? undefined : written)
  const { layer, editions, tiles } = result
  const skipped = editions.filter(edition => edition.skipped).length
  const title = ended
    ? `${layer} (${ended}): ${count(editions.length)} of ${plural(of, 'edition')}`
    : `${layer}: ${plural(editions.length, 'edition')}`
  const before = skipped ? `${count(skipped)} loaded before, ` : ''
  output.result({ ...result, ...spent }, !ended && skipped === editions.length ? [`${title}, all loaded before`] : [
    `${title}, ${before}${rates(tiles, spent)}`,
    ...countLines(result),
    result.failed && `  ${count(result.failed)} failed`,
    ended && '  Run it again to continue.'
  ])
}
