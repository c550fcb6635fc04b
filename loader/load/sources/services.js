// Errors for addresses that are not of tiles: other schemes, map services, single tiles, files of other kinds. Each
// error says what to type next. No request is needed.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { attempt } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'
import {
  adviceOf, kindOfName, loadCommand, notTiles, quoted, refusal, serverCommand
} from '../../formats/other-kinds.js'
import { withoutSecrets } from './templates.js'

const DATABASE = /\.(?:mbtiles|sqlite|db)$/i
const TILE = /\/\d{1,2}\/\d+\/\d+((?:@2x)?\.(?:png|jpe?g|webp|avif|pbf|mvt))$/i
const ARCGIS = /\/(?:Map|Image)Server\/?$/i
const WMS_PATH = /\/(?:wms|wmsserver|ows|mapserv(?:\.\w+)?)\/?$/i

// parameters that every GetMap request sets itself
const GET_MAP = new Set([
  'service', 'request', 'version', 'layers', 'styles', 'srs', 'crs', 'bbox', 'width', 'height', 'format', 'transparent',
  'exceptions'
])

/** The error for an address that begins with another scheme than http. @param {string} name */
export function schemeError (name) {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]+):\/\/(.*)$/is.exec(name) ?? []
  if (scheme === undefined || /^https?$/i.test(scheme)) return undefined
  switch (scheme.toLowerCase()) {
    case 's3': return bucket(name, rest, {
      host: place => `${place}.s3.amazonaws.com`, copy: 'aws s3 cp', sync: 'aws s3 sync'
    })
    case 'gs': return bucket(name, rest, {
      host: place => `storage.googleapis.com/${place}`,
      copy: 'gcloud storage cp',
      sync: 'gcloud storage rsync --recursive'
    })
    case 'pmtiles':
    case 'mbtiles':
      return refusal(name, `an address with ${scheme}:// before it`, {
        how: 'Leave that out', lines: [loadCommand(rest)]
      })
    case 'file':
      return refusal(name, 'the address of a file', {
        how: 'Give its path', lines: [loadCommand(attempt(() => fileURLToPath(name)) ?? rest)]
      })
    default:
      return refusal(name, `an address that begins with ${scheme}://, which tilecouch does not read`, {
        how: 'Download the tiles, then load the file or folder',
        lines: [loadCommand(path.posix.basename(rest) || 'tiles')]
      })
  }
}

/**
 * The error for an address in object storage. Only PMTiles can be read there, over HTTPS.
 * @param {string} name @param {string} rest without the scheme
 * @param {{host: (place: string) => string, copy: string, sync: string}} provider its commands
 */
function bucket (name, rest, { host, copy, sync }) {
  const [bucketName, ...keys] = rest.split('/')
  const key = keys.join('/')
  if (/\.pmtiles$/i.test(key)) {
    return refusal(name, 'in object storage, which tilecouch reads over HTTPS', {
      how: 'If the object is public, or else with a signed address',
      lines: [loadCommand(`https://${host(bucketName)}/${key}`)]
    })
  }
  const file = /\.\w+$/.test(key) ? path.posix.basename(key) : undefined
  const copying = file ? `${copy} ${quoted(name)} .` : `${sync} ${quoted(name)} tiles`
  return refusal(name, 'in object storage, of which tilecouch reads only PMTiles', {
    how: 'Copy it, then load the copy', lines: [copying, loadCommand(file ?? 'tiles')]
  })
}

/** The error for an address that is clearly not one of tiles. @param {URL} url @param {string} name as typed */
export function otherAddress (url, name) {
  const { pathname } = url
  if (DATABASE.test(pathname)) {
    const error = new TilecouchError('SOURCE_UNKNOWN', {
      value: name, why: 'of files only PMTiles are read where they lie'
    })
    const download = `curl -fLO ${quoted(url.origin + pathname + url.search)}`
    const lines = [download, loadCommand(path.posix.basename(pathname))]
    return Object.assign(error, { advice: adviceOf('Download it, then load the file', lines) })
  }
  if (asksWms(url)) return wms(url, name)
  const [tile, ending] = TILE.exec(pathname) ?? []
  if (tile) {
    const template = withoutKeys(`${url.origin}${pathname.slice(0, -tile.length)}/{z}/{x}/{y}${ending}${url.search}`)
    return refusal(withoutKeys(name), 'the address of one tile', {
      how: 'Write {z}, {x} and {y} for its numbers', lines: [serverCommand(template)]
    })
  }
  if (ARCGIS.test(pathname)) return arcgis(url, name)
  const kind = kindOfName(pathname)
  return kind && notTiles(kind, name)
}

/** An address without keys, for settings and messages. @param {string} address */
const withoutKeys = address => withoutSecrets(address).url

const asksWms = url => valueOf(url, 'service')?.toLowerCase() === 'wms'

/** The error for the address of a WMS in place of a template. @param {string} text */
export function wmsForTemplate (text) {
  const url = !text.includes('{') && URL.canParse(text) ? new URL(text) : undefined
  return url && (asksWms(url) ? wms(url, text) : likelyService(url, text))
}

/**
 * The error for an address that was taken for a database, but is probably one of a WMS.
 * @param {URL} url @param {string} name
 */
export const likelyService = (url, name) => WMS_PATH.test(url.pathname) ? wms(url, name) : undefined

/** @param {URL} url @param {string} name */
export const arcgis = (url, name) => refusal(name, 'a map service of ArcGIS', {
  how: 'If it has tiles in Web Mercator, load them',
  lines: [serverCommand(`${url.origin}${url.pathname.replace(/\/$/, '')}/tile/{z}/{y}/{x}`)]
})

/** @param {URL} url @param {string} name @param {string[]} [layers] that it has */
export function wms (url, name, layers = []) {
  const settings = wmsSettings(new URL(withoutKeys(url.href)))
  const [first] = layers
  const described = { ...settings, layers: settings.layers ?? first ?? 'LAYERS' }
  return refusal(withoutKeys(name), 'a WMS, which draws maps of any size', {
    how: `Describe it in a file (docs/upstreams.md), and load that.${layersWords(layers)} ` +
      'Such as', lines: upstreamCommands(described)
  })
}

const MOST = 10 // names of layers in a message

/** @param {string[]} names */
export const layersWords = names =>
  names.length > 1
    ? ` Its layers are ${names.slice(0, MOST).join(', ')}${names.length > MOST ? ' and others' : ''}.`
    : ''

/** The commands that load a described upstream. @param {Record<string, any>} settings */
export const upstreamCommands = settings => [
  `echo '${JSON.stringify(settings).replaceAll("'", "'\\''")}' > upstream.json`,
  'tilecouch load --upstream upstream.json --layer NAME --bbox WEST,SOUTH,EAST,NORTH --zoom 0-12'
]

/** The settings of an upstream that the address of a WMS contains. @param {URL} url */
export function wmsSettings (url) {
  const otherParameters = [...url.searchParams].filter(([field]) => !GET_MAP.has(field.toLowerCase()))
  const query = otherParameters.map(pair => pair.map(encodeURIComponent).join('=')).join('&')
  const [layers, styles, format, version] = ['layers', 'styles', 'format', 'version'].map(field => valueOf(url, field))
  return {
    type: 'wms',
    url: `${url.origin}${url.pathname}${query && `?${query}`}`,
    ...(layers && { layers }),
    ...(styles && { styles }),
    ...(/^image\/(?:png|jpeg|webp)$/.test(format ?? '') && { format }),
    ...(version === '1.1.1' && { version }),
    ...(/^true$/i.test(valueOf(url, 'transparent') ?? '') && { transparent: true })
  }
}

/** A parameter, however its name is written. @param {URL} url @param {string} field in small letters */
const valueOf = (url, field) => [...url.searchParams].find(([name]) => name.toLowerCase() === field)?.[1]
