// Stores a style of a layer, with its sprite and glyphs.
import { createHash } from 'node:crypto'
import { now, startOf } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { whyNotStyle } from './examine.js'
import { readStyle } from './read.js'

/**
 * @param {import('../index.js').Store} store
 * @param {string} layer that it is the style of
 * @param {string} file a style.json, or a folder with one, its sprite and glyphs
 * @param {{time?: string, signal?: AbortSignal}} [options] time: from when on it counts. Without it, from now on, and
 *   nothing is stored if the style of now is the same
 * @returns {Promise<{layer: string, time: string, isNew: boolean, files: number, bytes: number, ignored: string[]}>}
 *   isNew: false if the same style is stored already; time: of that one then; ignored: names in the folder that are no
 *   part of a style
 */
export async function storeStyle (store, layer, file, { time, signal } = {}) {
  const exact = startOf(time ?? now())
  const { style, files, ignored } = await readStyle(file)
  const layers = new Set((await store.layers()).map(one => one.layer))
  if (!layers.has(layer)) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  const why = whyNotStyle(style, Object.keys(files), layers)
  if (why) throw new TilecouchError('BAD_STYLE', { file, why })
  const digest = digestOf(style, files)
  const styleOfNow = time === undefined ? await soundStyle(store, layer, exact, signal) : undefined
  const stored = styleOfNow?.digest === digest
    ? { time: styleOfNow.time, isNew: false }
    : await store.putStyle(layer, { time: exact, style, files, digest }, { signal })
  const all = Object.values(files)
  const bytes = all.reduce((sum, one) => sum + one.bytes.length, 0)
  return { layer, time: stored.time, isNew: stored.isNew, files: all.length, bytes, ignored }
}

/** The style as of a time. One that is not valid is replaced: it is no reason to store nothing. */
const soundStyle = (store, layer, time, signal) => store.style(layer, time, { signal }).catch(error => {
  if (error.code !== 'BAD_DOCUMENT') throw error
})

/** The same for the same style with the same files. CouchDB's own digests are of what it has compressed. */
function digestOf (style, files) {
  const hash = createHash('sha256').update(JSON.stringify(style))
  for (const [name, { bytes }] of Object.entries(files).sort(([a], [b]) => a < b ? -1 : 1)) {
    hash.update(`\n${name} ${bytes.length}\n`).update(bytes)
  }
  return hash.digest('base64url')
}
