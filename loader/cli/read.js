// tilecouch layers, info, history, get
import { writeFile } from 'node:fs/promises'
import { TilecouchError, expiryOf, parseReference, parseTilePath } from '../../core/index.js'
import { countConflicts } from '../check/conflicts.js'
import { withStore } from './connect.js'
import { bytes, count, plural, table } from './output.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addReadCommands (program, run) {
  program.command('layers')
    .description('list the layers of a store')
    .addHelpText('after', '\nExample:\n  tilecouch layers --db production')
    .action(run((context, options) => withStore(context, options, store => listLayers(store, context.output))))

  program.command('info')
    .description('tiles, versions, bytes and times of a layer, zoom by zoom, and its editions; or what one edition covered')
    .argument('<layer[@time]>')
    .addHelpText('after', '\nExamples:\n  tilecouch info osm\n  tilecouch info osm@2024-03-01')
    .action(run((context, options, reference) => withStore(context, options, store => {
      const { layer, time } = parseReference(reference)
      return time ? showEdition(store, layer, time, context.output) : showLayer(store, layer, context.output)
    })))

  program.command('history')
    .description('every version of one tile')
    .argument('<layer>')
    .argument('<z/x/y>')
    .addHelpText('after', '\nExample:\n  tilecouch history osm 10/300/412')
    .action(run((context, options, layer, tile) => withStore(context, options, store => showHistory(store, layer, tile, context.output))))

  program.command('get')
    .description('fetch one tile, as it is or as it was')
    .argument('<layer[@time]>')
    .argument('<z/x/y>')
    .requiredOption('-o, --output <file>', 'where to write it; - for standard output')
    .addHelpText('after', '\nExample:\n  tilecouch get osm@2023 10/300/412 -o then.png')
    .action(run((context, options, reference, tile) => withStore(context, options, store => getTile(store, reference, tile, options.output, context.output))))
}

async function listLayers (store, output) {
  const layers = await store.layers()
  const described = await Promise.all(layers.map(async layer => ({ ...layer, stats: await statsOf(store, layer.layer) })))
  output.result(described, described.length
    ? table(['layer', 'name', 'tiles', 'versions', 'size', 'first', 'last'], described.map(({ layer, name, stats }) =>
      [layer, name, ...(stats ? [stats.tiles, stats.versions, bytes(stats.bytes), stats.first, stats.last] : ['', '', '', '', ''])]))
    : ['No layers yet. Load one with: tilecouch load FOLDER --layer NAME'])
}

// a store without design documents can still list its layers
const statsOf = (store, layer) => nullWithoutIndex(store.stats(layer))

const conflictsOf = (store, layer) => nullWithoutIndex(countConflicts(store.couch, layer))

async function nullWithoutIndex (answer) {
  try {
    return await answer
  } catch (error) {
    if (error.code === 'INDEX_MISSING') return null
    throw error
  }
}

async function showLayer (store, layer, output) {
  const [doc, stats, editions, manifests, conflicts] = await Promise.all([
    store.layer(layer), store.stats(layer), store.editions(layer), store.manifests(layer), conflictsOf(store, layer)
  ])
  const lines = [
    `${layer}${doc.name ? ` - ${doc.name}` : ''}: ${plural(stats.tiles, 'tile')}, ${plural(stats.versions, 'version')}, ${bytes(stats.bytes)}`,
    ...(stats.bounds ? [`bounds ${stats.bounds.map(value => +value.toFixed(4)).join(', ')}`] : []),
    ...(manifests.count ? [`${plural(manifests.count, 'manifest')} in ${plural(manifests.blocks, 'block')} of digests, ${bytes(manifests.bytes)}`] : []),
    ...(doc.ttl ? [`expires after ${count(doc.ttl)} s`] : []),
    ...(conflicts ? [`${plural(conflicts, 'document')} with conflicts: \`tilecouch check --fix\` resolves them`] : []),
    '',
    ...table(['zoom', 'tiles', 'versions', 'now', 'all', 'first', 'last'], stats.zooms.map(zoom =>
      [zoom.z, zoom.tiles, zoom.versions, bytes(zoom.currentBytes), bytes(zoom.bytes), zoom.first, zoom.last]))
  ]
  if (editions.length) {
    lines.push('', ...table(['edition', 'title', 'written', 'unchanged', 'gone', 'state'], editions.map(edition => [
      edition.time, edition.title, (edition.created ?? 0) + (edition.advanced ?? 0) + (edition.backfilled ?? 0), edition.unchanged ?? 0, edition.gone ?? 0, stateOf(edition)
    ])))
  }
  output.result({ ...doc, stats, editions, manifests, ...(conflicts !== null && { conflicts }) }, lines)
}

const stateOf = ({ finished, failed, complete }) => !finished ? 'unfinished' : failed ? `${count(failed)} failed` : complete ? 'complete' : 'loaded'

async function showEdition (store, layer, time, output) {
  const [doc, coverage] = await Promise.all([store.layer(layer), store.coverage(layer, time)])
  const { tiles, blocks, bounds, byZoom, complete, area, zooms, roots, changed, unchanged } = coverage
  const box = corners => corners.map(value => +value.toFixed(4)).join(', ')
  const reach = [area ? 'of its area' : 'of the layer', ...(zooms ? [`at zoom ${zooms.min} to ${zooms.max}`] : [])].join(' ')
  output.result(coverage, [
    `${layer}@${coverage.time}${doc.name ? ` - ${doc.name}` : ''}`,
    ...(roots.length
      ? [`looked at ${plural(tiles, 'tile')} in ${plural(blocks, 'block')} of 64 x 64; ${complete ? `complete: every other tile ${reach} is gone` : 'not complete: of other tiles it says nothing'}`]
      : ['it has no manifest: it was loaded by an earlier tilecouch, or its load has not ended. Load it again']),
    ...(bounds ? [`bounds ${box(bounds)}`] : []),
    ...(area ? [`area ${JSON.stringify(area)}`] : []),
    ...(changed === undefined ? [] : [`${plural(changed, 'tile')} changed, ${count(unchanged)} confirmed unchanged`]),
    ...roots.map(root => `root ${root}`),
    ...(byZoom.length ? ['', ...table(['zoom', 'tiles', 'blocks', 'bounds'], byZoom.map(zoom => [zoom.z, zoom.tiles, zoom.blocks, box(zoom.bounds)]))] : [])
  ])
}

async function showHistory (store, layer, tile, output) {
  const { z, x, y } = parseTilePath(tile)
  const [doc, versions] = await Promise.all([store.layer(layer), store.versions(layer, z, x, y)])
  if (!versions.length) throw new TilecouchError('TILE_NOT_FOUND', { id: `${layer} ${tile}` })
  output.result(versions.map(version => ({ ...version, expires: version.current ? expiryOf(version, doc) : version.expires ?? null })), table(
    ['time', 'stored', 'expires', 'type', 'size', ''],
    versions.map(version => [
      version.time, version.stored, version.current ? expiryOf(version, doc) ?? 'never' : version.expires,
      version.gone ? 'gone' : version.type, version.gone ? '' : bytes(version.size),
      [version.current ? 'current' : '', version.checked ? `checked ${version.checked}` : '', version.contested ? `loaded for ${version.contested}` : ''].filter(Boolean).join(', ')
    ])))
}

async function getTile (store, reference, tile, file, output) {
  const { layer, time } = parseReference(reference)
  const { z, x, y } = parseTilePath(tile)
  const found = time ? await store.at(layer, z, x, y, time) : await store.head(layer, z, x, y)
  if (file === '-') {
    output.stdout.write(found.bytes)
    return
  }
  try {
    await writeFile(file, found.bytes)
  } catch (error) {
    throw new TilecouchError('BAD_OPTION', { option: '--output', value: `${file}: ${error.message}` }, { cause: error })
  }
  const { bytes: content, ...facts } = found
  output.result({ ...facts, file }, [`${file}: ${found.type}, ${bytes(content.length)}, as of ${found.time}`])
}
