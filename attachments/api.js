// The store, as this page reads it: plain documents and views below db/, tiles beside it. Every address is relative, so
// that the page works wherever it is served.

const PATIENCE = 20000 // milliseconds until a request counts as unanswered

/** What went wrong, in words for the page. */
export class StoreError extends Error {
  /** @param {string} message @param {number} [status] */
  constructor (message, status) {
    super(message)
    this.status = status
  }
}

async function read (path) {
  let answer
  try {
    answer = await fetch(path, { signal: AbortSignal.timeout(PATIENCE) })
  } catch (error) {
    throw new StoreError(error.name === 'TimeoutError' ? `No answer within ${PATIENCE / 1000} seconds.` : 'The server cannot be reached.')
  }
  const body = await answer.json().catch(() => null)
  if (answer.ok && body) return body
  throw new StoreError(body?.reason ?? `The server answered ${answer.status} ${answer.statusText}.`, answer.status)
}

const documents = async (from, to, more = '') => {
  const { rows } = await read(`db/_all_docs?include_docs=true&startkey=${key(from)}&endkey=${key(to)}${more}`)
  return rows.map(row => row.doc)
}

const key = value => encodeURIComponent(JSON.stringify(value))

/**
 * Every layer with what it holds.
 * @returns {Promise<Layer[]>}
 */
export async function readLayers () {
  const [docs, stats] = await Promise.all([documents('layer:', 'layer;'), readStats()])
  return docs.map(doc => ({ ...doc, stats: stats.get(doc.layer) ?? emptyStats() }))
}

/**
 * The newest editions of a layer, newest first.
 * @param {string} layer @param {number} limit
 * @returns {Promise<Edition[]>}
 */
export const readEditions = (layer, limit) => documents(`edition:${layer}@~`, `edition:${layer}@`, `&descending=true&limit=${limit}`)

/** Whether the store answers at all. */
export const isThere = () => read('db/_all_docs?limit=0').then(() => true, () => false)

/**
 * Address of a layer's tiles, relative to the page.
 * @param {Layer} layer @param {string} [time]
 */
export const template = ({ layer, format = 'png' }, time) => `${time ? `${layer}@${time}` : layer}/{z}/{x}/{y}.${format}`

/** The database behind this page, when CouchDB serves it; nothing behind a gateway. */
export function databaseUrl (page = document.baseURI) {
  const match = /^(.*)\/_design\/[^/]+\/_rewrite\//.exec(page)
  return match ? match[1] : null
}

// The view emits [bytes, seconds, x, y] under [layer, zoom, 'current' | 'past' | 'gone'] and reduces with _stats
async function readStats () {
  const layers = new Map()
  let rows = []
  try {
    rows = (await read('db/_design/sizes/_view/by_zoom?group_level=3')).rows
  } catch (error) {
    if (error.status !== 404) throw error // the page works without figures where the view was not deployed
  }
  for (const { key: [layer, z, kind], value: [size, seconds, x, y] } of rows) {
    const stats = layers.get(layer) ?? emptyStats()
    layers.set(layer, stats)
    stats.known = true
    stats.versions += size.count
    stats.bytes += size.sum
    stats.first = Math.min(stats.first, seconds.min)
    stats.last = Math.max(stats.last, seconds.max)
    if (kind !== 'current') continue
    stats.tiles += size.count
    stats.zooms.push({ z, tiles: size.count, x0: x.min, x1: x.max, y0: y.min, y1: y.max })
  }
  return layers
}

const emptyStats = () => ({ known: false, tiles: 0, versions: 0, bytes: 0, first: Infinity, last: -Infinity, zooms: [] })

/**
 * @typedef {{known: boolean, tiles: number, versions: number, bytes: number, first: number, last: number, zooms: {z: number, tiles: number, x0: number, x1: number, y0: number, y1: number}[]}} Stats
 * @typedef {{layer: string, name?: string, description?: string, attribution?: string, minzoom?: number, maxzoom?: number, bounds?: number[], center?: number[], format?: string, tileSize?: number, stats: Stats}} Layer
 * @typedef {{layer: string, time: string, title?: string, tiles?: number, finished?: string}} Edition
 */
