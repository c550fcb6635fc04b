// tilecouch load
import { checkLayer, parseDuration, parseReference, startOf } from '../../core/index.js'
import { resolveDatabase } from '../couchapp/environments.js'
import { load } from '../load.js'
import { isPublished, publish, warmIndexes } from '../publish.js'
import { estimate } from '../seed/plan.js'
import { loadSet, openSet } from '../set.js'
import { isUrl, openSource } from '../sources/index.js'
import { Store } from '../store/index.js'
import { userAgentOf } from '../upstream/index.js'
import { withDatabase } from './connect.js'
import { countLines, failureLines, rates, reportLoad, spentSince, warningLines } from './load-report.js'
import { areaIfAny, refuse, wholeNumber, zoomsOf } from './options.js'
import { bytes, count, countWords, duration, plural, secondsSince } from './output.js'
import { Progress, ProgressLine, announce } from './progress.js'
import { networksOf, rateOf, readUpstream, requestsOf, secretsOf } from './upstream.js'

const SHOWN_FAILURES = 5 // lines per edition of a dated set; --json has more
const SHOWN_NAMES = 5 // of files in a dated set that hold no tiles

export function addLoadCommand (program, run) {
  program.command('load')
    .description('load tiles as an edition of a layer, or dated sources as several editions')
    .argument('[source...]', 'a folder of z/x/y.ext, an .mbtiles, .pmtiles, .zip, .tar or .tar.gz; or the address of ' +
      'a .pmtiles, a tile server or another store (docs/sources.md)')
    .requiredOption('-l, --layer <name>')
    .option('-t, --time <time>', 'when the map looked like this, such as 2024-03-01 (default: that of the source, else now)')
    .option('--title <text>')
    .option('--ttl <duration>')
    .option('-z, --zoom <a-b>')
    .option('--bbox <w,s,e,n>')
    .option('--polygon <file>')
    .option('--scheme <scheme>')
    .option('--complete', 'the source has every tile of these zooms and this area: tiles that it lacks become "gone"')
    .option('--any-size', 'accept tiles with another number of pixels than the layer has')
    .option('--dated', 'the names of the sources contain times: load each source as the edition of its time')
    .option('--source-layer <layer[@time]>', 'load this layer, as of this time, of another store or, without a source, of this one')
    .option('--id-template <template>', 'from a CouchDB of MapProxy: its document ids, such as "%(grid_name)s-%(z)d-%(x)d-%(y)d"')
    .option('--upstream <file|url>')
    .option('--rate <n/s>')
    .option('--concurrency <n>')
    .option('--contact <text>')
    .option('--upstream-networks <list>')
    .option('--i-have-permission')
    .option('--batch <n>', 'documents per request to the store (default: tuned automatically)')
    .option('--store-concurrency <n>', 'requests to the store at a time (default: tuned automatically)')
    .addHelpText('after', `
Examples:
  tilecouch load tiles/ --layer osm --time 2024-03-01 --title "Spring survey"
  tilecouch load city.mbtiles --layer city --zoom 0-14 --db production
  tilecouch load tms/ --layer relief --scheme tms --complete
  tilecouch load surveys/*.mbtiles --layer town --dated --complete
  tilecouch load https://example.org/planet.pmtiles --layer osm --bbox 5.9,45.8,10.5,47.8 --zoom 0-14
  tilecouch load "https://tiles.example.org/{z}/{x}/{y}.png" --layer osm --bbox 5.9,45.8,10.5,47.8 --zoom 0-12 --rate 10/s
  tilecouch load http://couch.example.org:5984/tiles --source-layer osm@2023 --layer osm --time 2023-12-31

Run a load that was stopped again, with the same --time: it skips what is
already there. The exit code is 0 only if every tile was stored.`)
    .action(run(loadCommand))
}

async function loadCommand (context, options, names) {
  const layer = checkLayer(options.layer)
  const settings = {
    layer,
    time: options.time === undefined ? undefined : startOf(options.time),
    title: options.title,
    ttl: options.ttl === undefined ? undefined : parseDuration(options.ttl),
    complete: options.complete,
    anySize: options.anySize,
    batch: wholeNumber('--batch', options.batch, 6),
    concurrency: wholeNumber('--store-concurrency', options.storeConcurrency, 6),
    signal: context.signal
  }
  const selection = {
    area: await areaIfAny(options), zooms: zoomsOf(options.zoom), scheme: options.scheme, signal: context.signal
  }
  checkTogether(options, names)
  if (options.dated) return loadDatedSet(context, options, names, { settings, selection })
  const { name, ...more } = await sourceOf(context, options, names, layer)
  return loadOne(context, options, { settings, opening: { ...selection, ...more }, name })
}

/** Refuses options that contradict each other. */
function checkTogether ({ dated, upstream, sourceLayer: from, idTemplate, time }, names) {
  if (upstream !== undefined && names.length) refuse('--upstream', upstream, `it is a source by itself: remove ${names[0]}`)
  if (upstream === undefined && from === undefined && !names.length) refuse('<source>', null, 'name a source')
  if (!dated) {
    if (names.length > 1) refuse('<source>', names[1], 'several sources need --dated')
    return
  }
  if (time !== undefined) refuse('--time', time, 'with --dated the times come from the names')
  if (upstream !== undefined || !names.length) refuse('--dated', upstream ?? from, 'it takes files and folders')
  if (from !== undefined || idTemplate !== undefined) {
    refuse('--dated', from ?? idTemplate, 'a load takes one time of a store; to load a whole history see docs/sources.md')
  }
}

/** The source to open, and its options. Without a name: the store that is loaded into. */
async function sourceOf ({ output }, options, [name], layer) {
  const from = options.sourceLayer === undefined ? { layer } : parseReference(options.sourceLayer)
  const { idTemplate } = options
  const isRemote = options.upstream !== undefined || (name && isUrl(name))
  if (!isRemote && (name === undefined || (options.sourceLayer === undefined && idTemplate === undefined))) {
    return { name, from, layer }
  }
  const home = await resolveDatabase(options.db) ?? '' // its name and password are sent nowhere else
  if (!isRemote) return { name: await resolveDatabase(name, { side: null }), from, layer, home, idTemplate }
  const upstream = options.upstream === undefined ? undefined : await readUpstream(options.upstream)
  return {
    name: upstream?.url ?? name,
    layer,
    from,
    home,
    idTemplate,
    upstream,
    rate: rateOf(options.rate),
    requests: requestsOf('--concurrency', options.concurrency),
    permission: Boolean(options.iHavePermission),
    userAgent: userAgentOf(options.contact ?? process.env.TILECOUCH_CONTACT),
    networks: networksOf(options),
    secrets: secretsOf(process.env.TILECOUCH_UPSTREAM_HEADERS),
    onTrouble: error => output.note(`Waiting: ${error.message}`)
  }
}

// a remote or gzipped archive is read before its tiles are known
async function openShown (output, name, opening) {
  const progress = new ProgressLine(output)
  try {
    return await openSource(name, { ...opening, onReading: done => progress.drawReading(done) })
  } finally {
    progress.end()
  }
}

async function loadOne (context, options, { settings, opening, name }) {
  const { output } = context
  // opened before a store is created
  let source = name === undefined ? undefined : await openShown(output, name, opening)
  try {
    return await filled(context, options, async (store, url) => {
      source ??= await openSource(url, { ...opening, home: url })
      if (source.counts) announce(output, settings.layer, await estimate(store, settings.layer, source.counts))
      const progress = new Progress(output, source)
      const started = performance.now()
      const { area, zooms } = opening
      let begun
      try {
        const result = await load(store, source, {
          ...settings,
          area,
          zooms,
          onBegin ({ time, warnings }) {
            begun = time
            for (const warning of warnings) output.note(warningLines(warning).join('\n'))
          },
          onProgress: (summary, tuner) => progress.show(summary, tuner)
        })
        const time = settings.time ? undefined : source?.time
        const written = performance.now()
        return { result, report: () => reportLoad(output, result, { started, written, time }) }
      } catch (error) {
        progress.end()
        if (begun && !settings.time && !source.time) {
          output.note(`To continue this edition, run the load again with --time ${begun}. Without it, a new edition begins.`)
        }
        const result = error.summary && { ...error.summary, layer: settings.layer }
        if (result) reportLoad(output, result, { started, ended: endOf(error) })
        throw error
      } finally {
        progress.end()
      }
    })
  } finally {
    await source?.close()
  }
}

const endOf = ({ code }) => code === 'ABORTED' ? 'stopped' : 'failed'

/**
 * Fills a store: creates it if needed, and publishes it afterwards, since an index is built faster in one go. A load
 * ends when the map can be asked, so its report comes after the index.
 */
const filled = (context, options, action) => withDatabase(context, options, async url => {
  const store = await Store.create(url, { public: false })
  const { result, report } = await action(store, url)
  if (!await publishNew(context, store)) await warmIndexes(store, { signal: context.signal })
  report()
  return result.failed ? 1 : 0
})

/**
 * Publishes a store that was never published.
 * @param {import('./program.js').Context} context
 * @param {Store} store
 * @returns {Promise<boolean>} whether it did
 */
export async function publishNew ({ output, signal }, store) {
  if (await isPublished(store)) return false
  output.note('Deploying the design documents and building their indexes …')
  await publish(store, { signal })
  return true
}

/** Loads sources with times in their names. */
async function loadDatedSet (context, options, names, { settings, selection }) {
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
          printEdition(output, edition, secondsSince(began))
        }
      })
      const written = performance.now()
      return { result, report: () => reportSet(output, result, { started, written }) }
    } catch (error) {
      progress?.end()
      if (error.summary) reportSet(output, error.summary, { started, ended: endOf(error), of: set.members.length })
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

function printEdition (output, { time, name, skipped, ...result }, seconds) {
  const begin = `${time}  ${plain(name)}: `
  if (skipped) return output.line(`${begin}loaded before`)
  const parts = [
    `${count(result.created)} new`, `${count(result.advanced)} changed`,
    ...countWords({ 'into the past': result.backfilled, 'of them gone': result.gone }),
    `${count(result.unchanged)} unchanged`, ...countWords({ failed: result.failed })
  ]
  output.line(`${begin}${plural(result.tiles, 'tile')} in ${duration(seconds)}: ${parts.join(', ')} (${bytes(result.bytes)})`)
  const warnings = (result.warnings ?? []).flatMap(warningLines)
  for (const line of [...failureLines(result, SHOWN_FAILURES), ...warnings]) output.line(line)
}

/** The result of loadSet, or what it did until it ended; of: editions to load. */
function reportSet (output, result, /** @type {any} */ { started, written, ended, of }) {
  const spent = spentSince(started, written)
  const { layer, editions, tiles } = result
  const skipped = editions.filter(edition => edition.skipped).length
  const title = ended
    ? `${layer} (${ended}): ${count(editions.length)} of ${plural(of, 'edition')}`
    : `${layer}: ${plural(editions.length, 'edition')}`
  const before = skipped ? `${count(skipped)} loaded before, ` : ''
  output.result({ ...result, ...spent }, !ended && skipped === editions.length ? [`${title}, all loaded before`] : [
    `${title}, ${before}${rates(tiles, spent)}`,
    ...countLines(result),
    ...(result.failed ? [`  ${count(result.failed)} failed`] : []),
    ...(ended ? ['  Run it again to continue.'] : [])
  ])
}
