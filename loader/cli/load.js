// tilecouch load
import { parseBbox, parseDuration, parseReference, parseZooms, startOf, TilecouchError } from '../../core/index.js'
import { load } from '../load.js'
import { isPublished, publish } from '../publish.js'
import { openSource } from '../sources/index.js'
import { Store } from '../store/index.js'
import { withDatabase } from './connect.js'
import { wholeNumber } from './options.js'
import { bytes, count, duration, plural } from './output.js'
import { Progress } from './progress.js'

const SHOWN_FAILURES = 20 // lines; --json has more

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addLoadCommand (program, run) {
  program.command('load')
    .description('load a folder of tiles or an MBTiles file as one edition of a layer')
    .argument('<source>', 'folder of z/x/y.ext, or .mbtiles file')
    .requiredOption('-l, --layer <name>', 'layer the tiles belong to')
    .option('-t, --time <time>', 'when the map looked like this, such as 2024-03-01 (default: now)')
    .option('--title <text>', 'title of the edition')
    .option('--ttl <duration>', 'tiles of the layer expire after this long, such as 7d')
    .option('-z, --zoom <a-b>', 'only these zooms')
    .option('--bbox <w,s,e,n>', 'only tiles that touch this box, in degrees')
    .option('--scheme <scheme>', 'how the source counts rows: xyz from the north, tms from the south (default: xyz for folders, tms for MBTiles)')
    .option('--complete', 'the source is the whole layer at that time: tiles it lacks become "gone"')
    .option('--batch <n>', 'documents a request (default: tunes itself)')
    .option('--concurrency <n>', 'requests in flight (default: tunes itself)')
    .addHelpText('after', `
Examples:
  tilecouch load tiles/ --layer osm --time 2024-03-01 --title "Spring survey"
  tilecouch load city.mbtiles --layer city --zoom 0-14 --db production
  tilecouch load tms/ --layer relief --scheme tms --complete

A load that was stopped is run again: it skips what is there. The exit code is 0 only if every tile is in the store.`)
    .action(run(loadCommand))
}

async function loadCommand (context, options, path) {
  const { output, signal } = context
  const selection = {
    bbox: options.bbox === undefined ? undefined : parseBbox(options.bbox),
    zooms: options.zoom === undefined ? undefined : parseZooms(options.zoom)
  }
  const { layer } = parseReference(options.layer)
  if (layer !== options.layer) throw new TilecouchError('BAD_LAYER', { value: options.layer })
  const settings = {
    layer,
    time: options.time === undefined ? undefined : startOf(options.time),
    title: options.title,
    ttl: options.ttl === undefined ? undefined : parseDuration(options.ttl),
    complete: options.complete,
    batch: wholeNumber('--batch', options.batch, 6),
    concurrency: wholeNumber('--concurrency', options.concurrency, 6)
  }
  const source = await openSource(path, { ...selection, scheme: options.scheme })
  try {
    return await withDatabase(context, options, async url => {
      const store = await Store.create(url, { public: false })
      const progress = new Progress(output, source)
      const started = performance.now()
      let result
      try {
        result = await load(store, source, {
          ...settings, ...selection, signal, onProgress: (summary, tuner) => progress.show(summary, tuner)
        })
      } catch (error) {
        progress.end()
        if (error.summary) report(output, error.summary, layer, started, error.code === 'ABORTED' ? 'stopped' : 'failed')
        throw error
      }
      progress.end()
      if (!await isPublished(store)) {
        output.note('Deploying the design documents and building their indexes …')
        await publish(store, { signal })
      }
      report(output, result, formatTime(result), started)
      return result.failed ? 1 : 0
    })
  } finally {
    source.close()
  }
}

const formatTime = ({ layer, time }) => `${layer}@${time}`

function report (output, result, name, started, ended = '') {
  const seconds = (performance.now() - started) / 1000
  const written = result.created + result.advanced + result.backfilled
  const lines = [
    `${name}${ended && ` (${ended})`}: ${plural(result.tiles, 'tile')} in ${duration(seconds)} (${count(Math.round(result.tiles / seconds))}/s)`,
    `  ${count(written)} written (${bytes(result.bytes)}): ${count(result.created)} new, ${count(result.advanced)} changed, ${count(result.backfilled)} into the past, ${count(result.gone)} of them gone`,
    `  ${count(result.unchanged)} unchanged`
  ]
  if (result.failed) {
    lines.push(`  ${count(result.failed)} failed:`)
    for (const { id, code, reason } of result.failures.slice(0, SHOWN_FAILURES)) lines.push(`    ${id}  ${reason} [${code}]`)
    if (result.failed > SHOWN_FAILURES) lines.push(`    … and ${count(result.failed - SHOWN_FAILURES)} more (--json lists them)`)
  }
  output.result({ ...result, seconds: +seconds.toFixed(3) }, lines)
}
