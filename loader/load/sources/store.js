// A layer of another tilecouch store, or of the same one, as a source: as it is, or as of a time.
import { endOf, formatReference, gridOf } from '../../../core/index.js'
import { ignoring } from '../../../core/promises.js'
import { TilecouchError } from '../../errors.js'
import { parseDatabaseUrl } from '../../store/secrets.js'
import { readBytesOf } from '../../store/fetch.js'
import { readAhead } from './ahead.js'
import { openStore, readWithin } from './database.js'

/** Fields of a layer document that describe the tiles, and not how this store keeps or gets them. */
const DESCRIPTIVE = [
  'name', 'description', 'attribution', 'legend', 'version', 'minzoom', 'maxzoom', 'fillzoom', 'bounds', 'center',
  'vector_layers', 'encoding', 'format', 'tileSize', 'grid'
]

/** @param {URL} url @param {Partial<import('./index.js').SourceOptions>} options */
export const recognisesUrl = (url, { idTemplate }) =>
  idTemplate === undefined && !/[{}]|%7b|%7d/i.test(url.href) && !/\.[^/]*$/.test(url.pathname)

/** @type {import('./index.js').OpenSource} */
export async function open (name, { from, layer: target, area: areaOption, zooms, home, signal }) {
  const { layer, time } = from ?? { layer: /** @type {string} */ (target), time: undefined }
  const store = await openStore(name, { home, signal })
  const { fields, last } = await layerStateAt(store, layer, time)
  const selection = { time, area: areaOption?.in(gridOf(fields)), zooms, signal }

  return {
    // the address of an embedded store changes from run to run, and a stopped load is recognised by this name
    name: `${formatReference(layer, time)}${home && isSameDatabase(home, name) ? '' : ` of ${store.url}`}`,
    fields: { ...fields, grid: gridOf(fields).field }, // a layer whose document names no grid is in Web Mercator
    isInGrid: true,
    ...(time !== undefined && last && { time: last }),
    ...(time === undefined && { total: (await store.count(layer, selection)).tiles }),
    tiles: () => readAhead(store.list(layer, selection), batch => readWithin(batch, async versions => (
      // null: the version was removed since it was listed
      (await readBytesOf(store.couch, versions, { signal })).map(version => version?.bytes ?? null)
    ))),
    close () {}
  }
}

const isSameDatabase = (a, b) => parseDatabaseUrl(a).url === parseDatabaseUrl(b).url

/** Fields of the layer, and the last time up to the requested one at which any tile changed. */
async function layerStateAt (store, layer, time) {
  // a layer may have tiles and no document: MapProxy writes only tiles
  const doc = await store.layer(layer).catch(ignoring('LAYER_NOT_FOUND')) ?? {}
  const fields = Object.fromEntries(DESCRIPTIVE.flatMap(field => doc[field] === undefined ? [] : [[field, doc[field]]]))
  if (time === undefined) return { fields, last: undefined }
  const exactTime = endOf(time)
  const times = await store.times(layer)
  if (!times.length && !doc.layer) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  return { fields, last: times.filter(entry => entry.time <= exactTime).at(-1)?.time }
}
