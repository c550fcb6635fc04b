// tilecouch layer
import { writeFile } from 'node:fs/promises'
import {
  checkLayer, checkRetention, endOf, fieldsBetween, formats, gridOf, layerId, parseBbox, qgisLayers
} from '../../core/index.js'
import { formatOf } from '../../core/upstream-address.js'
import { wmtsOf } from '../../core/wmts.js'
import { changedFields, recordActivity } from '../store/activity.js'
import { TilecouchError } from '../errors.js'
import { writingTo } from '../formats/atomic-file.js'
import { checkSame } from '../load/same.js'
import { storeStyle } from '../store/style.js'
import { withDatabase, withStore } from './store.js'
import { createStore, publishNew } from './new-store.js'
import { partOf, refuse, wholeNumber } from './options.js'
import { boxWords, bytes, count, plural } from './output.js'
import { retentionOptions, retentionOf, retentionWords } from './retention.js'
import { readUpstream } from './upstream.js'

/** @type {import('./command.js').Declaration} */
export const layerCommand = {
  arguments: ['<layer>'],
  options: [
    '--title <text>',
    '--description <text>',
    ['--attribution <text>', 'source of the data; maps display it'],
    '--ttl <duration>',
    ['--no-ttl', 'tiles do not expire'],
    ['--zoom-range <a-b>', 'zooms that the layer has'],
    ['--bounds <w,s,e,n>', 'box that the layer covers, in degrees', { parse: parseBbox }],
    ['--tile-format <ext>', 'extension of its tiles: png, jpg, webp, avif, pbf'],
    ['--encoding <name>', 'how pixels encode heights: terrarium or mapbox; of vector tiles mvt'],
    ['--tile-size <n>', 'width and height of a tile in pixels', { digits: 4 }],
    ['--retina <layer>', 'layer with the same tiles at twice the pixels, which answers @2x'],
    '--grid <name|file>', ['--same <how>', '', { parse: checkSame }], '--upstream <file|url>',
    ['--no-upstream', 'no tile server: missing tiles stay missing'],
    ['--group <text>', 'heading under which the viewer lists the layer'],
    ['--order <n>', 'place among the layers of its group, the smallest first',
      { parse: text => text && wholeNumber('--order', text, 6) }],
    ['--offline', 'allow offline downloads (default)'],
    ['--no-offline', 'forbid offline downloads'],
    '--style <file>', '-t, --time <time>',
    ['--qgis <file>', 'write a layer file for QGIS (.qlr) with every edition, or with --time the map of that time'],
    '--gateway <url>', '--private', ...retentionOptions,
    ['--no-retention', 'no retention policy: keep the whole past']
  ],
  needs: [['--gateway', '--qgis']],
  excludes: [['--qgis', ['--style']]],
  help: `Examples:
  tilecouch layer osm --upstream "https://tiles.example.org/{z}/{x}/{y}.png" --ttl 7d
  tilecouch layer roads --style my-style/ --time 2024-03-01
  tilecouch layer radar --keep-within 90d --keep-daily 365 --keep-yearly 10

An empty text takes --encoding, --group, --order and --retina back.`,
  run: runLayer
}

async function runLayer (context, options, layer) {
  const { output } = context
  const { style, time, qgis } = options
  checkLayer(layer)
  if (time !== undefined && style === undefined && qgis === undefined) {
    refuse('--time', time, 'it is the time of a style: add --style')
  }
  const fields = await fieldsOf(options)
  if (!Object.keys(fields).length) {
    if (options.private) refuse('--private', true, 'add a setting of the layer, such as --title')
    return withStore(context, options, async store => {
      if (style !== undefined) await addStyle(context, store, layer, { style, time })
      if (qgis !== undefined) return saveLayers(output, store, layer, options)
      await show(output, store, await store.layer(layer))
    })
  }
  return withDatabase(context, options, async (url, folder) => {
    const store = await createStore(context, url, options, folder)
    const before = await store.couch.get(layerId(layer))
    const doc = await store.defineLayer(layer, stored => withFormat({ ...stored, ...fields }))
    await publishNew(context, store, folder)
    await recordActivity(store.couch, 'layer', layerChange(before, doc))
    if (style !== undefined) await addStyle(context, store, layer, { style, time })
    await show(output, store, doc)
    if (qgis !== undefined) await saveLayers(output, store, layer, options)
    if (fields.retention) output.note(`See what a prune would remove: tilecouch prune ${layer} --dry-run`)
  }, { creates: true })
}

/**
 * @param {any} before the layer document before the command, if it existed
 * @returns {import('../../core/activity.js').Change | undefined}
 */
function layerChange (before, doc) {
  const { layer } = doc
  if (!before) return { what: 'layer', done: 'created', layer, fields: fieldsBetween(null, doc) }
  const fields = changedFields(before, doc)
  return fields && { what: 'layer', done: 'changed', layer, fields }
}

async function addStyle ({ output, signal }, store, layer, { style, time }) {
  const stored = await storeStyle(store, layer, style, { time, signal })
  note(output, stored)
  await recordActivity(store.couch, 'layer', stored.isNew && {
    what: 'style', done: 'created', layer, edition: stored.time
  })
}

/** Writes a layer file for QGIS. Its tiles come from a gateway, or from CouchDB without a name and password. */
async function saveLayers (output, store, layer, { qgis: file, gateway, time }) {
  if (time !== undefined) endOf(time)
  if (gateway !== undefined && !/^https?:\/\/[^/?#@]+/i.test(gateway)) {
    refuse('--gateway', gateway, 'it is an address such as http://localhost:8080/, without a password')
  }
  const doc = await store.layer(layer)
  const times = (await store.editions(layer)).map(edition => edition.time)
  const base = new URL(gateway ?? `${store.url}/_design/tiles/_rewrite/`)
  base.username = base.password = base.search = base.hash = ''
  const address = { base: base.href.replace(/\/*$/, '/'), ...(gateway && { wmtsOf }) }
  const text = qgisLayers(doc, { ...address, time, times })
  if (!text) throw new TilecouchError('QGIS_GRID', { layer, isVector: doc.format === formats.mvt.ext })
  await writingTo(file, () => writeFile(file, text))
  const content = time === undefined ? plural(times.length, 'edition') : `the map of ${time}`
  output.note(`Wrote ${file}: ${content}, from ${base.href}`)
}

/** The options as fields of the document; null removes a field. */
async function fieldsOf (options) {
  const { title, description, attribution, ttl, zoomRange, bounds, tileFormat, encoding, tileSize } = options
  const { upstream, group, order, offline, same, grid, retina } = options
  const { zooms } = await partOf({ zoom: zoomRange })
  const fields = {
    name: title,
    description,
    attribution,
    ttl: orNull(ttl),
    minzoom: zooms?.min,
    maxzoom: zooms?.max,
    bounds,
    format: tileFormat,
    encoding: orNull(encoding),
    tileSize,
    grid,
    upstream: upstream ? await readUpstream(upstream) : orNull(upstream),
    group: orNull(group),
    order: orNull(order),
    offline: offline ? null : offline,
    retina: orNull(retina),
    same,
    retention: options.retention === false ? null : retentionOf(options) // replaces the whole policy
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** `--no-ttl` and an empty text take a field back. */
const orNull = value => value === false || value === '' ? null : value

// clients need the extension that the tiles will have
function withFormat (fields) {
  if (fields.format || !fields.upstream) return fields
  const format = formatOf(fields.upstream)
  return format ? { ...fields, format } : fields
}

/** @param {any} output @param {Awaited<ReturnType<typeof storeStyle>>} stored */
function note (output, { layer, time, isNew, files, bytes: size, ignored }) {
  if (!isNew) output.note(`The style ${layer}@${time} is stored already`)
  else output.note(`Stored the style ${layer}@${time}${files ? `, with ${plural(files, 'file')}, ${bytes(size)}` : ''}`)
  if (ignored.length) output.note(`  ${plural(ignored.length, 'file')} ignored, such as ${ignored[0]}`)
}

/** The output for a style. @param {import('../store/styles.js').StyleDocument} doc */
const describeStyle = ({ time, stored, style: { name, layers }, _attachments: files = {} }) => ({
  time,
  ...(stored && { stored }),
  ...(typeof name === 'string' && { name }),
  layers: layers.length,
  files: Object.keys(files).length
})

async function show (output, store, doc) {
  const styles = (await store.styles(doc.layer)).map(describeStyle)
  const { layer, name, group, upstream, ttl, minzoom, maxzoom, bounds, format, encoding } = doc
  const { offline, same, retention, pruned } = doc
  const grid = gridOf(doc)
  output.result(styles.length ? { ...doc, styles } : doc, [
    `${layer}${name ? ` - ${name}` : ''}`,
    group && `in the group ${group}`,
    !(minzoom === undefined && maxzoom === undefined) && `zooms ${minzoom ?? 0} to ${maxzoom ?? 30}`,
    bounds && `bounds ${boxWords(bounds)}`,
    !grid.isWebMercator && `grid ${grid.id} (${grid.crs})`,
    format && `tiles are ${format}`,
    encoding && `encoding ${encoding}`,
    ttl ? `tiles expire after ${count(ttl)} s` : 'tiles do not expire',
    upstream ? `upstream ${upstream.url} (${upstream.type ?? 'xyz'})` : 'no upstream',
    same && `loads compare tiles by ${same}`,
    offline === false && 'offline downloads are forbidden',
    retention && ['of its past, `tilecouch prune` keeps', ...policyWords(retention).map(words => `  ${words}`)],
    pruned && `last pruned on ${pruned.slice(0, 10)}`,
    ...styles.map(styleWords)
  ])
}

/** @param {ReturnType<typeof describeStyle>} style */
const styleWords = ({ time, name, files }) =>
  `style from ${time} on${name ? `: ${name}` : ''}${files ? `, with ${plural(files, 'file')}` : ''}`

function policyWords (retention) {
  try {
    return retentionWords(checkRetention(retention))
  } catch (error) {
    return [`unknown: ${error.message}`]
  }
}
