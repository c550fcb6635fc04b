// Opens the sources that tiles can be loaded from. Every source has:
//
//   name      its name in the edition
//   fields    its description, as fields of a layer document
//   tiles()   its tiles in ascending order of their ids, each with a read() that fetches the bytes; may be walked again
//   close()
//
// and some have:
//
//   time      when the map looked like this, as the source states it
//   diff      whether it has only changed tiles, of which some may be gone
//   total     how many tiles are selected, if that is known without walking
//   bounds    where the tiles are, as the source states it
//   scheme    how it counts rows, if the user may set that
//   walk()    its tiles in the order in which they are cheapest to read, if that is not the order of their ids
//
// To add a kind: a module with `open`, and its name in the lists below; formats/recognise.js recognises files,
// `recognisesUrl` addresses. For other inputs, the error says what they are, and gives the next command: see
// formats/other-kinds.js, services.js and description.js.
import { gridOf, isSameGrid, parseArea, selectorOf } from '../../../core/index.js'
import { Extent } from '../../../core/store/extent.js'
import { TilecouchError } from '../../errors.js'
import { beginOf, recognise } from '../../formats/recognise.js'
import * as couchdb from './couchdb.js'
import * as description from './description.js'
import * as folder from './folder.js'
import * as mbtiles from './mbtiles.js'
import * as pmtiles from './pmtiles.js'
import { likelyService, otherAddress, schemeError } from './services.js'
import * as store from './store.js'
import * as upstream from './upstream.js'

/** @type {Record<string, OpenSource>} */
const fileKinds = { folder: folder.open, mbtiles: mbtiles.open, pmtiles: pmtiles.open }
const urlKinds = /** @type {UrlKind[]} */ ([pmtiles, upstream, couchdb])

const BEGIN = 4096 // bytes by which a file without tiles is recognised
const NO_DATABASE = new Set(['BAD_ANSWER', 'BAD_DATABASE', 'COUCHDB_ERROR']) // errors of servers that are no CouchDB
const TELLING = new Set(['ABORTED', 'SOURCE_NOT_TILES', 'BAD_AREA', 'BAD_UPSTREAM', 'SEED_FORBIDDEN'])

export const schemes = ['xyz', 'tms']

/**
 * A tile: `read`, or `gone` for one that a diff lists as gone. `read` answers null when there is no tile after all,
 * as a server does with 404: that is no failure.
 * @typedef {object} SourceTile
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {() => Promise<Uint8Array | null> | Uint8Array | null} [read]
 * @property {boolean} [gone]
 * @property {boolean} [known] it need not be read
 * @property {string} [ext] extension of its name: png, jpg, webp, avif or pbf
 * @property {string} [file] its path in a folder
 * @property {string} [content] equal for tiles with the same bytes
 * @property {string} [expires] exact time
 * @property {Record<string, any>} [origin]
 *
 * @typedef {object} Source
 * @property {string} name
 * @property {Record<string, any>} fields
 * @property {() => AsyncIterable<SourceTile>} tiles
 * @property {() => void | Promise<void>} close
 * @property {string} [time] exact
 * @property {boolean} [diff]
 * @property {number} [total]
 * @property {number} [ignored] documents that are no tiles, counted when they are listed
 * @property {import('../../../core/grid.js').Bbox} [bounds] where its tiles are, as it states
 * @property {string} [profile] of the grid of its tiles, as it states, if that is neither Web Mercator nor another
 *   known grid
 * @property {boolean} [isInGrid] its tiles were selected in the grid that it states
 * @property {'xyz' | 'tms'} [scheme] how it counts rows, if --scheme may set that
 * @property {{area: import('../../../core/area.js').Area, seen: Extent}} [wanted] the requested area, and where its
 *   tiles are, in that area or not
 * @property {Map<number, number>} [counts] tiles by zoom, if they come from another server
 * @property {(options?: WalkOptions) => AsyncIterable<SourceTile>} [walk]
 *
 * @typedef {object} WalkOptions
 * @property {(tiles: {z: number, x: number, y: number}[]) => Promise<boolean[]>} [known] which of them need not be
 *   read: `walk` gives these with `known`
 * @property {{tileSize?: number, format?: string, grid?: string | object}} [layer] into which they are loaded
 *
 * The part of a source that a caller selects.
 * @typedef {object} Selection
 * @property {import('../../../core/grid.js').Bbox} [bbox]
 * @property {object} [polygon] GeoJSON, parsed
 * @property {import('../../../core/area.js').Area} [area] instead of bbox and polygon
 * @property {import('../../../core/grid.js').Zooms} [zooms]
 *
 * The options with which a kind is opened.
 * @typedef {object} SourceOptions
 * @property {(z: number, x: number, y: number) => boolean} selected whether a tile is within zooms and area
 * @property {import('../../../core/area.js').Area} [area]
 * @property {import('../../../core/grid.js').Zooms} [zooms]
 * @property {'xyz' | 'tms'} [scheme] how the source counts rows, if that differs from its kind
 * @property {string | object} [grid] of its tiles: `grid` of a layer document; the grid of the source unless given
 * @property {boolean} [isGridGiven] `grid` takes precedence over the grid that the source states
 * @property {string} [matrixSet] of a WMTS that has several
 * @property {string} [sourceName] layer of a WMTS that has several
 * @property {string | object} [usualGrid] of its tiles, if neither `grid` nor the source names one
 * @property {{layer: string, time?: string}} [from] of another store
 * @property {string} [idTemplate] of the documents of a CouchDB that MapProxy wrote
 * @property {string} [layer] that is loaded into, for messages
 * @property {string} [home] address of the database that is loaded into; empty when it is not known yet
 * @property {import('../../formats/reading.js').OnFault} [onFault] called with faults of a file; unless given, a fault
 *   that may cost a tile is thrown
 * @property {AbortSignal} [signal]
 * @property {(done: {bytes: number, total: number}) => void} [onReading] progress of opening
 *
 * @typedef {(name: string, options: SourceOptions) => Promise<Source>} OpenSource
 *
 * @typedef {object} UrlKind
 * @property {(url: URL, options: any) => boolean} recognisesUrl
 * @property {(name: string, options: any) => Promise<Source>} open
 */

/**
 * @param {string} name path or address
 * @param {Selection & Omit<SourceOptions, 'selected'> & import('./upstream.js').Asking} [options]
 * @returns {Promise<Source>}
 */
export async function openSource (name, { bbox, polygon, area, scheme, ...kindOptions } = {}) {
  if (scheme && !schemes.includes(scheme)) throw new TilecouchError('BAD_OPTION', { option: '--scheme', value: scheme })
  area ??= bbox || polygon ? parseArea({ bbox, polygon }) : undefined
  const options = { ...kindOptions, area, scheme }
  const { grid = kindOptions.usualGrid } = kindOptions
  const source = await openIn(grid, name, { ...options, isGridGiven: kindOptions.grid !== undefined })
  const { isInGrid, fields: { grid: statedGrid } } = source
  const isOther = statedGrid !== undefined && !isSameGrid({ grid: statedGrid }, { grid })
  if (kindOptions.grid === undefined && isOther && !isInGrid) {
    // rows from the south and areas depend on the grid, which only the source knows
    await source.close()
    return openIn(statedGrid, name, options)
  }
  const hasOwnGrid = isOther && kindOptions.grid === undefined
  if (grid !== undefined && !hasOwnGrid) source.fields = { ...source.fields, grid }
  return source
}

/** @param {string | object | undefined} field @param {string} name @param {any} options */
async function openIn (field, name, { area: areaOption, zooms, ...options }) {
  const grid = gridOf({ grid: field })
  const area = areaOption?.in(grid)
  const isSelected = selectorOf(area, zooms)
  const seen = new Extent(grid)
  const selected = (z, x, y) => {
    seen.add(z, x, y)
    return isSelected(z, x, y)
  }
  const source = await open(name, { ...options, grid: field, area, zooms, selected: area ? selected : isSelected })
  return area ? Object.assign(source, { wanted: { area, seen } }) : source
}

/** @param {string} name @param {SourceOptions & import('./upstream.js').Asking} options @returns {Promise<Source>} */
async function open (name, options) {
  const foreign = schemeError(name)
  if (foreign) throw foreign
  const url = urlOf(name)
  if (url) return openUrl(url, name, options)
  const kind = fileKinds[await recognise(name) ?? '']
  const source = kind ? await kind(name, options) : await openOther(name, options)
  if (!source) throw new TilecouchError('SOURCE_UNKNOWN', { value: name })
  return source
}

/** A file of another kind, if it can be read at all. */
async function openOther (name, options) {
  const begin = await beginOf(name, BEGIN).catch(() => undefined)
  return begin && description.openFile(name, begin, options)
}

/** @param {URL} url @param {string} name @param {SourceOptions & import('./upstream.js').Asking} options */
async function openUrl (url, name, options) {
  const kind = urlKinds.find(urlKind => urlKind.recognisesUrl(url, options))
  if (kind) return kind.open(name, options)
  const addressError = otherAddress(url, name)
  if (addressError) throw addressError
  if (url.search || !store.recognisesUrl(url, options)) return description.open(name, options)
  try {
    return await store.open(name, options)
  } catch (error) {
    if (!NO_DATABASE.has(error.code)) throw error
    const service = likelyService(url, name)
    if (service) throw service
    return await describedAt(name, options, error)
  }
}

/** Opens an address that is no database as a description of tiles. If that fails too, the first error counts. */
async function describedAt (name, options, error) {
  try {
    return await description.open(name, options)
  } catch (secondError) {
    throw TELLING.has(secondError.code) ? secondError : error
  }
}

/** @param {string} name */
export const isUrl = name => /^https?:\/\//i.test(name)

function urlOf (name) {
  if (!isUrl(name)) return undefined
  if (!URL.canParse(name)) throw new TilecouchError('SOURCE_UNKNOWN', { value: name })
  return new URL(name)
}
