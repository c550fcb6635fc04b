// tilecouch load
import path from 'node:path'
import { checkLayer, isInWebMercator, parseReference, startOf } from '../../core/index.js'
import { attempt } from '../../core/values.js'
import { resolveDatabase } from '../couchapp/environments.js'
import { timeInName } from '../load/dated.js'
import { load } from '../load/index.js'
import { emptySource, isEmpty } from '../load/source-checks.js'
import { checkSame } from '../load/same.js'
import { estimate } from '../load/seed/plan.js'
import { isUrl, openSource } from '../load/sources/index.js'
import { withDatabase, withStore } from './store.js'
import { loadFigures, loadLines, timeWords, warningLines, whereLines } from './load-report.js'
import { loadDatedSet } from './load-set.js'
import { fillStore, openExisting } from './new-store.js'
import { partOf, refuse } from './options.js'
import { CountingProgress, ReadingProgress, announce, countSource } from './progress.js'
import { askingOf, readUpstream } from './upstream.js'
import { planLoad } from '../load/plan.js'
import { boxWords, count, plural, table } from './output.js'

/** @type {import('./command.js').Declaration} */
export const loadCommand = {
  arguments: [['[source...]', 'a folder, an .mbtiles, a .pmtiles or an address (docs/sources.md)']],
  options: [
    ['-l, --layer <name>', '', { required: true }],
    ['-t, --time <time>', '', { parse: startOf }], '--title <text>', '--ttl <duration>',
    '-z, --zoom <a-b>', '--bbox <w,s,e,n>', '--polygon <file>', '--scheme <scheme>', '--grid <name|file>',
    ['--matrix-set <name>', 'of a WMTS whose layer has several tile matrix sets'],
    '--private', '-n, --dry-run',
    ['--complete', 'the source has every tile of these zooms and this area: tiles that it lacks become "gone"'],
    '--same <how>',
    ['--any-size', 'accept tiles with another number of pixels than the layer has'],
    ['--dated', 'the names of the sources contain times: load each source as the edition of its time'],
    ['--source-layer <layer[@time]>', 'layer of a WMTS, of another store or, without a source, of this one'],
    ['--id-template <template>', 'from a CouchDB of MapProxy: its document ids (docs/sources.md)'],
    '--upstream <file|url>', '--rate <n/s>', '--concurrency <n>', '--contact <text>', '--upstream-networks <list>',
    '--i-have-permission',
    ['--batch <n>', 'documents per request to the store (default: tuned automatically)', { digits: 6 }],
    ['--store-concurrency <n>', 'requests to the store at a time (default: tuned automatically)', { digits: 6 }]
  ],
  excludes: [['--dated', ['--time', '--upstream', '--source-layer', '--id-template']]],
  help: `Examples:
  tilecouch load tiles/ --layer osm --time 2024-03-01 --title "Spring survey"
  tilecouch load surveys/*.mbtiles --layer town --dated --complete
  tilecouch load https://example.org/planet.pmtiles --layer osm --bbox 5.9,45.8,10.5,47.8 --zoom 0-14

Run a load that was stopped again, with the same --time: it skips what is
already there. The exit code is 0 only if every tile was stored.`,
  run: runLoad
}

async function runLoad (context, options, names) {
  const layer = checkLayer(options.layer)
  const { time, title, ttl, complete, anySize, same, batch, storeConcurrency: concurrency } = options
  const { scheme, grid, matrixSet } = options
  const { signal } = context
  const settings = { layer, time, title, ttl, complete, anySize, same, batch, concurrency, signal }
  const selection = { ...await partOf(options), scheme, grid, matrixSet, signal }
  if (same !== undefined) checkSame(same)
  checkSources(options, names)
  if (options.dated) {
    // sources without a grid of their own are in the grid of the layer, where their tiles may touch the area
    const usualGrid = selection.area && grid === undefined ? await usualGridOf(context, options, layer) : undefined
    const home = await homeOf(options)
    const asking = names.some(isServer) ? askingFor(context, options) : {}
    return loadDatedSet(context, options, names, { settings, selection: { ...selection, usualGrid, home, ...asking } })
  }
  const { name, ...sourceOptions } = await sourceOf(context, options, names, layer)
  const openOptions = { ...selection, ...sourceOptions }
  // opened before a store is created
  let source = name === undefined ? undefined : await openShown(context.output, name, openOptions)
  try {
    if (source && await isEmptySource(source) && selection.area && !source.fields.grid) {
      // in the grid of the layer its tiles may touch the area
      source = await inGridOf(await usualGridOf(context, options, layer), source, name, openOptions)
    }
    if (source && await isEmptySource(source)) throw emptySource(source)
    return await (options.dryRun ? dryRun : loadOne)(context, options, { settings, opening: openOptions, source, name })
  } finally {
    await source?.close()
  }
}

const isEmptySource = async source => !source.diff && await isEmpty(source)

/** The `grid` of the layer, if it exists. */
async function usualGridOf (context, options, layer) {
  try {
    return await withStore(context, options, async store => (await store.grid(layer)).field)
  } catch {
    return undefined // there is no store yet, or a later step reports its error
  }
}

/** Opens a source again in the grid of the layer: it may name no grid, or have tiles in several. */
async function inGridOf (usualGrid, source, name, openOptions) {
  const isKnown = openOptions.grid !== undefined || !isInWebMercator(source.fields)
  if (isKnown || isInWebMercator({ grid: usualGrid })) return source
  await source.close()
  return openSource(name, { ...openOptions, usualGrid })
}

/** Whether there is one source, or with --dated several. */
function checkSources ({ dated, upstream, sourceLayer: sourceName }, names) {
  if (upstream !== undefined && names.length) {
    refuse('--upstream', upstream, `it is a source by itself: remove ${names[0]}`)
  }
  if (upstream === undefined && sourceName === undefined && !names.length) refuse('<source>', null, 'name a source')
  if (!dated && names.length > 1) refuse('<source>', names[1], 'several sources need --dated')
}

/** A layer and its time; undefined if the text is no reference: a layer of a WMTS may have any name. */
const referenceOf = text => attempt(() => parseReference(text))

/** Whether the tiles come from a server: a file may describe one. */
const isServer = name => isUrl(name) || /\.(json|xml)$/i.test(name)

/** The options for the requests to a server. */
function askingFor ({ output }, options) {
  return { ...askingOf(options), onTrouble: error => output.note(`Waiting: ${error.message}`) }
}

/** The store that is loaded into. Its name and password are sent nowhere else. */
const homeOf = async ({ db, data }) => await resolveDatabase(db, { data }) ?? ''

/** The source to open, and its options. Without a name: the store that is loaded into. */
async function sourceOf (context, options, [name], layer) {
  const { idTemplate, sourceLayer: sourceName } = options
  const isRemote = options.upstream !== undefined || (name && isUrl(name))
  const parse = isRemote || isXml(name) ? referenceOf : parseReference
  const from = sourceName === undefined ? { layer } : parse(sourceName)
  const asking = isRemote || isServer(name ?? '') ? askingFor(context, options) : {}
  if (!isRemote && (name === undefined || isXml(name) || (sourceName === undefined && idTemplate === undefined))) {
    return { name, from, layer, sourceName, ...asking }
  }
  const home = await homeOf(options)
  if (!isRemote) return { name: await resolveDatabase(name, { side: null }), from, layer, home, idTemplate }
  const upstream = options.upstream === undefined ? undefined : await readUpstream(options.upstream)
  return { name: upstream?.url ?? name, layer, from, sourceName, home, idTemplate, upstream, ...asking }
}

const isXml = name => /\.xml$/i.test(name ?? '')

// a remote archive is read before its tiles are known
async function openShown (output, name, openOptions) {
  const progress = new ReadingProgress(output)
  try {
    return await openSource(name, { ...openOptions, onReading: progress.show })
  } finally {
    progress.end()
  }
}

/** source: unless given, the store that is loaded into. */
function loadOne (context, options, { settings, opening: openOptions, source: openedSource, name }) {
  const { output, args } = context
  const { layer } = settings
  const { area, zooms } = openOptions
  const progress = new CountingProgress(output)
  let first = '' // where its first tiles lie, in words
  return fillStore(context, options, {
    command: 'load',
    layer,
    unit: 'tiles',
    progress,
    figures: loadFigures,
    async run ({ store, url, onProgress, work }) {
      const usualGrid = (await store.grid(layer)).field
      const source = openedSource
        ? await inGridOf(usualGrid, openedSource, name, openOptions)
        : await openSource(url, { ...openOptions, home: url })
      if (source.counts) announce(output, layer, await estimate(store, layer, source.counts))
      progress.count(countSource(source))
      let clockTime // the time of the load, if it is that of the clock
      try {
        return await load(store, source, {
          ...settings,
          area,
          zooms,
          onBegin ({ time, timeFrom, warnings }) {
            if (timeFrom === 'clock') clockTime = time
            work.show({ edition: time, args: clockTime ? [...args, '--time', clockTime] : args })
            const hint = clockTime ? timeHint(name) : ''
            if (timeFrom !== 'option') output.note(`Time: ${time}. ${timeWords[timeFrom]}${hint}`)
            if (warnings.length) output.note(warnings.map(warningLines))
          },
          onFirstTiles ({ where, warnings }) {
            first = whereLines(where).join()
            if (!output.json) output.note(whereLines(where, 'First tiles'), warnings.map(warningLines))
          },
          onProgress
        })
      } catch (error) {
        if (clockTime) {
          output.note(
            `To continue this edition, run the load again with --time ${clockTime}. Without it, a new edition ` +
              'begins.'
          )
        }
        throw error
      } finally {
        progress.end()
        if (source !== openedSource) await source.close()
      }
    },
    facts: () => ({ layer }),
    report: (result, seconds, ended) => loadLines(result, { layer, seconds, ended, first })
  })
}

/** A hint if the name of a source contains a time, which the load does not use. @param {string | undefined} name */
function timeHint (name) {
  if (name === undefined || isUrl(name)) return ''
  const time = attempt(() => timeInName(path.basename(path.resolve(name)))) // a name may be read in two ways
  if (time === undefined) return ''
  const written = time.replace('T00:00:00Z', '')
  return `\n  Its name contains a time. If the map looked like this then, stop and add --time ${written}.`
}

/** @param {import('./program.js').Context} context */
async function dryRun (context, options, { settings, opening, source, name }) {
  const { output, signal } = context
  const { layer, time, complete = false } = settings
  const { area, zooms } = opening
  const showPlan = async url => {
    const store = url === undefined ? undefined : await openExisting(url)
    const usualGrid = store && (await store.grid(layer)).field
    const opened = source
      ? await inGridOf(usualGrid, source, name, opening)
      : await openSource(url, { ...opening, home: url })
    try {
      const plan = await planLoad(store, opened, { layer, time, complete, area, zooms, signal })
      output.result({ ...plan, dryRun: true }, lines(plan, { time, complete, source: opened }))
    } finally {
      if (opened !== source) await opened.close()
    }
  }
  try {
    return await withDatabase(context, options, showPlan)
  } catch (error) {
    if (error.code !== 'DATABASE_NOT_FOUND' || !error.details.folder || !source) throw error
    return showPlan(undefined)
  }
}

function lines (plan, { time, complete, source }) {
  const { layer, tiles, zooms, bounds, isNew, before, gone } = plan
  return [
    `Would load ${plural(tiles, 'tile')} as ${layer}@${plan.time}${isNew ? ', a new layer' : ''}`,
    !time && `  ${timeWords[source.time ? 'source' : 'clock']}`,
    bounds && [`  bounds ${boxWords(bounds)}`, `  place: ${plan.place}`],
    before !== null && `  There is an edition of this time${before && `, from ${before}`}: its tiles stay as they are`,
    complete && goneWords(gone),
    ...table(['zoom', 'tiles'], zooms.map(zoom => [zoom.z, zoom.tiles])).map(line => `  ${line}`),
    ...(plan.warnings ?? []).flatMap(warningLines),
    'Nothing was changed.'
  ]
}

const goneWords = gone => gone === null
  ? '  Tiles that the source lacks become gone; how many is known when the store has its indexes'
  : `  ${count(gone)} tiles of the layer are not in the source and would become gone`
