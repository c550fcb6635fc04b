// Compares the documents that an area should hold on a device, from reading the whole store, with those it holds.
import assert from 'node:assert/strict'
import { belonging } from '../../mirror/naive.js'
import { json } from '../backends.js'

/** All documents with their bytes, by id. */
async function contents (rows) {
  return new Map(rows.filter(({ doc }) => doc && !doc._id.startsWith('_design/')).map(({ doc }) => {
    const { _id: id, _rev, _attachments: attachments, ...fields } = doc
    return [id, { ...fields, image: attachments?.tile.data, type: fields.type, kind: attachments?.tile.content_type }]
  }))
}

/**
 * Compares a device with a store. Past versions that belonged to the area once may stay on the device, unchanged.
 * @param {any} db a PouchDB @param {string} url
 * @param {{layer: string, selection: import('../../../core/mirror/index.js').Selection, isNew?: boolean}} area isNew:
 *   nothing may stay
 */
export async function assertDeviceHolds (db, url, { layer, selection, isNew = false }) {
  const { rows } = await json(`${url}/_all_docs?include_docs=true&attachments=true`)
  const store = await contents(rows)
  const { layers, area, zooms, current, since } = selection
  const expected = belonging(rows.map(({ doc }) => doc), { layers: [...layers], polygon: area, zooms, current, since })
  const device = await contents((await db.allDocs({ include_docs: true, attachments: true })).rows)
  for (const id of expected) assert.deepEqual(device.get(id), store.get(id), `${id} on the device`)
  for (const id of device.keys()) {
    if (expected.has(id)) continue
    assert.ok(since && id.includes('@') && !isNew, `${id} does not belong on the device`)
    assert.deepEqual(device.get(id), store.get(id), `${id}, which belonged once`)
  }
  return count([...device].filter(([id]) => id.startsWith(`${layer}:`)))
}

/** @param {any[]} tiles */
function count (tiles) {
  const imaged = tiles.filter(([, { image }]) => image)
  const bytes = imaged.reduce((sum, [, { image }]) => sum + Buffer.from(image, 'base64').length, 0)
  return { tiles: imaged.filter(([id]) => !id.includes('@')).length, versions: tiles.length, bytes }
}
