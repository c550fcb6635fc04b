import assert from 'node:assert/strict'
import { Blocks, blockDefaults } from '../../loader/formats/pmtiles/remote.js'

const { size, gap, run } = blockDefaults

describe('parts of a long file', () => {
  const rangesOf = (length, parts) => {
    const blocks = new Blocks(length)
    for (const [offset, bytes] of parts) blocks.add(offset, bytes)
    const ranges = [...blocks.ranges()]
    assert.equal(blocks.bytes, ranges.reduce((sum, { from, to }) => sum + to - from, 0))
    return ranges.map(({ from, to }) => [from, to])
  }

  it('are fetched whole, once, in their order', () => {
    assert.deepEqual(rangesOf(100 * size, [[50 * size, 1], [0, 1], [size - 1, 1], [50 * size + 7, 100]]), [[0, size], [50 * size, 51 * size]])
    assert.deepEqual(rangesOf(100 * size, []), [])
    assert.deepEqual(rangesOf(0, []), [])
  })

  it('that lie near one another come together, what is between with them', () => {
    assert.deepEqual(rangesOf(100 * size, [[0, 1], [(gap + 1) * size, 1]]), [[0, (gap + 2) * size]])
    assert.deepEqual(rangesOf(100 * size, [[0, 1], [(gap + 2) * size, 1]]), [[0, size], [(gap + 2) * size, (gap + 3) * size]])
  })

  it('reach over the edge between them, and end with the file', () => {
    assert.deepEqual(rangesOf(2 * size + 5, [[size - 1, 2]]), [[0, 2 * size]])
    assert.deepEqual(rangesOf(2 * size + 5, [[2 * size, 5]]), [[2 * size, 2 * size + 5]])
  })

  it('are asked for in pieces', () => {
    const length = 3 * run + 5
    const ranges = rangesOf(length, [[0, length]])
    assert.equal(ranges[0][0], 0)
    assert.equal(ranges.at(-1)?.[1], length)
    for (const [index, [from, to]] of ranges.entries()) {
      assert.ok(to - from <= run)
      if (index) assert.equal(from, ranges[index - 1][1])
    }
  })

  it('of a file of any length are told apart in little memory', () => {
    const length = 2 ** 50
    const [[from, to]] = rangesOf(length, [[2 ** 49, 1000]])
    assert.ok(from <= 2 ** 49 && to >= 2 ** 49 + 1000 && to - from < 1e9)
  })
})
