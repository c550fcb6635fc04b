// What an area is to hold on a device, by reading every document of the store, and what it does hold.
import assert from 'node:assert/strict'
import { belonging } from '../../mirror/naive.js'
import { json } from '../backends.js'

/** Every document with its bytes, by id. */
async function contents (rows) {
  return new Map(rows.filter(({ doc }) => doc && !doc._id.startsWith('_design/')).map(({ doc }) => {
    const { _id: id, _rev, _attachments: attachments, ...fields } = doc
    return [id, { ...fields, image: attachments?.tile.data, type: fields.type, kind: attachments?.tile.content_type }]
  }))
}

/**
 * Compares a device with a store. Past versions that were to be seen once may stay on the device, as the store has
 * them.
 * @param {any} db a PouchDB @param {string} url
 * @param {{layer: string, selection: import('../../../core/mirror/index.js').Selection, isNew?: boolean}} area isNew:
 *   there was no once
 */
export async function assertSame (db, url, { layer, selection, isNew = false }) {
  const { rows } = await json(`${url}/_all_docs?include_docs=true&attachments=true`)
  const store = await contents(rows)
  const { layers, area, zooms, current, since } = selection
  const wanted = belonging(rows.map(({ doc }) => doc), { layers: [...layers], polygon: area, zooms, current, since })
  const device = await contents((await db.allDocs({ include_docs: true, attachments: true })).rows)
  for (const id of wanted) assert.deepEqual(device.get(id), store.get(id), `${id} on the device`)
  for (const id of device.keys()) {
    if (wanted.has(id)) continue
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
