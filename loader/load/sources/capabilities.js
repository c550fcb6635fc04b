// XML that describes maps: capabilities of a WMS, a TMS, files of QGIS. Nothing of it is loaded as it is: the
// errors say what it is, and what to type next.
import { decodedText } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'
import { kindOfRoot, loadCommand, notTiles, refusal, serverCommand } from '../../formats/other-kinds.js'
import { wms } from './services.js'
import { absolute, blocksOf, plain, withoutSecrets } from './templates.js'

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
  if (root === 'TileMap') return tileMap(text, where)
  const template = root === 'qlr' ? templateOfQgis(text) : undefined
  if (template) {
    const lines = [serverCommand(withoutSecrets(template).url)]
    return refusal(name, 'a layer definition of QGIS: it names a tile server', { how: 'Load from that server', lines })
  }
  const kind = kindOfRoot(root)
  return kind ? notTiles(kind, name) : new TilecouchError('SOURCE_UNKNOWN', { value: name, why: `it is XML (${root})` })
}

/** Those that can be drawn: others only hold layers. */
function wmsLayers (xml) {
  const titledName = /^\s*(?:<Title>[^<]*<\/Title>\s*)?<Name>([^<]{1,200})<\/Name>/
  const names = blocksOf('Layer', xml).map(block => titledName.exec(block)?.[1])
  return [...new Set(names.flatMap(name => name ? [plain(name)] : []))]
}

/** A connection of QGIS to a tile server, such as type=xyz&url=… */
function templateOfQgis (xml) {
  const connection = xml.split(/[<>"']/).find(part => /\btype=xyz\b/.test(part) && /\burl=/.test(part))
  const [, url] = /\burl=([^&\s]+)/.exec(connection ?? '') ?? []
  return url && decodedText(url)
}

/** A TMS, or what gdal2tiles leaves beside its tiles. @param {string} xml @param {Where} where */
function tileMap (xml, { name, base }) {
  const [, ext = 'png'] = /<TileFormat\b[^<>]*\bextension="(\w+)"/.exec(xml) ?? []
  const next = base
    ? { how: 'Load these', lines: [`${serverCommand(absolute(`{z}/{x}/{y}.${ext}`, { name, base }))} --scheme tms`] }
    : {
      how: 'Load the folder that it is in', lines: [loadCommand(name.replace(/[^\\/]*$/, '') || '.', ' --scheme tms')]
    }
  return refusal(name, 'the description of tiles with rows from the south (TMS)', next)
}
