// tilecouch layer
import { checkLayer, checkRetention, parseBbox, parseDuration, parseZooms } from '../../core/index.js'
import { isPublished, publish } from '../publish.js'
import { Store } from '../store/index.js'
import { formatOf } from '../upstream/address.js'
import { withDatabase, withStore } from './connect.js'
import { wholeNumber } from './options.js'
import { count } from './output.js'
import { addRetentionOptions, retentionOf, retentionWords } from './retention.js'
import { readUpstream } from './upstream.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addLayerCommand (program, run) {
  const command = program.command('layer')
    .description('make a layer, or change what is said of it; without options, show it')
    .argument('<layer>')
    .option('--title <text>', 'name that people read')
    .option('--description <text>', 'what it shows')
    .option('--attribution <text>', 'whose data it is; maps show it')
    .option('--ttl <duration>', 'tiles expire after this long, such as 7d')
    .option('--no-ttl', 'tiles do not expire')
    .option('-z, --zoom <a-b>', 'zooms it has')
    .option('--bbox <w,s,e,n>', 'where it has tiles, in degrees')
    .option('--format <ext>', 'extension of its tiles: png, jpg, webp, avif, pbf')
    .option('--tile-size <n>', 'pixels a side')
    .option('--upstream <file|url>', 'where missing tiles come from: a JSON file (see docs/upstreams.md), or the template of an XYZ or WMTS address')
    .option('--no-upstream', 'missing tiles come from nowhere')
    .option('--offline', 'areas of it may be taken along on a device, as they may unless it was said')
    .option('--no-offline', 'its terms forbid that')
  addRetentionOptions(command)
    .option('--no-retention', 'it has no policy: its whole past is kept, and `tilecouch prune --all` leaves it alone')
    .addHelpText('after', `
Examples:
  tilecouch layer osm --upstream "https://tiles.example.org/{z}/{x}/{y}.png" --ttl 7d --attribution "© OpenStreetMap contributors"
  tilecouch layer relief --upstream relief-wms.json --zoom 0-15 --bbox 5.9,45.8,10.5,47.8
  tilecouch layer osm --no-upstream
  tilecouch layer aerial --no-offline
  tilecouch layer radar --keep-within 90d --keep-daily 365 --keep-yearly 10
  tilecouch layer radar --no-retention
  tilecouch layer osm`)
    .action(run(layerCommand))
}

async function layerCommand (context, options, layer) {
  const { output, signal } = context
  checkLayer(layer)
  const fields = await fieldsOf(options)
  if (!Object.keys(fields).length) return withStore(context, options, async store => show(output, await store.layer(layer)))
  return withDatabase(context, options, async url => {
    const store = await Store.create(url, { public: false })
    const doc = await store.defineLayer(layer, stored => withFormat({ ...stored, ...fields }))
    if (!await isPublished(store)) {
      output.note('Deploying the design documents and building their indexes …')
      await publish(store, { signal })
    }
    show(output, doc)
  })
}

/** What was given, as fields of the document; null removes one. */
async function fieldsOf (options) {
  const { title, description, attribution, ttl, zoom, bbox, format, tileSize, upstream, offline } = options
  const zooms = zoom === undefined ? undefined : parseZooms(zoom)
  const fields = {
    name: title,
    description,
    attribution,
    ttl: ttl === false ? null : ttl === undefined ? undefined : parseDuration(ttl),
    minzoom: zooms?.min,
    maxzoom: zooms?.max,
    bounds: bbox === undefined ? undefined : parseBbox(bbox),
    format,
    tileSize: wholeNumber('--tile-size', tileSize, 4),
    upstream: upstream === false ? null : upstream === undefined ? undefined : await readUpstream(upstream),
    offline: offline ? null : offline,
    retention: options.retention === false ? null : retentionOf(options) // a new policy replaces the one before
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

// clients are told an extension: the one its tiles will have
function withFormat (fields) {
  if (fields.format || !fields.upstream) return fields
  const format = formatOf(fields.upstream)
  return format ? { ...fields, format } : fields
}

function show (output, doc) {
  const { layer, name, upstream, ttl, minzoom, maxzoom, bounds, format, offline, retention, pruned } = doc
  output.result(doc, [
    `${layer}${name ? ` - ${name}` : ''}`,
    ...(minzoom === undefined && maxzoom === undefined ? [] : [`zooms ${minzoom ?? 0} to ${maxzoom ?? 30}`]),
    ...(bounds ? [`bounds ${bounds.join(', ')}`] : []),
    ...(format ? [`tiles are ${format}`] : []),
    ttl ? `tiles expire after ${count(ttl)} s` : 'tiles do not expire',
    upstream ? `missing tiles come from ${upstream.url} (${upstream.type ?? 'xyz'})` : 'missing tiles come from nowhere',
    ...(offline === false ? ['its terms forbid taking areas along on a device'] : []),
    ...(retention ? ['of its past `tilecouch prune` keeps', ...policyWords(retention).map(words => `  ${words}`)] : []),
    ...(pruned ? [`versions were taken out of its past, last on ${pruned.slice(0, 10)}`] : [])
  ])
}

function policyWords (retention) {
  try {
    return retentionWords(checkRetention(retention))
  } catch (error) {
    return [`nobody knows what: ${error.message}`]
  }
}
