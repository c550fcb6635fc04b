// Looks at a style before it is stored: what it names must be there when it is served.
import { isRecordValue } from '../../../core/record-values.js'
import { stacksIn } from '../../../core/label-text.js'

const REMOTE = /^https?:\/\//i
const INSIDE = /^couch:\/\/([a-z0-9][a-z0-9_-]*)(@[^/?#]*)?(\/[^?#]*)?$/
const TILED = ['vector', 'raster', 'raster-dem']

/**
 * @param {any} style
 * @param {string[]} files beside it
 * @param {Set<string>} layers of the store
 * @returns {string | undefined} the first thing that is wrong, in words
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
  const isThere = files.includes('sprite.json')
  if (files.includes('sprite@2x.json') && !isThere) return 'sprite@2x.json has no sprite.json beside it'
  if (Array.isArray(sprite)) {
    if (isThere) return 'it names several sprites: sprite.json can stand for only one'
    if (sprite.every(one => REMOTE.test(one?.url))) return
    return 'its sprites are not at whole addresses'
  }
  if (sprite === undefined || isThere || REMOTE.test(sprite)) return
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
