// tilecouch remove
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { checkLayer, endOf, parseTilePath, startOf, styleId } from '../../core/index.js'
import { recordActivity, removedFields } from '../store/activity.js'
import { TilecouchError } from '../errors.js'
import { compactAfter } from '../maintain/compact.js'
import { openRegular } from '../formats/files.js'
import { sourceError } from '../formats/reading.js'
import { removeEdition, removeLayer, removeStyle, removeTiles } from '../maintain/remove/index.js'
import { confirmation } from './passwords.js'
import { withPatientStore } from './store.js'
import { areaOptions, partOf, refuse } from './options.js'
import { byCause, bytes, count, diskWords, linesOf, plural } from './output.js'
import { IndexProgress, ProgressLine } from './progress.js'
import { runTask } from './task.js'

const PARTS = ['--bbox', '--polygon', '--zoom', '--since', '--until']
const PURGE_NOTE = 'Heads are purged: a mirror that does not hear of it in the next seconds keeps them and must be ' +
  'purged as well. See docs/removing.md.'

/** @type {import('./command.js').Declaration} */
export const removeCommand = {
  arguments: ['<layer>'],
  options: [
    ...areaOptions,
    ['--tiles <file>', 'the tiles of this list, a z/x/y a line; - reads standard input'],
    '--since <time>', '--until <time>',
    ['--edition <time>', 'an edition: every version of its time; tiles show again what they showed before'],
    '--style <time>', '--all', '--purge',
    ['--compact <when>', '', { default: 'auto' }],
    '-n, --dry-run', '--yes'
  ],
  excludes: [
    ['--style', [...PARTS, '--tiles', '--edition', '--all'], 'it is a whole style: leave out other options'],
    ['--all', [...PARTS, '--tiles', '--edition'], 'it is the whole layer: leave out other options'],
    ['--edition', [...PARTS, '--tiles'], 'it is the whole edition: leave out other options'],
    ['--tiles', ['--bbox', '--polygon', '--zoom'], 'it names the tiles: leave out areas and zooms']
  ],
  help: `Examples:
  tilecouch remove osm --edition 2024-03-01 --dry-run
  tilecouch remove osm --bbox 5.9,45.8,10.5,47.8 --zoom 15-18
  tilecouch remove osm --all --purge --compact always --yes

What is removed cannot be restored: at a terminal the command asks for the name of the layer, elsewhere it needs --yes.
See docs/removing.md.`,
  run: runRemove
}

async function runRemove (context, options, layer) {
  const { output, signal } = context
  checkLayer(layer)
  const { dryRun = false, purge = false } = options
  if (options.style !== undefined) return removeStyleCommand(context, options, layer)
  const parts = await partsOf(options)
  const confirm = confirmation(context, options, layer, { isPiped: options.tiles === '-' })
  return withPatientStore(context, options, async store => {
    const { edition } = parts
    const selection = { ...parts, edition: edition === undefined ? undefined : await editionOf(store, layer, edition) }
    const remove = await removalOf(store, layer, selection)
    const progress = new ProgressLine(output, 'tiles', { title: 'Counting' })
    const drawCounts = ({ tiles, versions }) => progress.draw(tiles, undefined, () => [plural(versions, 'version')])
    const plan = await remove({ dryRun: true, purge, signal, onProgress: drawCounts }).finally(() => progress.end())
    output.note(`${dryRun ? 'Would remove' : 'Removing'} from ${layer}: ${sumWords(plan)}`)
    if (plan.unpurged) output.note(`To be purged as well: ${plural(plan.unpurged, 'deletion')} of an earlier removal`)
    if (dryRun) {
      output.result({ ...plan, dryRun }, [plan.editions && `  with ${plural(plan.editions, 'edition document')}`])
      return 0
    }
    if (purge && plan.heads + plan.fallen) output.note(PURGE_NOTE)
    if (selection.all || plan.versions + plan.editions) await confirm()
    progress.restart('Removing')
    return runTask(context, undefined, {
      progress,
      figures: ({ tiles, versions }) => ({ done: tiles, total: plan.tiles, about: { versions } }),
      run: async onProgress => {
        const summary = await remove({ purge, signal, onProgress })
        await recordActivity(store.couch, 'remove', removalChange(layer, selection, summary))
        if (!summary.versions) return summary
        const onCompact = new IndexProgress(output).show
        return { ...summary, ...await compactAfter(store, options.compact, summary.versions, { signal, onCompact }) }
      },
      report: summary => [removedLines(summary), diskWords(summary.compaction)],
      isFaulty: summary => summary.changed + summary.refused
    })
  })
}

async function removeStyleCommand (context, options, layer) {
  const { output, signal } = context
  const { style, dryRun = false, purge = false } = options
  const confirm = confirmation(context, options, layer)
  return withPatientStore(context, options, async store => {
    const time = onlyTime('style', style, await store.styles(layer)) // an invalid style is removed as well
    if (!await store.couch.get(styleId(layer, time))) {
      throw new TilecouchError('STYLE_NOT_FOUND', { layer, time: style })
    }
    output.note(`${dryRun ? 'Would remove' : 'Removing'} the style ${layer}@${time}`)
    if (dryRun) return void output.result({ layer, time, dryRun }, [])
    await confirm()
    const summary = await removeStyle(store, layer, time, { purge, signal })
    const { styles, refused, changed, named: examples } = summary
    const change = /** @type {const} */ ({ what: 'style', done: 'removed', layer, edition: time })
    await recordActivity(store.couch, 'remove', styles > 0 && change)
    output.result({ layer, time, ...summary }, [
      styles && `Removed the style ${layer}@${time}`,
      examples.map(({ id, reason }) => `${id}: ${reason}`)
    ])
    return refused + changed ? 1 : 0
  })
}

/** @returns {import('../../core/activity.js').Change | undefined} undefined: nothing was removed */
function removalChange (layer, { all, edition }, { tiles, versions, editions }) {
  const fields = removedFields({ tiles, versions, editions })
  if (all) return { what: 'layer', done: 'removed', layer, fields }
  if (!versions && !editions) return undefined
  return edition === undefined
    ? { what: 'layer', done: 'changed', layer, fields }
    : { what: 'edition', done: 'removed', layer, edition, fields }
}

/** The parts of the layer to remove; refuses options that name none. */
async function partsOf (options) {
  const { edition, all, tiles, since, until } = options
  const { area, zooms } = await partOf(options)
  const hasPart = Boolean(area || zooms || tiles !== undefined || since !== undefined || until !== undefined)
  if (!all && !hasPart && edition === undefined) {
    const why = 'name it with --bbox, --polygon, --zoom, --tiles, --since, --until, --edition, --style or --all'
    refuse('what to remove', undefined, why)
  }
  for (const [option, time] of [['--since', since], ['--until', until]]) {
    if (time === '') refuse(option, time, 'it is no time')
  }
  if (since !== undefined && until !== undefined && startOf(since) > endOf(until)) {
    refuse('--until', until, 'it is before --since')
  }
  return { all, edition, file: tiles, area, zooms, since, until }
}

/** @returns {Promise<(options: import('../maintain/remove/remover.js').RemoverOptions) => Promise<any>>} */
async function removalOf (store, layer, { all, edition, file, area, zooms, since, until }) {
  if (all) return options => removeLayer(store, layer, options)
  if (edition !== undefined) return options => removeEdition(store, layer, edition, options)
  const tiles = file === undefined ? undefined : await readTileList(file)
  return options => removeTiles(store, layer, { area, zooms, only: tiles, since, until, ...options })
}

async function editionOf (store, layer, period) {
  // the document of the layer need not be valid
  await store.layer(layer).catch(error => { if (error.code !== 'BAD_DOCUMENT') throw error })
  return onlyTime('edition', period, await store.editions(layer), ', or use --since and --until')
}

/** The time of the only edition or style in a period; the start of the period if there is none. */
function onlyTime (kind, period, docs, alternative = '') {
  const [start, end] = [startOf(period), endOf(period)]
  const times = docs.map(({ time }) => time).filter(time => time >= start && time <= end)
  if (times.length > 1) {
    const examples = `${count(times.length)} ${kind}s, such as ${times[0]} and ${times[1]}`
    refuse(`--${kind}`, period, `there are ${examples}: name one${alternative}`)
  }
  return times[0] ?? start
}

/** Reads a list of tiles. It is kept in memory, so that exactly the announced tiles are removed. */
async function readTileList (file) {
  const tiles = []
  try {
    const input = file === '-' ? process.stdin : createReadStream(file, { fd: openRegular(file) })
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      const text = line.replace(/#.*/, '').trim()
      if (text) tiles.push(parseTilePath(text))
    }
  } catch (error) {
    throw sourceError(file, error)
  }
  if (!tiles.length) throw new TilecouchError('SOURCE_EMPTY', { value: file })
  return tiles
}

/** @param {import('../maintain/remove/remover.js').Removed} tally */
const sumWords = ({ tiles, versions, bytes: size, fallen }) => linesOf([
  `${plural(versions, 'version')} of ${plural(tiles, 'tile')}, ${bytes(size)}`,
  fallen && `${plural(fallen, 'tile')} fall${fallen === 1 ? 's' : ''} back to the version before`
]).join('; ')

/** @param {import('../maintain/remove/remover.js').Removed & {editions: number, left?: number}} summary */
const removedLines = summary => [
  `Removed ${sumWords(summary)}`,
  summary.editions && `  with ${plural(summary.editions, 'edition document')}`,
  summary.purged && `  ${plural(summary.purged, 'deletion')} purged`,
  summary.left && `  ${plural(summary.left, 'document')} under its name left: they are no tiles`,
  summary.changed && `  ${plural(summary.changed, 'document')} written by another program meanwhile: run it again`,
  summary.refused && `  ${plural(summary.refused, 'document')} refused`,
  ...byCause(summary.named, summary.changed + summary.refused)
]
