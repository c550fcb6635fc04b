// The addresses of a layer, one for each kind of program.

export { isTime } from '../../core/addresses.js'

/**
 * @typedef {{id: string, name: string, description?: string, attribution?: string, minzoom?: number, maxzoom?: number,
 *   format: string, tiles?: string[], retina?: string[], vector_layers?: object[]}} Listed an entry of /index.json;
 *   without tiles: in another grid than Web Mercator
 * @typedef {'xyz' | 'retina' | 'tilejson' | 'style' | 'wmts' | 'ogc' | 'qgis' | 'gdal'} Kind
 */

/** @param {Listed} layer */
export const isVector = ({ format, vector_layers: layers }) => format === 'pbf' || layers !== undefined

/**
 * @param {Listed} layer @param {string} [time] as written
 * @returns {{kind: Kind, address: string}[]}
 */
export function addressesOf (layer, time) {
  const { id, format, tiles, retina } = layer
  const base = tiles ? tiles[0].slice(0, tiles[0].indexOf(`${id}/{z}`)) : new URL('.', location.href).href
  const prefix = base + (time ? `${id}@${time}` : id)
  /** @type {[Kind, string | false | undefined][]} */
  const candidates = [
    ['xyz', tiles && `${prefix}/{z}/{x}/{y}.${format}`],
    ['retina', retina && `${prefix}/{z}/{x}/{y}@2x.${format}`],
    ['tilejson', tiles && `${prefix}.json`],
    ['style', isVector(layer) && `${prefix}/style.json`],
    ['qgis', `${prefix}.qlr`],
    ['wmts', `${base}wmts${time ? `@${time}` : ''}/1.0.0/WMTSCapabilities.xml`],
    ['ogc', `${base}ogc/collections/${id}${time ? `?datetime=${time}` : ''}`],
    ['gdal', !isVector(layer) && `${prefix}/gdal.xml`]
  ]
  return candidates.flatMap(([kind, address]) => address ? [{ kind, address }] : [])
}
