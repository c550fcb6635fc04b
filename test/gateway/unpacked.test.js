// Vector tiles that are unpacked for clients without gzip.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { gzipSync } from 'node:zlib'
import { Unpacked } from '../../server/gateway/routes/tile.js'

describe('tiles that a gateway unpacks', () => {
  const entry = text => ({ bytes: gzipSync(text), type: 'application/vnd.mapbox-vector-tile' })

  it('are unpacked again after there was no room, also while a client of before is still there', async () => {
    const unpacked = new Unpacked({ most: 1000, mostHeld: 10 })
    const [first, second] = [entry('a'.repeat(10)), entry('b'.repeat(10))]
    const response = new EventEmitter()
    await unpacked.take(/** @type {any} */ (first), /** @type {any} */ (response))
    await assert.rejects(unpacked.take(/** @type {any} */ (second), /** @type {any} */ (new EventEmitter())),
      { code: 'BUSY' })
    response.emit('close')
    const body = await unpacked.take(/** @type {any} */ (second), /** @type {any} */ (new EventEmitter()))
    assert.equal(`${body}`, 'b'.repeat(10))
  })
})
