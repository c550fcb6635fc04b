// All readers of a layer: each returns the image of every tile as of a time, or now. The result maps tiles (z/x/y) to
// bytes and lacks missing tiles. comparison.js compares the readers with a model.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import PouchDB from 'pouchdb-node'
import { OfflineStore } from '../../client/offline/index.js'
import { VersionIndex } from '../../client/engine/version-index.js'
import { CouchSource } from '../../client/source/couch-source.js'
import { flipY } from '../../core/index.js'
import { Store, backup, exportLayer, exportTree, restore } from '../../loader/index.js'
import { contentsOf } from '../support/exports.js'
import { request } from '../support/backends.js'

/** @typedef {{z: number, x: number, y: number, name: string}} Place */
/** @typedef {Map<string, Buffer>} Shown */

export const PLACES = [[0, 0, 0], [3, 1, 2], [3, 1, 3], [3, 2, 2],
  [3, 4, 4], [3, 7, 0]].map(([z, x, y]) => ({ z, x, y, name: `${z}/${x}/${y}` }))

/** @param {(place: Place) => Promise<Buffer | null>} read @returns {Promise<Shown>} */
async function readPlaces (read) {
  const entries = await Promise.all(
    PLACES.map(async place => /** @type {[string, Buffer | null]} */ ([place.name, await read(place)]))
  )
  return new Map(/** @type {[string, Buffer][]} */ (entries.filter(([, bytes]) => bytes)))
}

/** Reads a tile over HTTP. Returns null for 404. @param {string} url */
async function get (url) {
  const answer = await request(url)
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (answer.status === 404) return null
  if (!answer.ok) throw new Error(`${answer.status} for ${url}: ${bytes.toString().slice(0, 200)}`)
  return bytes
}

const nullIfMissing = error => {
  if (['TILE_NOT_FOUND', 'NOT_KEPT'].includes(error.code)) return null
  throw error
}

const bytesOf = async blob => blob && Buffer.from(await blob.arrayBuffer())

/** Reads tiles through the version index of the client library. @param {any} source @param {string} layer */
async function throughIndex (source, layer, times) {
  const index = new VersionIndex()
  const columns = index.missing([...new Set(PLACES.map(({ z, x }) => `${z}/${x}`))].map(name => {
    const [z, x] = name.split('/').map(Number)
    return { z, x, y0: 0, y1: 2 ** z - 1 }
  }))
  const answers = await source.versions(layer, columns)
  columns.forEach((column, columnIndex) => { index.add(column, answers[columnIndex]) })
  const shown = []
  for (const time of times) {
    shown.push(await readPlaces(async ({ z, x, y }) => {
      const version = index.at(z, x, y, time ?? null)
      return version && !version.gone ? bytesOf(await source.tile(version)) : null
    }))
  }
  return shown
}

/** Calls a reader for one time after the other. @param {(time: string | undefined) => Promise<Shown>} read */
const oneByOne = read => async (scene, times) => {
  const shown = []
  for (const time of times) shown.push(await read.call(undefined, scene, time))
  return shown
}

/**
 * @typedef {object} At the layer that is read
 * @property {string} url of the database
 * @property {Store} store
 * @property {string} layer
 * @property {string} dir a folder for files
 * @property {string} [gateway] the address of its gateway
 * @property {() => Promise<string>} database returns the URL of a new database
 *
 * @type {Record<string, (at: At, times: (string | undefined)[]) => Promise<Shown[]>>}
 */
export const cheap = {
  'store.at and store.head': oneByOne(({ store, layer }, time) => readPlaces(({ z, x, y }) => (
    (time === undefined ? store.head(layer, z, x, y) : store.at(layer, z, x, y, time))
      .then(({ bytes }) => bytes, nullIfMissing)))),
  'the addresses of _rewrite': oneByOne(({ url, layer }, time) =>
    readPlaces(({ name }) => get(`${url}/_design/tiles/_rewrite/${layer}${time ? `@${time}` : ''}/${name}.png`))),
  attachments: (scene, times) => oneByOne(({ url, layer }, time) => time === undefined
    ? readPlaces(({ z, x, y }) => get(`${url}/${layer}:${z}:${x}:${y}/tile`))
    : cheap['store.at and store.head'](scene, [time]).then(([shown]) => shown))(scene, times),
  'the index of the client': ({ url, layer }, times) => throughIndex(authorised(url), layer, times)
}

/** Readers through a gateway, which may be a second behind. @type {typeof cheap} */
export const gateway = {
  'XYZ of a gateway': oneByOne(
    ({ gateway: url, layer }, time) => readPlaces(({ name }) =>
      get(`${url}/${layer}${time ? `@${time}` : ''}/${name}.png`))
  ),
  'TMS of a gateway': oneByOne(({ gateway: url, layer }, time) =>
    readPlaces(({ z, x, y }) =>
      get(`${url}/tms/1.0.0/${layer}${time ? `@${time}` : ''}/${z}/${x}/${flipY(z, y)}.png`))),
  'WMTS of a gateway': oneByOne(
    ({ gateway: url, layer }, time) => readPlaces(({ z, x, y }) =>
      get(`${url}/wmts/${layer}/default/${time ? `${time}/` : ''}GoogleMapsCompatible/${z}/${y}/${x}.png`))
  ),
  '/db of a gateway': ({ gateway: url, layer }, times) => throughIndex(new CouchSource(`${url}/db`), layer, times)
}

/** @type {typeof cheap} */
export const dear = {
  ...Object.fromEntries(['folder', 'mbtiles', 'pmtiles'].map(format => [`an export as ${format}`, oneByOne(async ({
    store, layer, dir
  }, time) => {
    mkdirSync(dir, { recursive: true })
    const target = path.join(dir, format === 'folder' ? 'folder' : `export.${format}`)
    rmSync(target, { recursive: true, force: true }) // a folder keeps files of versions that the store no longer has
    try {
      await exportLayer(store, layer, target, { time, force: true })
      return await contentsOf(target, { asked: PLACES.map(({ name }) => name) })
    } catch (error) {
      if (error.code === 'NOTHING_TO_EXPORT') return new Map()
      throw error
    }
  })])),
  'a restored backup': async ({ store, layer, dir, database }, times) => {
    mkdirSync(dir, { recursive: true })
    const file = path.join(dir, 'backup.tcb')
    await backup(store, file, { force: true })
    const url = await database()
    await restore([file], url, { rights: 'give' })
    const restored = await Store.open(url)
    try {
      return await cheap['store.at and store.head'](/** @type {any} */ ({ store: restored, layer }), times)
    } finally {
      await restored.destroy()
    }
  },
  /** The device is kept from one comparison to the next. */
  'an area offline': async ({ url, layer, dir }, times) => {
    mkdirSync(dir, { recursive: true })
    const offline = new OfflineStore({ remote: url, name: path.join(dir, 'device'), PouchDB })
    await offline.ready
    try {
      const existingArea = offline.areas.get('all')
      const area = existingArea ??
        await offline.areas.add({ name: 'all', layer, bbox: [-180, -85, 180, 85], zooms: '0-8', history: true })
      await (existingArea ? area.refresh() : area.download())
      return await throughIndex(offline.device, layer, times)
    } finally {
      await offline.close()
    }
  }
}

/**
 * Reads all trees of files of a layer. The trees are kept from one comparison to the next.
 * @param {At} at
 * @returns {Promise<{time: string | undefined, shown: Shown}[]>}
 */
export async function trees ({ store, layer, dir }) {
  const folder = path.join(dir, 'trees')
  mkdirSync(folder, { recursive: true })
  await exportTree(store, layer, folder)
  const names = readdirSync(folder).filter(name => name === layer || /@.{20}$/.test(name))
  return Promise.all(
    names.map(async name => (
      { time: name.slice(layer.length + 1) || undefined, shown: await contentsOf(path.join(folder, name)) }
    ))
  )
}

/** A source with the name and password of the URL. */
function authorised (url) {
  const { username, password } = new URL(url)
  const plain = new URL(url)
  plain.username = plain.password = ''
  return new CouchSource(plain.href,
    username
      ? { fetchOptions: {
        headers: { authorization: `Basic ${btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)}` }
      } } : {})
}
