// Describes files that hold no tiles, and names the commands that make tiles of them. Files are recognised by their
// first bytes, else by their names.
import path from 'node:path'
import { formatOf, scrub } from '../../core/index.js'
import { TilecouchError } from '../errors.js'

/**
 * @typedef {object} Kind
 * @property {string} what it is
 * @property {string} how to go on, before the commands
 * @property {(file: string, stem: string) => string[]} next commands; stem: the name of the file, without its ending
 */

export const loadCommand = (source, more = '') => `tilecouch load ${quoted(source)} --layer NAME${more}`

const cutIntoTiles = (file, stem) => {
  const target = `${stem}-tiles`
  return [`gdal2tiles.py --xyz -w none ${quoted(file)} ${quoted(target)}`, loadCommand(target)]
}
const toVectorTiles = (file, stem) =>
  [`ogr2ogr -f MBTILES ${quoted(`${stem}.mbtiles`)} ${quoted(file)} -dsco MAXZOOM=12`, loadCommand(`${stem}.mbtiles`)]
const toImages = (file, stem) => {
  const target = quoted(`${stem}.mbtiles`)
  const translateCommand = `gdal_translate -of MBTILES ${quoted(file)} ${target}`
  return [translateCommand, `gdaladdo -r average ${target} 2 4 8 16`, loadCommand(`${stem}.mbtiles`)]
}
const toEither = (file, stem) => [
  '# if it holds images:', ...toImages(file, stem),
  '# if it holds points, lines and areas:', ...toVectorTiles(file, stem)
]

const loadDrawn = (file, stem) => [loadCommand(`${stem}.mbtiles`)]

const unpacking = commandFor => (file, stem) => {
  const [before, after] = commandFor(quoted(stem))
  return [`${before} ${quoted(file)} ${after}`, loadCommand(stem)]
}

const UNPACK = 'Unpack it, then load the folder that holds the zooms; or make MBTiles or PMTiles of the tiles'
const CUT = 'Cut it into tiles with GDAL, then load these'
const QGIS = 'Open it in QGIS, run Processing > Toolbox > Generate XYZ tiles (MBTiles), then load the file that it ' +
  'writes'

/** @type {Record<string, Kind>} */
const kinds = {
  tiff: { what: 'a TIFF image, such as a GeoTIFF: one large image, no tiles', how: CUT, next: cutIntoTiles },
  raster: { what: 'one large raster, no tiles', how: CUT, next: cutIntoTiles },
  image: {
    what: 'a single image, no tiles',
    how: 'If you know where on the map it lies, say so to GDAL, cut it into tiles, then load these',
    next: (file, stem) => [
      `gdal_translate -a_srs EPSG:4326 -a_ullr WEST NORTH EAST SOUTH ${quoted(file)} ${quoted(`${stem}.tif`)}`,
      ...cutIntoTiles(`${stem}.tif`, stem)
    ]
  },
  shapefile: {
    what: 'a shapefile: points, lines or areas, no tiles',
    how: 'Make vector tiles of it, then load these',
    next: (file, stem) => toVectorTiles(file.replace(/\.(shx|dbf)$/i, '.shp'), stem)
  },
  geojson: {
    what: 'GeoJSON: points, lines or areas, no tiles',
    how: 'Make vector tiles of it, then load these',
    next: (file, stem) => [
      `tippecanoe -zg -o ${quoted(`${stem}.mbtiles`)} ${quoted(file)}`, loadCommand(`${stem}.mbtiles`)
    ]
  },
  geopackage: {
    what: 'a GeoPackage, which tilecouch does not read', how: 'Make MBTiles of it, then load these', next: toEither
  },
  kml: {
    what: 'KML for Google Earth, which tilecouch does not read',
    how: 'Make MBTiles of it, then load these',
    next: toEither
  },
  osm: {
    what: 'raw data of OpenStreetMap, no tiles',
    how: 'Make vector tiles of it, for example with Planetiler, then load these',
    next: (file, stem) => [
      `java -jar planetiler.jar --download --osm-path=${quoted(file)} --output=${quoted(`${stem}.pmtiles`)}`,
      loadCommand(`${stem}.pmtiles`)
    ]
  },
  qgis: { what: 'a QGIS project, which only QGIS can draw', how: QGIS, next: loadDrawn },
  qlr: { what: 'a layer definition of QGIS: it says where data are, and holds none', how: QGIS, next: loadDrawn },
  esri: {
    what: 'an Esri cache, which tilecouch does not read',
    how: 'Make MBTiles of it (docs/sources.md, Esri caches), then load these',
    next: () => [loadCommand('cache.mbtiles')]
  },
  zip: {
    what: 'a zip, which tilecouch does not read', how: UNPACK, next: unpacking(folder => ['unzip -q', `-d ${folder}`])
  },
  tar: {
    what: 'a tar, which tilecouch does not read',
    how: UNPACK,
    next: unpacking(folder => [`mkdir ${folder} && tar xf`, `-C ${folder}`])
  },
  html: {
    what: 'a web page, no tiles',
    how: 'Find the address of the tiles that it shows, then load that',
    next: () => [serverCommand('https://HOST/{z}/{x}/{y}.png')]
  }
}

/** The command for a tile server, which does not say where it has tiles. */
export const serverCommand = address => loadCommand(address, ' --bbox WEST,SOUTH,EAST,NORTH --zoom 0-12')

/** @type {[kind: string, offset: number, text: string][]} */
const magics = [
  ['tiff', 0, 'II*\0'],
  ['tiff', 0, 'MM\0*'],
  ['tiff', 0, 'II+\0'], // larger than 4 GB
  ['tiff', 0, 'MM\0+'],
  ['raster', 4, 'jP  '], // JPEG 2000
  ['shapefile', 0, '\0\0\x27\x0a\0\0\0\0'],
  ['osm', 6, 'OSMHeader'],
  ['zip', 0, 'PK\x03\x04'],
  ['zip', 0, 'PK\x05\x06'], // a zip without files
  ['tar', 257, 'ustar'] // every tar since 1988
]

/** Kinds by the name of the first element of XML. */
const roots = {
  __proto__: null, qgis: 'qgis', qlr: 'qlr', kml: 'kml', osm: 'osm', VRTDataset: 'raster', html: 'html', HTML: 'html'
}

/** @param {string} root see rootOf @returns {string | undefined} */
export const kindOfRoot = root => roots[root]

/** @type {[kind: string, ending: RegExp][]} */
const endings = [
  ['tiff', /\.tiff?$/i],
  ['raster', /\.(?:vrt|jp2|ecw|sid|img|asc|hgt|nc)$/i],
  ['shapefile', /\.(?:shp|shx|dbf)$/i],
  ['geojson', /\.geojson[ls]?$/i],
  ['geopackage', /\.gpkg$/i],
  ['kml', /\.km[lz]$/i],
  ['osm', /\.(?:osm|osm\.pbf|osm\.bz2|o5m)$/i],
  ['qgis', /\.qg[sz]$/i],
  ['qlr', /\.qlr$/i],
  ['esri', /(?:\.bundle|\.bundlx|\.tpkx?|(?:^|[\\/])conf\.xml)$/i],
  ['image', /\.(?:png|jpe?g|webp|avif|gif|bmp)$/i],
  ['zip', /\.zip$/i],
  ['tar', /\.(?:tar|tgz|tar\.gz)$/i]
]

/** @param {string | undefined} kind @returns {kind is string} */
export const isArchive = kind => kind === 'zip' || kind === 'tar'

export const kindOfName = name => endings.find(([, ending]) => ending.test(name))?.[0]

/**
 * @param {Buffer} begin of a file
 * @returns {string | undefined}
 */
export function kindOfBytes (begin) {
  const magic = magics.find(([, offset, text]) => begin.toString('latin1', offset, offset + text.length) === text)
  if (magic) return magic[0]
  if (isGeoPackage(begin)) return 'geopackage'
  const format = formatOf(begin)
  return format && format !== 'mvt' ? 'image' : undefined
}

const PACKED = /\.(?:kmz|qgz)$/i // a zip by its bytes, but of one kind

/** The kind of a file by its first bytes, else by its name. @param {string} name @param {Buffer} begin */
export function kindOfFile (name, begin) {
  const kind = kindOfBytes(begin)
  return kind && !(kind === 'zip' && PACKED.test(name)) ? kind : kindOfName(name)
}

const GEOPACKAGES = new Set(['GPKG', 'GP10', 'GP11'])

/** A GeoPackage is a SQLite file, as MBTiles are, and says so. @param {Buffer} begin of a file */
export const isGeoPackage = begin =>
  begin.toString('latin1', 0, 6) === 'SQLite' && GEOPACKAGES.has(begin.toString('latin1', 68, 72))

const BEGIN = 4096 // characters in which the first element of XML is looked for

/** The name of the first element of XML or HTML, without its namespace. @param {string} text */
export function rootOf (text) {
  const begin = text.slice(0, BEGIN).replace(/^\ufeff/, '').trimStart()
  return begin.startsWith('<') ? /<(?:\w+:)?([a-z][\w.-]*)/i.exec(begin)?.[1] : undefined
}

/**
 * The error for a file without tiles.
 * @param {string} kind
 * @param {string} name of the file, or its address
 * @param {{inside?: string, made?: string, before?: string[]}} [options] inside: such a file in it, if it is a
 *   folder; before: commands before the others, which use the file `made` instead
 */
export function notTiles (kind, name, { inside, made = inside, before = [] } = {}) {
  const { what, how, next } = kinds[kind]
  const isRemote = /^https?:\/\//i.test(name)
  const file = made ?? (isRemote ? path.posix.basename(new URL(name).pathname) : name)
  const fetchCommands = isRemote && kind !== 'html' ? [`curl -fLO ${quoted(name)}`] : []
  return refusal(name, what, { inside, how, lines: [...fetchCommands, ...before, ...next(file, stemOf(file))] })
}

/**
 * Makes an error whose advice lists the commands to type next.
 * @param {string} value @param {string} what it is
 * @param {{inside?: string, how: string, lines: string[]}} next
 */
export function refusal (value, what, { inside, how, lines }) {
  const error = new TilecouchError('SOURCE_NOT_TILES', {
    value, what, ...(inside && { inside: path.basename(inside) })
  })
  return Object.assign(error, { advice: adviceOf(how, lines) })
}

/** Joins lines for a terminal. Characters of names that could control it are replaced. @param {string[]} lines */
export const adviceOf = (how, lines) =>
  scrub([`${how}:`, ...lines].map(line => line.replace(/\p{Cc}/gu, '\ufffd')).join('\n    '))

const stemOf = file => path.basename(file).replace(/\.(?:osm\.pbf|osm\.bz2|tar\.gz|[^.]+)$/i, '') || 'tiles'

/** Quotes a text for a shell. */
export const quoted = text => /^[\w./:@%+=,~-]+$/.test(text) ? text : `"${text.replace(/(["\\$`])/g, '\\$1')}"`
