// tilecouch load
import { parseDuration, parseReference, startOf, TilecouchError } from '../../core/index.js'
import { resolveDatabase } from '../couchapp/environments.js'
import { load } from '../load.js'
import { isPublished, publish } from '../publish.js'
import { isUrl, openSource } from '../sources/index.js'
import { Store } from '../store/index.js'
import { userAgentOf } from '../upstream/index.js'
import { withDatabase } from './connect.js'
import { announceSource, reportLoad, warningLines } from './load-report.js'
import { loadDatedSet } from './load-set.js'
import { areaIfAny, wholeNumber, zoomsOf } from './options.js'
import { Progress, ProgressLine } from './progress.js'
import { NETWORKS_FLAG, networksOf, rateOf, readUpstream, requestsOf, secretsOf } from './upstream.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addLoadCommand (program, run) {
  program.command('load')
    .description('load tiles as one edition of a layer, or a dated set of sources as its editions')
    .argument('[source...]', 'folder of z/x/y.ext, .mbtiles, .pmtiles, .zip, .tar or .tar.gz; the address of a .pmtiles, of a tile server or of another store (see docs/sources.md)')
    .requiredOption('-l, --layer <name>', 'layer the tiles belong to')
    .option('-t, --time <time>', 'when the map looked like this, such as 2024-03-01 (default: as the source says, else now)')
    .option('--title <text>', 'title of the edition; with --dated, {name} and {time} stand for those of each source (default there: the name)')
    .option('--ttl <duration>', 'tiles of the layer expire after this long, such as 7d')
    .option('-z, --zoom <a-b>', 'only these zooms')
    .option('--bbox <w,s,e,n>', 'only tiles that touch this box, in degrees')
    .option('--polygon <file>', 'only tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('--scheme <scheme>', 'how the source counts rows: xyz from the north, tms from the south (default: tms for MBTiles, else xyz)')
    .option('--complete', 'the source is the whole layer at that time: tiles it lacks become "gone", of the zooms and the area that are named')
    .option('--any-size', 'take tiles that have another number of pixels than those of the layer')
    .option('--dated', 'sources with times in their names, as editions in the order of these times: files and folders, a folder of them, or a quoted pattern such as "surveys/*.mbtiles"')
    .option('--from <layer[@time]>', 'of another store: the layer, as it was; without a source, of the store that is loaded into')
    .option('--id-template <template>', 'of a CouchDB that MapProxy wrote: how its documents are called, such as "%(grid_name)s-%(z)d-%(x)d-%(y)d"')
    .option('--upstream <file>', 'the tile server that this file describes: a WMS, or an address that needs more than {z}, {x} and {y} (see docs/upstreams.md)')
    .option('--rate <n/s>', 'requests a second to a tile server at most')
    .option('--requests <n>', 'requests to a tile server in flight at most (default: 4)')
    .option('--contact <text>', 'mail address or page that the User-Agent tells a tile server (default: TILECOUCH_CONTACT)')
    .option(...NETWORKS_FLAG)
    .option('--i-have-permission', 'fetch from a tile server although its terms forbid it')
    .option('--batch <n>', 'documents a request to the store (default: tunes itself)')
    .option('--concurrency <n>', 'requests to the store in flight (default: tunes itself)')
    .addHelpText('after', `
Examples:
  tilecouch load tiles/ --layer osm --time 2024-03-01 --title "Spring survey"
  tilecouch load city.mbtiles --layer city --zoom 0-14 --db production
  tilecouch load tms/ --layer relief --scheme tms --complete
  tilecouch load surveys/*.mbtiles --layer town --dated --complete
  tilecouch load https://example.org/planet.pmtiles --layer osm --bbox 5.9,45.8,10.5,47.8 --zoom 0-14
  tilecouch load "https://tiles.example.org/{z}/{x}/{y}.png" --layer osm --bbox 5.9,45.8,10.5,47.8 --zoom 0-12 --rate 10/s
  tilecouch load http://couch.example.org:5984/tiles --from osm@2023 --layer osm --time 2023-12-31

A load that was stopped is run again, with the time that it began with: it skips what is there. The exit code is 0 only if every tile is in the store.`)
    .action(run(loadCommand))
}

async function loadCommand (context, options, names) {
  const { layer } = parseReference(options.layer)
  if (layer !== options.layer) throw new TilecouchError('BAD_LAYER', { value: options.layer })
  const settings = {
    layer,
    time: options.time === undefined ? undefined : startOf(options.time),
    title: options.title,
    ttl: options.ttl === undefined ? undefined : parseDuration(options.ttl),
    complete: options.complete,
    anySize: options.anySize,
    batch: wholeNumber('--batch', options.batch, 6),
    concurrency: wholeNumber('--concurrency', options.concurrency, 6),
    signal: context.signal
  }
  const selection = { area: await areaIfAny(options), zooms: zoomsOf(options.zoom), scheme: options.scheme, signal: context.signal }
  checkTogether(options, names)
  if (options.dated) return loadDatedSet(context, options, names, { settings, selection, filled })
  const { name, ...more } = await sourceOf(context, options, names, layer)
  return loadOne(context, options, { settings, opening: { ...selection, ...more }, name })
}

/** What cannot be meant. */
function checkTogether ({ dated, upstream, from, idTemplate, time }, names) {
  const refuse = (option, value, why) => { throw new TilecouchError('BAD_OPTION', { option, value, why }) }
  if (upstream !== undefined && names.length) refuse('--upstream', upstream, `it is the source: there is no need of ${names[0]}`)
  if (upstream === undefined && from === undefined && !names.length) refuse('<source>', '', 'name what is to be loaded')
  if (!dated && names.length > 1) refuse('<source>', names[1], 'several sources are loaded with --dated, each as the edition of its time')
  if (!dated) return
  if (time !== undefined) refuse('--time', time, 'with --dated the names say the times')
  if (upstream !== undefined || !names.length) refuse('--dated', upstream ?? from, 'it goes with files and folders')
  if (from !== undefined || idTemplate !== undefined) refuse('--dated', from ?? idTemplate, 'one time of a store is loaded at once; for a whole history see docs/sources.md')
}

/** What is to be opened, and what it is told besides what is selected. No name: the store that is loaded into. */
async function sourceOf ({ output }, options, [name], layer) {
  const from = options.from === undefined ? { layer } : parseReference(options.from)
  if (options.upstream === undefined && !(name && isUrl(name))) {
    if (name === undefined || (options.from === undefined && options.idTemplate === undefined)) return { name, from, layer }
    // an environment, as for --db; the name and password are for the store that is loaded into
    return { name: await resolveDatabase(name, { side: null }), from, layer, home: await resolveDatabase(options.db) ?? '', idTemplate: options.idTemplate }
  }
  const upstream = options.upstream === undefined ? undefined : await readUpstream(options.upstream)
  return {
    name: upstream?.url ?? name,
    layer,
    from,
    home: await resolveDatabase(options.db) ?? '', // the embedded store's name and password are sent nowhere else
    idTemplate: options.idTemplate,
    upstream,
    rate: rateOf(options.rate),
    requests: requestsOf('--requests', options.requests),
    permission: Boolean(options.iHavePermission),
    userAgent: userAgentOf(options.contact ?? process.env.TILECOUCH_CONTACT),
    networks: networksOf(options),
    secrets: secretsOf(process.env.TILECOUCH_UPSTREAM_HEADERS),
    onTrouble: error => output.note(`Waiting: ${error.message}`)
  }
}

// an archive that is elsewhere, or in gzip, is read before its tiles are known
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
  let source = name === undefined ? undefined : await openShown(output, name, opening) // what is wrong with it is said before anything is made
  try {
    return await filled(context, options, async (store, url) => {
      source ??= await openSource(url, { ...opening, home: url })
      await announceSource(output, store, source, settings.layer)
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
        return { result, report: () => reportLoad(output, result, { started, time: settings.time ? undefined : source?.time }) }
      } catch (error) {
        progress.end()
        if (begun && !settings.time && !source.time) output.note(`To go on with this edition, run it again with --time ${begun}. Without it, a new edition begins.`)
        if (error.summary) reportLoad(output, { ...error.summary, layer: settings.layer }, { started, ended: error.code === 'ABORTED' ? 'stopped' : 'failed' })
        throw error
      } finally {
        progress.end()
      }
    })
  } finally {
    await source?.close()
  }
}

/**
 * Fills a store, makes it first if it is not there, and publishes it afterwards: indexes are built faster at once.
 * @param {import('./program.js').Context} context
 * @param {any} options
 * @param {(store: Store, url: string) => Promise<{result: {failed: number}, report: () => void}>} action
 */
const filled = ({ output, signal, ...context }, options, action) => withDatabase({ output, signal, ...context }, options, async url => {
  const store = await Store.create(url, { public: false })
  const { result, report } = await action(store, url)
  if (!await isPublished(store)) {
    output.note('Deploying the design documents and building their indexes …')
    await publish(store, { signal })
  }
  report()
  return result.failed ? 1 : 0
})
