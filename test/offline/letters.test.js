// The letters of an area are noted before its tiles are written, also when a note failed.
import assert from 'node:assert/strict'
import { LetterReader } from '../../client/offline/letter-reader.js'
import { packTile } from '../support/vector-tile.js'

describe('the letters of an area', () => {
  it('are noted again with the next tiles when a note failed', async () => {
    const data = packTile({ place: [{ type: 'Point', lines: [[[1, 1]]], properties: { name: 'Łódź' } }] })
    const doc =
      { _id: 'osm:3:0:0', _attachments: { tile: { content_type: 'application/vnd.mapbox-vector-tile', data } } }
    const source = { name: 'a store', fetch: async () => ({ docs: [doc], bytes: 0 }) }
    let [notes, isFull] = [0, true]
    const reader = new LetterReader(source, async () => {
      notes++
      if (isFull) throw new Error('the device is full')
    })
    reader.begin({})
    await assert.rejects(reader.fetch([], {}), /full/)
    await assert.rejects(reader.fetch([], {}), /full/)
    isFull = false
    assert.deepEqual((await reader.fetch([], {})).docs, [doc])
    await reader.fetch([], {})
    assert.equal(notes, 3)
  })
})
