// The two sides of a comparison: a layer as of a time; or an archive, a folder or another store. Each gives what it
// holds in the order of ids.
import { stat } from 'node:fs/promises'
import { pMapIterable } from 'p-map'
import { MAX_ZOOM, endOf, formatReference, gridOf, isSameGrid, parseReference } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { openSource } from '../sources/index.js'
import { LATEST } from '../store/list.js'
import { digestOf } from '../store/tile.js'

const READ_AHEAD = 16 // tiles of an archive read and digested at once

/**
 * A tile as one side has it. Of the store it is listed, without bytes; of a file, its digest is known.
 * @typedef {object} Entry
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {number} size bytes
 * @property {string} [time]
 * @property {string} [id] of the document
 * @property {string} [layer]
 * @property {boolean} [current]
 * @property {string} [digest]
 * @property {() => Promise<Uint8Array | null> | Uint8Array | null} [read] of a file
 *
 * @typedef {object} Wanted
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} Side
 * @property {string} name as people write it
 * @property {string} [layer] when it is one
 * @property {string} [time] exact: the last second that counts; without it a layer is taken as it is now
 * @property {Record<string, any>} doc fields of its layer
 * @property {() => AsyncIterable<Entry>} entries what exists, in the order of ids
 * @property {() => void | Promise<void>} close
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {[string, string]} texts
 * @param {Wanted} wanted
 * @returns {Promise<[Side, Side]>} both to be closed
 */
export async function openSides (store, [from, to], wanted) {
  const first = await openSide(store, from, { ...wanted, other: to })
  try {
    const second = await openSide(store, to, { ...wanted, other: from })
    if (isSameGrid(first.doc, second.doc)) return [first, second]
    await second.close()
    const [grid, otherGrid] = [first, second].map(({ doc }) => gridOf(doc).id)
    throw new TilecouchError('OTHER_GRID', { what: first.name, grid, other: second.name, otherGrid })
  } catch (error) {
    await first.close()
    throw error
  }
}

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} text `osm@2023`, `osm`, or a file or folder: a layer where the store has one of that name, which
 * `./osm` never is
 * @param {Wanted & {other: string}} wanted other: the other side, whose layer and time an address of a store is asked
 * for
 * @returns {Promise<Side>}
 */
async function openSide (store, text, { other, ...wanted }) {
  try {
    return await openLayer(store, parseReference(text), wanted)
  } catch (error) {
    const isFile = error.code === 'BAD_LAYER' ? isNamedAsFile(text) || await isThere(text) : error.code === 'LAYER_NOT_FOUND' && await isThere(text)
    if (!isFile) throw error
    return openFile(text, { ...wanted, other, home: store.url, usualGrid: await gridFieldOf(store, other) })
  }
}

/**
 * @param {import('../store/index.js').Store} store
 * @param {{layer: string, time?: string}} reference
 * @param {Wanted} wanted
 * @returns {Promise<Side>}
 */
async function openLayer (store, { layer, time }, wanted) {
  const when = time === undefined ? undefined : endOf(time)
  const doc = await store.layer(layer)
  const area = wanted.area?.in(gridOf(doc))
  return {
    name: formatReference(layer, time),
    layer,
    ...(when && { time: when }),
    doc,
    entries: () => store.list(layer, { time: when ?? LATEST, ...wanted, area }),
    close () {}
  }
}

// no layer has a slash or a dot in its name: what is missing then is a file
const isNamedAsFile = text => /[\\/.]/.test(text.replace(/@.*/s, ''))

const isThere = name => stat(name).then(() => true, () => false)

/** The `grid` of a layer that a text names, if it names one. @param {import('../store/index.js').Store} store */
async function gridFieldOf (store, text) {
  const reference = referenceOf(text)
  return reference && (await store.grid(reference.layer)).field
}

/**
 * @param {string} name
 * @param {Wanted & {other: string, home: string, usualGrid?: string | object}} wanted
 * @returns {Promise<Side>}
 */
async function openFile (name, { area, zooms, signal, other, home, usualGrid }) {
  const opening = { area, zooms, signal, from: referenceOf(other), home, usualGrid }
  const source = await openSource(name, opening)
  // an address may hold a password
  return {
    name: /^https?:/i.test(name) ? source.name : name,
    doc: source.fields,
    entries: () => digested(source, signal),
    close: () => source.close()
  }
}

/** A layer and its time, where a text may mean one. @param {string} text */
export function referenceOf (text) {
  try {
    return parseReference(text)
  } catch {
    return undefined // it is a file, or an address
  }
}

/** @returns {AsyncGenerator<Entry>} */
async function * digested (source, signal) {
  let last
  for await (const entry of pMapIterable(source.tiles(), digest, { concurrency: READ_AHEAD })) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const key = entry && `${entry.z}/${entry.x}/${entry.y}`
    // nothing there after all, or a second image of one place, of which a load takes the first
    if (!entry || key === last) continue
    last = key
    yield entry
  }
}

// what lies outside of the pyramid is no tile, and none of a store is like it
const isTile = ({ z, x, y }) => z <= MAX_ZOOM && x < 2 ** z && y >= 0 && y < 2 ** z

async function digest ({ z, x, y, gone, read }) {
  const bytes = gone || !isTile({ z, x, y }) ? null : await read()
  return bytes ? { z, x, y, size: bytes.length, digest: digestOf(bytes), read } : null
}
