import assert from 'node:assert/strict'
import fc from 'fast-check'
import { compareIds, decide, tileId, versionId } from '../../core/index.js'
import { HeadWriter } from '../../core/store/head-writer.js'

const T = '2024-01-01T00:00:00Z'

describe('a batch of new tiles', () => {
  it('reads a range of ids that holds the heads and past versions of all its tiles', async () => {
    await fc.assert(fc.asyncProperty(fc.uniqueArray(fc.nat(200), { minLength: 2, maxLength: 8 }), async rows => {
      let range
      const couch = {
        page: async asked => { range = asked; return [] },
        ranges: async ranges => ranges.map(() => [])
      }
      const send = async docs => docs.map(({ _id }) => ({ id: _id, ok: true, rev: '1-a' }))
      const done = []
      const tiles = rows.map(y => (
        { id: tileId('osm', 8, 0,
          y), layer: 'osm', z: 8, x: 0, y, time: T, digest: 'd', type: 'image/png', bytes: Buffer.from('x') }
      ))
      await new HeadWriter(couch, { stored: T, send, report: (tile, outcome) => done.push(outcome) }).store(tiles)
      assert.deepEqual(done, tiles.map(tile => decide(tile, null)))
      for (const y of rows) {
        for (const id of [tileId('osm', 8, 0, y), versionId('osm', 8, 0, y, T)]) {
          assert.ok(compareIds(range.startkey, id) <= 0 && compareIds(id, range.endkey) <= 0, id)
        }
      }
    }))
  })
})

describe('a head writer', () => {
  const id = tileId('osm', 8, 0, 1)
  const [BEFORE, AFTER] = ['2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z']
  const tile = bytes => ({
    id, layer: 'osm', z: 8, x: 0, y: 1, time: AFTER, digest: 'md5-new',
    type: 'image/png', bytes: Buffer.alloc(bytes), attempts: 0
  })
  const storing = async (bytes, { fields = {}, exists = true, inManifest = true, expectsChanges = true } = {}) => {
    const asked = []
    const sent = []
    const head = { _id: id, _rev: '1-a', type: 'tile', layer: 'osm', z: 8, x: 0, y: 1, current: true, time: BEFORE }
    const couch = {
      docs: async (ids, { attachments = false, base64 = false } = {}) => {
        asked.push({ ids, attachments, base64 })
        if (!exists) return ids.map(own => ({ id: own, doc: null, deleted: false }))
        const image =
          { content_type: 'image/png', digest: 'md5-old', ...(attachments ? { data: 'b2xk' } : { stub: true }) }
        return ids.map(own => ({ id: own, doc: { ...head, _attachments: { tile: image }, ...fields }, deleted: false }))
      },
      ranges: async ranges => ranges.map(() => [])
    }
    const send = async docs => {
      sent.push(...docs)
      return docs.map(({ _id }) => ({ id: _id, ok: true, rev: '2-a' }))
    }
    const done = []
    await new HeadWriter(
      couch, { stored: AFTER, send, report: (_, outcome) => done.push(outcome), inManifest, expectsChanges }
    ).store([tile(bytes)])
    return { asked, sent, done }
  }

  it('reads the head of a changed tile once, with its bytes, and writes these to the past', async () => {
    const { asked, sent, done } = await storing(100)
    assert.deepEqual([asked, done], [[{ ids: [id], attachments: true, base64: true }], ['advance']])
    assert.deepEqual(sent.map(({ _id }) => _id), [versionId('osm', 8, 0, 1, BEFORE), id])
    assert.equal(sent[0]._attachments.tile.data, 'b2xk')
    assert.equal(sent[1]._rev, '1-a')
  })

  it('reads heads as bytes instead of base64 when the tiles are large', async () => {
    assert.deepEqual((await storing(20_000)).asked, [{ ids: [id], attachments: true, base64: false }])
  })

  it('reads nothing but the head of a tile that is written alone', async () => {
    const { asked, done } = await storing(100, { exists: false, inManifest: false, expectsChanges: false })
    assert.deepEqual([asked.flatMap(({ ids }) => ids), done], [[id], ['create']])
  })

  it('reads no bytes of a head that is gone', async () => {
    const { asked, done } =
      await storing(100, { fields: { _attachments: undefined, gone: true }, expectsChanges: false })
    assert.deepEqual([asked.filter(({ attachments }) => attachments), done], [[], ['advance']])
  })
})
