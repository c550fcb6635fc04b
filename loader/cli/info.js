// tilecouch info: the layers of a store, one layer, one edition, or the versions of one tile
import { expiryOf, parseReference, parseTilePath } from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { countConflicts } from '../check/conflicts.js'
import { placeOf } from '../store/place/index.js'
import { withStore } from './store.js'
import { refuse } from './options.js'
import { BLANK, boxWords, bytes, count, plural, table } from './output.js'

/** @type {import('./command.js').Declaration} */
export const infoCommand = {
  arguments: [
    ['[layer[@time]]', 'a layer: its zooms and editions; with a time: what that edition covered'],
    ['[z/x/y]', 'a tile of the layer: its versions']
  ],
  help: `Examples:
  tilecouch info
  tilecouch info osm@2024-03-01
  tilecouch info osm 10/300/412`,
  run: runInfo
}

function runInfo (context, options, reference, tile) {
  const { output } = context
  return withStore(context, options, store => {
    if (reference === undefined) return listLayers(store, output)
    const { layer, time } = parseReference(reference)
    if (tile === undefined) return time ? showEdition(store, layer, time, output) : showLayer(store, layer, output)
    if (time) refuse('LAYER', reference, 'name the layer without a time: a tile is shown with all its versions')
    return showTile(store, layer, tile, output)
  })
}

async function listLayers (store, output) {
  const layers = await store.layers()
  const withStats = async layer => ({ ...layer, stats: await nullWithoutIndex(store.stats(layer.layer)) })
  const described = await Promise.all(layers.map(withStats))
  const rows = described.map(({ layer, name, stats }) =>
    [layer, name, stats?.tiles, stats?.versions, stats && bytes(stats.bytes), stats?.first, stats?.last])
  output.result(described, rows.length
    ? table(['layer', 'name', 'tiles', 'versions', 'size', 'first', 'last'], rows)
    : ['No layers yet. Load one with: tilecouch load FOLDER --layer NAME'])
}

/** Without design documents a store can still list its layers. */
const nullWithoutIndex = async answer => await answer.catch(ignoring('INDEX_MISSING')) ?? null

async function showLayer (store, layer, output) {
  const [doc, stats, editions, manifests, conflicts] = await Promise.all([
    store.layer(layer),
    store.stats(layer),
    store.editions(layer),
    store.manifests(layer),
    nullWithoutIndex(countConflicts(store.couch, layer))
  ])
  const bounds = doc.bounds ?? stats.bounds // the bounds that clients get
  const place = bounds ? placeOf(bounds).name : null
  const zoomRows = stats.zooms.map(zoom =>
    [zoom.z, zoom.tiles, zoom.versions, bytes(zoom.currentBytes), bytes(zoom.bytes), zoom.first, zoom.last])
  const editionRows = editions.map(edition => {
    const { time, title, created = 0, advanced = 0, backfilled = 0, unchanged = 0, gone = 0 } = edition
    return [time, title, created + advanced + backfilled, unchanged, gone, stateOf(edition)]
  })
  output.result({ ...doc, place, stats, editions, manifests, ...(conflicts !== null && { conflicts }) }, [
    `${layer}${doc.name ? ` - ${doc.name}` : ''}: ${plural(stats.tiles, 'tile')}, ` +
      `${plural(stats.versions, 'version')}, ${bytes(stats.bytes)}`,
    bounds && [`bounds ${boxWords(bounds)}`, `place: ${place}`],
    manifests.count && `${plural(manifests.count, 'manifest')} in ${plural(manifests.blocks, 'block')} of digests, ` +
      `${bytes(manifests.bytes)}`,
    doc.ttl && `expires after ${count(doc.ttl)} s`,
    conflicts && `${plural(conflicts, 'document')} with conflicts: \`tilecouch check --fix\` resolves them`,
    BLANK,
    table(['zoom', 'tiles', 'versions', 'now', 'all', 'first', 'last'], zoomRows),
    editions.length && [BLANK, table(['edition', 'title', 'written', 'unchanged', 'gone', 'state'], editionRows)]
  ])
}

function stateOf ({ finished, failed, complete }) {
  if (!finished) return 'unfinished'
  if (failed) return `${count(failed)} failed`
  return complete ? 'complete' : 'loaded'
}

async function showEdition (store, layer, time, output) {
  const [doc, coverage] = await Promise.all([store.layer(layer), store.coverage(layer, time)])
  const { tiles, blocks, bounds, byZoom, complete, area, zooms, roots, changed, unchanged } = coverage
  const reach = `${area ? 'of its area' : 'of the layer'}${zooms ? ` at zoom ${zooms.min} to ${zooms.max}` : ''}`
  const rows = byZoom.map(zoom => [zoom.z, zoom.tiles, zoom.blocks, boxWords(zoom.bounds)])
  output.result(coverage, [
    `${layer}@${coverage.time}${doc.name ? ` - ${doc.name}` : ''}`,
    ...(roots.length
      ? [`looked at ${plural(tiles, 'tile')} in ${plural(blocks, 'block')} of 64 x 64; ` +
        (complete ? `complete: every other tile ${reach} is gone` : 'not complete: it says nothing about other tiles')]
      : ['no manifest: an earlier tilecouch loaded it, or its load has not ended. Load it again']),
    bounds && `bounds ${boxWords(bounds)}`,
    area && `area ${JSON.stringify(area)}`,
    changed !== undefined && `${plural(changed, 'tile')} changed, ${count(unchanged)} confirmed unchanged`,
    ...roots.map(root => `root ${root}`),
    rows.length && [BLANK, ...table(['zoom', 'tiles', 'blocks', 'bounds'], rows)]
  ])
}

async function showTile (store, layer, tile, output) {
  const { z, x, y } = parseTilePath(tile)
  const [doc, versions] = await Promise.all([store.layer(layer), store.versions(layer, z, x, y)])
  if (!versions.length) throw new TilecouchError('TILE_NOT_FOUND', { id: `${layer} ${tile}` })
  const value = versions.map(version =>
    ({ ...version, expires: version.current ? expiryOf(version, doc) : version.expires ?? null }))
  const rows = value.map(({ time, stored, expires, current, gone, type, size, checked, contested }) => {
    const notes = [current && 'current', checked && `checked ${checked}`, contested && `loaded for ${contested}`]
    const until = expires ?? (current ? 'never' : '')
    return [time, stored, until, gone ? 'gone' : type, gone ? '' : bytes(size), notes.filter(Boolean).join(', ')]
  })
  output.result(value, table(['time', 'stored', 'expires', 'type', 'size', ''], rows))
}
