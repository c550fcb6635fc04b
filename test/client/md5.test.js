import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { md5 } from '../../client/mirror/md5.js'
import { random } from '../../bench/tiles.js'

const wanted = bytes => createHash('md5').update(bytes).digest('hex')
const found = bytes => Buffer.from(md5(bytes)).toString('hex')

describe('md5 in browsers', () => {
  it('is that of Node, of every length around the ends of blocks', () => {
    const next = random(5)
    for (let length = 0; length < 300; length++) {
      const bytes = Uint8Array.from({ length }, () => next() * 256)
      assert.equal(found(bytes), wanted(bytes), `${length} bytes`)
    }
  })

  it('reads a part of a larger buffer, wherever it begins', () => {
    const whole = Uint8Array.from({ length: 1000 }, (_, at) => at)
    assert.equal(found(whole.subarray(3, 900)), wanted(whole.subarray(3, 900)))
    assert.equal(found(new Uint8Array(1e6)), wanted(new Uint8Array(1e6)))
  })
})
