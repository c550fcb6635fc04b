// tilecouch remove
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { checkLayer, endOf, parseTilePath, startOf } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { compact } from '../compact.js'
import { openRegular } from '../regular-file.js'
import { removeEdition, removeLayer, removeTiles } from '../remove/index.js'
import { withPatientStore } from './connect.js'
import { areaIfAny, zoomsOf } from './options.js'
import { bytes, count, diskWords, plural, secondsSince } from './output.js'
import { ProgressLine } from './progress.js'

const SHOWN = 20 // documents named; --json has more
const WHEN = { auto: 'worth', always: 'always', never: 'never' }

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addRemoveCommand (program, run) {
  program.command('remove')
    .description('remove tiles of a layer, versions of a time, an edition or the whole layer')
    .argument('<layer>')
    .option('--bbox <w,s,e,n>', 'tiles that touch this box, in degrees')
    .option('--polygon <file>', 'tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('-z, --zoom <a-b>', 'tiles of these zooms')
    .option('--tiles <file>', 'the tiles of this list, a z/x/y a line; - reads standard input')
    .option('--since <time>', 'of those tiles, versions from this time on; 2024-03 is the start of that month')
    .option('--until <time>', 'of those tiles, versions up to this time; 2024-03 is the end of that month')
    .option('--edition <time>', 'an edition: every version of its time. Tiles show again what they showed before')
    .option('--all', 'the whole layer, with its editions and its document')
    .option('--purge', 'leave nothing of what is deleted, not even that it was (CouchDB only, as an admin of the server)')
    .option('--compact <when>', 'give back the disk: auto (when there is enough to be had), always or never', 'auto')
    .option('-n, --dry-run', 'only say what would go')
    .addHelpText('after', `
What is removed from a store cannot be had back. Caches, mirrors, trees and devices that follow the store hear of it;
of a purge nobody hears, so that it comes a few seconds after the deletion. See docs/removing.md.

Examples:
  tilecouch remove osm --edition 2024-03-01 --dry-run
  tilecouch remove osm --bbox 5.9,45.8,10.5,47.8 --zoom 15-18
  tilecouch remove osm --until 2019
  tilecouch remove osm --tiles wrong.txt
  tilecouch remove osm --all --purge --compact always`)
    .action(run(removeCommand))
}

async function removeCommand (context, options, layer) {
  const { output, signal } = context
  checkLayer(layer)
  const { dryRun = false, purge = false } = options
  const when = WHEN[options.compact]
  if (!when) throw new TilecouchError('BAD_OPTION', { option: '--compact', value: options.compact, why: 'it is auto, always or never' })
  const which = await whichOf(options)
  return withPatientStore(context, options, async store => {
    const started = performance.now()
    const remove = await removalOf(store, layer, which)
    const plan = await remove({ dryRun: true, purge, signal })
    output.note(`${dryRun ? 'Would remove' : 'Removing'} from ${layer}: ${sums(plan)}`)
    if (dryRun) {
      output.result({ ...plan, dryRun }, plan.editions ? [`  with ${plural(plan.editions, 'edition document')}`] : [])
      return 0
    }
    if (purge && plan.heads + plan.fallen) output.note('Heads are purged: a mirror that does not hear of it in the next seconds keeps what it has, and is to be purged as well. See docs/removing.md.')
    const progress = new ProgressLine(output)
    let summary
    try {
      summary = await remove({ purge, signal, onProgress: tally => progress.draw(tally.tiles, plan.tiles, rate => [`${count(tally.versions)} versions`, `${count(Math.round(rate))}/s`]) })
    } finally {
      progress.end()
    }
    const compaction = summary.versions ? await compact(store, { when, signal, onProgress: ({ file }) => progress.draw(0, undefined, () => [`compacting: ${bytes(file)}`]) }) : undefined
    progress.end()
    output.result({ ...summary, ...(compaction && { compaction }), seconds: secondsSince(started) }, [...words(summary), ...diskWords(compaction, when)])
    return summary.changed + summary.refused ? 1 : 0
  })
}

/** What was asked for, checked: exactly one kind of it. */
async function whichOf (options) {
  const { edition, all, tiles, since, until } = options
  const area = await areaIfAny(options)
  const zooms = zoomsOf(options.zoom)
  const some = Boolean(area || zooms || tiles !== undefined || since !== undefined || until !== undefined)
  const clash = (option, why) => { throw new TilecouchError('BAD_OPTION', { option, value: options[option.slice(2)] ?? true, why }) }
  if (all && (some || edition !== undefined)) clash('--all', 'it is the whole layer: nothing else goes with it')
  if (edition !== undefined && some) clash('--edition', 'it goes whole: nothing else goes with it')
  if (tiles !== undefined && (area || zooms)) clash('--tiles', 'it names the tiles: no area and no zooms go with it')
  if (!all && !some && edition === undefined) throw new TilecouchError('BAD_OPTION', { option: '--all', value: false, why: 'say what is to go: --bbox, --polygon, --zoom, --tiles, --since, --until, --edition or --all' })
  for (const [option, time] of [['--since', since], ['--until', until]]) if (time !== undefined && !time) clash(option, 'it is no time')
  if (since !== undefined && until !== undefined && startOf(since) > endOf(until)) clash('--until', 'it is before --since')
  return { all, edition, file: tiles, area, zooms, since, until }
}

/** @returns {Promise<(options: import('../remove/remover.js').RemoverOptions) => Promise<any>>} */
async function removalOf (store, layer, { all, edition, file, area, zooms, since, until }) {
  if (all) return options => removeLayer(store, layer, options)
  if (edition !== undefined) {
    const time = await editionOf(store, layer, edition)
    return options => removeEdition(store, layer, time, options)
  }
  const named = file === undefined ? undefined : await readTiles(file)
  return options => removeTiles(store, layer, { area, zooms, only: named, since, until, ...options })
}

/** The one edition of a period; without a document of it, its start. */
async function editionOf (store, layer, written) {
  const [start, end] = [startOf(written), endOf(written)]
  // what the layer says of itself need not be valid for that
  await store.layer(layer).catch(error => { if (error.code !== 'BAD_DOCUMENT') throw error })
  const times = (await store.editions(layer)).map(({ time }) => time).filter(time => time >= start && time <= end)
  if (times.length > 1) throw new TilecouchError('BAD_OPTION', { option: '--edition', value: written, why: `there are ${count(times.length)} then, such as ${times[0]} and ${times[1]}: name one, or say --since and --until` })
  return times[0] ?? start
}

/** Tiles of a list; a few hundred bytes each, so that what is removed is what was announced. */
async function readTiles (file) {
  const tiles = []
  try {
    const lines = createInterface({ input: file === '-' ? process.stdin : createReadStream(file, { fd: openRegular(file) }), crlfDelay: Infinity })
    for await (const line of lines) {
      const text = line.replace(/#.*/, '').trim()
      if (text) tiles.push(parseTilePath(text))
    }
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    throw error.code === 'ENOENT' ? new TilecouchError('SOURCE_NOT_FOUND', { value: file }) : new TilecouchError('SOURCE_UNREADABLE', { value: file, why: error.message })
  }
  if (!tiles.length) throw new TilecouchError('SOURCE_EMPTY', { value: file })
  return tiles
}

/** @param {import('../remove/remover.js').Removed} tally */
const sums = ({ tiles, versions, bytes: size, fallen }) =>
  `${plural(versions, 'version')} of ${plural(tiles, 'tile')}, ${bytes(size)}${fallen ? `; ${plural(fallen, 'tile')} fall${fallen === 1 ? 's' : ''} back to the version before` : ''}`

/** @param {import('../remove/remover.js').Removed & {editions: number, left?: number}} summary */
const words = summary => [
  `Removed ${sums(summary)}`,
  ...(summary.editions ? [`  with ${plural(summary.editions, 'edition document')}`] : []),
  ...(summary.purged ? [`  ${plural(summary.purged, 'deletion')} purged`] : []),
  ...(summary.left ? [`  ${plural(summary.left, 'document')} under its name left: they are no tiles`] : []),
  ...(summary.changed ? [`  ${plural(summary.changed, 'document')} written by somebody else meanwhile: run it again`] : []),
  ...(summary.refused ? [`  ${plural(summary.refused, 'document')} refused`] : []),
  ...summary.named.slice(0, SHOWN).map(({ id, reason }) => `    ${id}: ${reason}`)
]
