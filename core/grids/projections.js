// Projections of reference systems other than Web Mercator, by proj4js. proj4js is not imported here because most maps
// do not need it and it is larger than the script of a map. In Node loader/ imports it. A page loads it first, as for
// Leaflet (Proj4Leaflet) and OpenLayers.
import { TilecouchError } from '../errors.js'

/** @typedef {[number, number]} Position */
/** @typedef {{forward: (lonLat: Position) => Position, inverse: (position: Position) => Position}} Projection */

/** Code of a system -> its PROJ string. definitionOf also has UTM zones and degrees. */
const definitions = {
  'EPSG:2056': '+proj=somerc +lat_0=46.9524055555556 +lon_0=7.43958333333333 +k_0=1 +x_0=2600000 +y_0=1200000 ' +
    '+ellps=bessel +towgs84=674.374,15.056,405.346,0,0,0,0 +units=m +no_defs',
  'EPSG:2154': '+proj=lcc +lat_0=46.5 +lon_0=3 +lat_1=49 +lat_2=44 +x_0=700000 +y_0=6600000 +ellps=GRS80 ' +
    '+towgs84=0,0,0,0,0,0,0 +units=m +no_defs',
  'EPSG:3031': '+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=0 +x_0=0 +y_0=0 +datum=WGS84 +units=m +no_defs',
  'EPSG:3035': '+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80 +towgs84=0,0,0,0,0,0,0 ' +
    '+units=m +no_defs',
  'EPSG:3413': '+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +x_0=0 +y_0=0 +datum=WGS84 +units=m +no_defs',
  'EPSG:3857': '+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null ' +
    '+no_defs',
  'EPSG:3995': '+proj=stere +lat_0=90 +lat_ts=71 +lon_0=0 +x_0=0 +y_0=0 +datum=WGS84 +units=m +no_defs',
  'EPSG:5041': '+proj=stere +lat_0=90 +lon_0=0 +k=0.994 +x_0=2000000 +y_0=2000000 +datum=WGS84 +units=m +no_defs',
  'EPSG:5042': '+proj=stere +lat_0=-90 +lon_0=0 +k=0.994 +x_0=2000000 +y_0=2000000 +datum=WGS84 +units=m +no_defs',
  'EPSG:21781': '+proj=somerc +lat_0=46.9524055555556 +lon_0=7.43958333333333 +k_0=1 +x_0=600000 +y_0=200000 ' +
    '+ellps=bessel +towgs84=674.374,15.056,405.346,0,0,0,0 +units=m +no_defs',
  'EPSG:28992': '+proj=sterea +lat_0=52.1561605555556 +lon_0=5.38763888888889 +k=0.9999079 +x_0=155000 +y_0=463000 ' +
    '+ellps=bessel +towgs84=565.417,50.3319,465.552,-0.398957,0.343988,-1.8774,4.0725 +units=m +no_defs'
}
const DEGREES = new Set(['OGC:CRS84', 'EPSG:4326', 'EPSG:4258'])
const ENDLESS = 'Mollweide' // proj4js iterates until it converges: for ever if a coordinate is not a number
const UTM = /^EPSG:(326|327|258)([0-5]\d|60)$/

/** @type {any} */
let registered

/** Code of a system -> the projection of a map library. @type {Map<string, Projection>} */
const mapProjections = new Map()

/**
 * Registers the proj4js that tilecouch uses for other grids. Call it once: `registerProj4(proj4)`. A page that loads
 * proj4js as a script needs no call: tilecouch finds the global `proj4`.
 * @param {any} proj4
 */
export function registerProj4 (proj4) {
  registered = proj4
}

/** The proj4js of the page, or nothing. */
export const knownProj4 = () => registered ?? /** @type {any} */ (globalThis).proj4

/**
 * Registers a projection of a map library. It is used if there is no proj4js.
 * @param {string} crs its code @param {Projection} projection
 */
export function registerProjection (crs, projection) {
  mapProjections.set(crs, projection)
}

/** The PROJ string of a system, or undefined if it is unknown. @param {string} crs its code */
export function definitionOf (crs) {
  if (Object.hasOwn(definitions, crs)) return definitions[crs]
  if (DEGREES.has(crs)) return '+proj=longlat +datum=WGS84 +no_defs'
  const [, series, zone] = UTM.exec(crs) ?? []
  if (!+zone) return
  const datum = series === '258' ? '+ellps=GRS80 +towgs84=0,0,0,0,0,0,0' : '+datum=WGS84'
  return `+proj=utm +zone=${+zone} ${series === '327' ? '+south ' : ''}${datum} +units=m +no_defs`
}

/**
 * @param {string} crs its code
 * @param {string | object} [definition] a PROJ string, WKT or PROJJSON; not needed for known systems
 * @returns {Projection}
 */
export function projectionOf (crs, definition = definitionOf(crs)) {
  if (DEGREES.has(crs)) return { forward: position => position, inverse: position => position }
  const proj4 = knownProj4()
  const mapProjection = mapProjections.get(crs)
  if (!proj4 && mapProjection) return mapProjection
  if (!proj4) throw new TilecouchError('NO_PROJ4', { crs })
  try {
    const { oProj, forward, inverse } = proj4(definition)
    if (oProj.datum?.grids) throw new Error('it needs a file (nadgrids)')
    const isEndless = [oProj, oProj.obliqueProjection].some(projection => projection?.names?.includes(ENDLESS))
    if (isEndless) throw new Error(`${ENDLESS} is not used`)
    return { forward: position => forward([...position]), inverse: position => inverse([...position]) }
  } catch (error) {
    throw new TilecouchError('BAD_GRID', { why: `proj4js cannot read the definition of ${crs}: ` +
      `${error?.message ?? error}` })
  }
}
