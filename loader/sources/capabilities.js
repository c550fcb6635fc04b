// XML that describes maps: capabilities of a WMS or WMTS, a TMS, files of QGIS. Nothing of it is loaded as it is: the
// errors say what it is, and what to type next. It is read with expressions that take what they know and skip the rest.
import { TilecouchError } from '../errors.js'
import { kindOfRoot, loadCommand, notTiles, refusal, serverCommand } from '../formats/other-kinds.js'
import { layersWords, upstreamCommands, wms } from './services.js'
import { absolute, decoded, withoutSecrets } from './templates.js'

const MERCATOR = /(?:3857|900913|3785|102100)$/ // ends of the names of Web Mercator

/** @typedef {{name: string, base?: URL}} Where base: its address, if it has one */

/**
 * The error for XML and HTML.
 * @param {string} root its first element
 * @param {string} text
 * @param {Where} where
 */
export function otherXml (root, text, where) {
  const { name, base = new URL('https://HOST/wms') } = where
  if (/^WM(?:S|T_MS)_Capabilities$|^ServiceException/.test(root)) return wms(base, name, wmsLayers(text))
  if (root === 'Capabilities' && /opengis\.net\/wmts/i.test(text)) return wmts(text, where)
  if (root === 'TileMap') return tileMap(text, where)
  const template = root === 'qlr' ? templateOfQgis(text) : undefined
  if (template) {
    const lines = [serverCommand(withoutSecrets(template).url)]
    return refusal(name, 'a layer definition of QGIS: it names a tile server', { how: 'Load from that server', lines })
  }
  const kind = kindOfRoot(root)
  return kind ? notTiles(kind, name) : new TilecouchError('SOURCE_UNKNOWN', { value: name, why: `it is XML (${root})` })
}

const plain = text => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

/** The texts of all elements of a name. */
const textsOf = (tag, xml) =>
  [...xml.matchAll(new RegExp(`<(?:\\w+:)?${tag}\\b[^<>]*>([^<]*)</`, 'g'))].map(([, text]) => plain(text.trim()))

/** What follows the beginning of each element of a name, up to that of the next. */
const blocksOf = (tag, xml) => xml.split(new RegExp(`<(?:\\w+:)?${tag}(?:\\s[^<>]*)?>`)).slice(1)

/** Those that can be drawn: others only hold layers. */
function wmsLayers (xml) {
  const named = /^\s*(?:<Title>[^<]*<\/Title>\s*)?<Name>([^<]{1,200})<\/Name>/
  const names = blocksOf('Layer', xml).map(block => named.exec(block)?.[1])
  return [...new Set(names.flatMap(name => name ? [plain(name)] : []))]
}

/** A connection of QGIS to a tile server, such as type=xyz&url=… */
function templateOfQgis (xml) {
  const connection = xml.split(/[<>"']/).find(part => /\btype=xyz\b/.test(part) && /\burl=/.test(part))
  const [, url] = /\burl=([^&\s]+)/.exec(connection ?? '') ?? []
  return url && decoded(url)
}

/** A TMS, or what gdal2tiles leaves beside its tiles. @param {string} xml @param {Where} where */
function tileMap (xml, { name, base }) {
  const [, ext = 'png'] = /<TileFormat\b[^<>]*\bextension="(\w+)"/.exec(xml) ?? []
  const next = base
    ? { how: 'Load these', lines: [`${serverCommand(absolute(`{z}/{x}/{y}.${ext}`, { name, base }))} --scheme tms`] }
    : { how: 'Load the folder that it is in', lines: [loadCommand(name.replace(/[^\\/]*$/, '') || '.', ' --scheme tms')] }
  return refusal(name, 'the description of tiles with rows from the south (TMS)', next)
}

/**
 * The capabilities of a WMTS: its first layer in Web Mercator, as the settings of an upstream.
 * @param {string} xml @param {Where} where
 */
function wmts (xml, { name, base }) {
  const sets = blocksOf('TileMatrixSet', xml).filter(block => MERCATOR.test(textsOf('SupportedCRS', block)[0] ?? ''))
    .map(block => textsOf('Identifier', block)).map(([id, level = '']) => ({ id, level }))
  const layers = blocksOf('Layer', xml).map(block => ({ id: textsOf('Identifier', block)[0], block }))
  const [settings = { type: 'wmts', url: `${base?.origin ?? 'https://HOST'}/{TileMatrix}/{TileCol}/{TileRow}.png` }] =
    layers.flatMap(({ id, block }) => {
      const matrixSets = textsOf('TileMatrixSet', block)
      const matrixSet = sets.find(set => matrixSets.includes(set.id))
      const [tag = ''] = /<(?:\w+:)?ResourceURL\b[^<>]*\bresourceType="tile"[^<>]*>/.exec(block) ?? []
      const [, url] = /\btemplate="([^"]+)"/.exec(tag) ?? []
      if (!matrixSet || !url) return []
      const [style] = textsOf('Identifier', blocksOf('Style', block)[0] ?? '')
      const before = matrixSet.level.replace(/\d+$/, '') // such as EPSG:3857:
      return [{
        type: 'wmts',
        url: plain(url),
        layers: id,
        ...(style && { styles: style }),
        matrixSet: matrixSet.id,
        ...(before && { matrix: `${before}{z}` })
      }]
    })
  return refusal(name, 'the description of a WMTS', {
    how: `Describe one layer in a file (docs/upstreams.md), and load that.${layersWords(layers.map(({ id }) => id))} Such as`,
    lines: upstreamCommands(settings)
  })
}
