import assert from 'node:assert/strict'
import fc from 'fast-check'
import { compareIds, decide, tileId, versionId } from '../../core/index.js'
import { HeadWriter } from '../../core/store/head-writer.js'

const T = '2024-01-01T00:00:00Z'

describe('a batch on new ground', () => {
  it('looks for the past of every one of its tiles, also where rows go on with the same digits', async () => {
    await fc.assert(fc.asyncProperty(fc.uniqueArray(fc.nat(200), { minLength: 2, maxLength: 8 }), async rows => {
      let range
      const couch = {
        page: async asked => { range = asked; return [] },
        ranges: async ranges => ranges.map(() => [])
      }
      const send = async docs => docs.map(({ _id }) => ({ id: _id, ok: true, rev: '1-a' }))
      const done = []
      const tiles = rows.map(y => ({ id: tileId('osm', 8, 0, y), layer: 'osm', z: 8, x: 0, y, time: T, digest: 'd', type: 'image/png', bytes: Buffer.from('x') }))
      await new HeadWriter(couch, { stored: T, send, report: (tile, outcome) => done.push(outcome) }).store(tiles)
      assert.deepEqual(done, tiles.map(tile => decide(tile, null)))
      for (const y of rows) {
        for (const id of [tileId('osm', 8, 0, y), versionId('osm', 8, 0, y, T)]) assert.ok(compareIds(range.startkey, id) <= 0 && compareIds(id, range.endkey) <= 0, id)
      }
    }))
  })

  it('asks for the head of a tile that is alone, and for nothing around it', async () => {
    const asked = []
    const couch = { docs: async ids => { asked.push(...ids); return ids.map(own => ({ id: own, doc: null, deleted: false })) }, ranges: async ranges => ranges.map(() => []) }
    const send = async docs => docs.map(({ _id }) => ({ id: _id, ok: true, rev: '1-a' }))
    const done = []
    const id = tileId('osm', 8, 0, 1)
    await new HeadWriter(couch, { stored: T, send, report: (_, outcome) => done.push(outcome) }).store([{ id, layer: 'osm', z: 8, x: 0, y: 1, time: T, digest: 'd', type: 'image/png', bytes: Buffer.from('x') }])
    assert.deepEqual([asked, done], [[id], ['create']])
  })
})
