// Reads every document of a store, and checks it against the promises of DESIGN.md and against the loaded tiles.
import assert from 'node:assert/strict'
import { asOf, inspectTile, parseTileId } from '../../core/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { json } from './backends.js'

/**
 * @param {string} url of the database
 * @returns {Promise<Map<string, any[]>>} tile id -> its versions, oldest first, with bytes
 */
export async function readWholeStore (url) {
  const { rows } = await json(`${url}/_all_docs?include_docs=true&attachments=true&conflicts=true`)
  const tiles = new Map()
  for (const { doc } of rows) {
    if (doc.type !== 'tile') continue
    assert.equal(doc._conflicts, undefined, `${doc._id} has no conflicts`)
    const { layer, z, x, y, time } = parseTileId(doc._id)
    assert.deepEqual([doc.layer, doc.z, doc.x, doc.y, doc.current],
      [layer, z, x, y, time === undefined], `fields of ${doc._id}`)
    if (time !== undefined) assert.equal(doc.time, time, `time of ${doc._id}`)
    const attachment = doc._attachments?.tile
    assert.equal(Boolean(attachment), !doc.gone, `${doc._id} has bytes or is gone`)
    const bytes = attachment ? Buffer.from(attachment.data, 'base64') : null
    if (bytes) {
      assert.equal(inspectTile(bytes).type, attachment.content_type, `type of ${doc._id}`)
      assert.equal(digestOf(bytes), attachment.digest, `digest of ${doc._id}`)
    }
    const id = `${layer}:${z}:${x}:${y}`
    if (!tiles.has(id)) tiles.set(id, [])
    tiles.get(id).push({ time: doc.time, current: doc.current, bytes })
  }
  return tiles
}

/**
 * Checks invariants 1, 2 and 7 of a store. The past may hold a copy of the head.
 * @param {string} url
 */
export async function checkInvariants (url) {
  const tiles = await readWholeStore(url)
  for (const [id, versions] of tiles) {
    const heads = versions.filter(version => version.current)
    assert.equal(heads.length, 1, `${id} has one head`)
    for (const version of versions) {
      assert.ok(version.time <= heads[0].time, `${id}: the head is not older than the version of ${version.time}`)
      if (version === heads[0] || version.time !== heads[0].time) continue
      assert.deepEqual(version.bytes, heads[0].bytes, `${id}: the copy of the head is the same`)
    }
  }
  return tiles
}

/**
 * Checks that the store shows every loaded version as of its time, byte for byte.
 * @param {string} url
 * @param {{layer: string, z: number, x: number, y: number, time: string, bytes?: Buffer, gone?: boolean}[]} loaded
 */
export async function checkLoaded (url, loaded) {
  const tiles = await checkInvariants(url)
  for (const { layer, z, x, y, time, bytes } of loaded) {
    const id = `${layer}:${z}:${x}:${y}`
    const versions = (tiles.get(id) ?? []).sort((a, b) => a.time < b.time ? -1 : 1)
    const shownVersion = asOf(versions, time)
    const isSame = bytes ? shownVersion?.bytes && Buffer.compare(shownVersion.bytes, bytes) === 0 : !shownVersion?.bytes
    assert.ok(isSame, `${id} as of ${time} is what was loaded`)
  }
  return tiles
}
