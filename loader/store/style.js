// Reads a style of a layer with its sprite and glyphs from a file or a folder, checks that everything it names can be
// served, and stores it. A folder has:
//
//   style.json
//   sprite.json  sprite.png  sprite@2x.json  sprite@2x.png
//   glyphs/Noto Sans Regular/0-255.pbf  …
import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { now, startOf } from '../../core/index.js'
import { stacksIn } from '../../core/label-text.js'
import { ignoring } from '../../core/promises.js'
import { isRecordValue } from '../../core/record-values.js'
import { TilecouchError } from '../errors.js'
import { plainTextOf, readRegular } from '../formats/files.js'

const styleLimits = {
  style: 1_000_000, // characters of a style
  file: 4_194_304, // bytes of one file, as validate_doc_update.js has it
  files: 2000, // of a style
  bytes: 16_000_000 // of all files together: a mirror has them in memory at once
}

const REMOTE = /^https?:\/\//i
const INSIDE = /^couch:\/\/([a-z0-9][a-z0-9_-]*)(@[^/?#]*)?(\/[^?#]*)?$/
const TILED = ['vector', 'raster', 'raster-dem']

/**
 * @param {import('./index.js').Store} store
 * @param {string} layer
 * @param {string} file a style.json, or a folder with one, its sprite and glyphs
 * @param {{time?: string, signal?: AbortSignal}} [options] time: from which on the style counts. Without it, the style
 *   counts from now on, and is not stored if the present style is the same
 * @returns {Promise<{layer: string, time: string, isNew: boolean, files: number, bytes: number, ignored: string[]}>}
 *   isNew: false if the same style was stored before, for `time`; ignored: names in the folder that are no part of a
 *   style
 */
export async function storeStyle (store, layer, file, { time, signal } = {}) {
  const exact = startOf(time ?? now())
  const { style, files, ignored } = await readStyle(file)
  const layers = new Set((await store.layers()).map(doc => doc.layer))
  if (!layers.has(layer)) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  const why = whyNotStyle(style, Object.keys(files), layers)
  if (why) throw new TilecouchError('BAD_STYLE', { file, why })
  const digest = digestOf(style, files)
  const styleOfNow = time === undefined ? await soundStyle(store, layer, exact, signal) : undefined
  const stored = styleOfNow?.digest === digest
    ? { time: styleOfNow.time, isNew: false }
    : await store.putStyle(layer, { time: exact, style, files, digest }, { signal })
  const fileList = Object.values(files)
  const bytes = fileList.reduce((sum, entry) => sum + entry.bytes.length, 0)
  return { layer, time: stored.time, isNew: stored.isNew, files: fileList.length, bytes, ignored }
}

/** The style as of a time; undefined if it is invalid, so that a new one is stored. */
const soundStyle = (store, layer, time, signal) =>
  store.style(layer, time, { signal }).catch(ignoring('BAD_DOCUMENT'))

/** A digest of a style and its files. CouchDB's own digests depend on its compression. */
function digestOf (style, files) {
  const hash = createHash('sha256').update(JSON.stringify(style))
  for (const [name, { bytes }] of Object.entries(files).sort(([a], [b]) => a < b ? -1 : 1)) {
    hash.update(`\n${name} ${bytes.length}\n`).update(bytes)
  }
  return hash.digest('base64url')
}

/** The content type of a file that a style may have, by its name. @param {string} name with slashes */
const typeOf = name => {
  if (/^sprite(@2x)?\.json$/.test(name)) return 'application/json'
  if (/^sprite(@2x)?\.png$/.test(name)) return 'image/png'
  return /^glyphs\/[^/,]{1,100}\/\d{1,7}-\d{1,7}\.pbf$/.test(name) ? 'application/x-protobuf' : undefined
}

/**
 * @param {string} source a file or a folder
 * @returns {Promise<{style: any, files: import('./styles.js').StyleFiles, ignored: string[]}>}
 */
export async function readStyle (source) {
  const isFolder = await stat(source).then(stats => stats.isDirectory(), () => {
    throw new TilecouchError('SOURCE_NOT_FOUND', { value: source })
  })
  const names = isFolder ? (await namesIn(source)).filter(name => name !== 'style.json') : []
  const style = parse(await read(isFolder ? path.join(source, 'style.json') : source, styleLimits.style), source)
  const styleFiles = names.filter(typeOf)
  if (styleFiles.length > styleLimits.files) {
    throw bad(source, `it has ${styleFiles.length} files, more than ${styleLimits.files}`)
  }
  /** @type {import('./styles.js').StyleFiles} */
  const files = {}
  let total = 0
  for (const name of styleFiles) {
    const bytes = await read(path.join(source, name), styleLimits.file)
    total += bytes.length
    if (total > styleLimits.bytes) throw bad(source, `its files have more than ${styleLimits.bytes} bytes`)
    const why = whyNotFile(name, bytes)
    if (why) throw bad(source, `${name} ${why}`)
    files[name] = { type: /** @type {string} */ (typeOf(name)), bytes }
  }
  return { style, files, ignored: names.filter(name => !typeOf(name)) }
}

const bad = (file, why) => new TilecouchError('BAD_STYLE', { file, why })

/** Names below a folder, with slashes, in order. */
async function namesIn (folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const name = entry => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/')
  return entries.filter(entry => !entry.isDirectory()).map(name).sort()
}

async function read (file, most) {
  try {
    return await readRegular(file, { most })
  } catch (error) {
    if (error.code === 'ENOENT') throw bad(file, 'there is no such file')
    throw error instanceof TilecouchError ? error : bad(file, error.message)
  }
}

function parse (bytes, file) {
  try {
    return JSON.parse(plainTextOf(bytes))
  } catch (error) {
    throw bad(file, `it is not JSON: ${error.message}`)
  }
}

/** The fault in a file of a style, if there is one. */
function whyNotFile (name, bytes) {
  if (name.endsWith('.png')) return bytes.toString('latin1', 1, 4) === 'PNG' ? undefined : 'is no PNG'
  if (!name.endsWith('.json')) return bytes.length ? undefined : 'is empty'
  try {
    JSON.parse(String(bytes))
  } catch (error) {
    return `is not JSON: ${error.message}`
  }
}

/**
 * Checks a style before it is stored.
 * @param {any} style
 * @param {string[]} files beside it
 * @param {Set<string>} layers of the store
 * @returns {string | undefined} the first fault, in words
 */
export function whyNotStyle (style, files, layers) {
  if (!isRecordValue(style, 'style')) return 'it is no style of version 8, with sources and layers'
  return whyNotSources(style.sources, layers) ?? whyNotLayers(style) ?? whyNotSprite(style, files) ??
    whyNotGlyphs(style, files)
}

function whyNotSources (sources, layers) {
  for (const [name, source] of Object.entries(sources)) {
    const where = `its source ${JSON.stringify(name)}`
    if (!TILED.includes(source?.type)) {
      if (typeof source?.type === 'string') continue // such as GeoJSON: without tiles of a layer
      return `${where} has no type`
    }
    const { url, tiles } = source
    const addresses = [url, ...Array.isArray(tiles) ? tiles : []].filter(text => text !== undefined)
    if (!addresses.length) return `${where} has no url and no tiles: write "url": "couch://LAYER"`
    for (const text of addresses) {
      if (REMOTE.test(text)) continue
      const [, layer] = INSIDE.exec(text) ?? []
      if (layer === undefined) return `${where} is at ${JSON.stringify(text)}: write couch://LAYER, or a whole address`
      if (!layers.has(layer)) return `${where} is of the layer ${JSON.stringify(layer)}, which the store does not have`
    }
  }
}

function whyNotLayers ({ layers, sources }) {
  for (const { id, type, source } of layers) {
    if (typeof id !== 'string' || typeof type !== 'string') return 'one of its layers has no id or no type'
    if (source === undefined || Object.hasOwn(sources, source)) continue
    return `its layer ${JSON.stringify(id)} is of the source ${JSON.stringify(source)}, which it does not have`
  }
}

function whyNotSprite ({ sprite }, files) {
  for (const end of ['', '@2x']) {
    const [text, image] = [`sprite${end}.json`, `sprite${end}.png`]
    if (files.includes(text) !== files.includes(image)) {
      return files.includes(text) ? `${text} has no ${image} beside it` : `${image} has no ${text} beside it`
    }
  }
  const hasSprite = files.includes('sprite.json')
  if (files.includes('sprite@2x.json') && !hasSprite) return 'sprite@2x.json has no sprite.json beside it'
  if (Array.isArray(sprite)) {
    if (hasSprite) return 'it names several sprites: sprite.json can stand for only one'
    if (sprite.every(entry => REMOTE.test(entry?.url))) return
    return 'its sprites are not at whole addresses'
  }
  if (sprite === undefined || hasSprite || REMOTE.test(sprite)) return
  return `its sprite is at ${JSON.stringify(sprite)}: put sprite.json and sprite.png beside it, or give a whole address`
}

function whyNotGlyphs ({ glyphs, layers }, files) {
  const fonts = new Set(files.filter(name => name.startsWith('glyphs/')).map(name => name.split('/')[1]))
  if (!fonts.size) {
    if (glyphs === undefined || REMOTE.test(glyphs)) return
    return `its glyphs are at ${JSON.stringify(glyphs)}: put them into glyphs/FONT/0-255.pbf, give a whole address, ` +
      'or leave glyphs out: maps then write with the fonts of the device'
  }
  for (const { id, layout } of layers) {
    for (const [font] of stacksIn(layout?.['text-font'])) {
      if (!fonts.has(font)) {
        return `its layer ${JSON.stringify(id)} needs the font ${JSON.stringify(font)}, and there is no glyphs/${font}/`
      }
    }
  }
}
