// A store whose shards are read one after the other, as those of a cluster are: what a listing must make of it.
import assert from 'node:assert/strict'
import { RangeReader } from '../../loader/store/ranges.js'

const [T0, T1, T2] = ['2000-01-01T00:00:00Z', '2001-01-01T00:00:00Z', '2002-01-01T00:00:00Z']
const row = (y, time, past) => ({ id: `osm:5:1:${y}${past ? `@${time}` : ''}`, key: ['osm', 5, 1, y, time], value: {} })
const range = { startkey: ['osm', 5, 1, 0], endkey: ['osm', 5, 1, 31, {}], limit: 100 }

/** Answers, one after the other, and the sequence of the database before each question and after the last. */
const store = (answers, sequences) => ({
  request: async () => ({ update_seq: sequences.length > 1 ? sequences.shift() : sequences[0] }),
  queries: async () => [answers.shift() ?? assert.fail('asked too often')]
})
const read = async (answers, sequences, limit = 100) => {
  const reader = await new RangeReader(store(answers, sequences), 'view', { settled: true }).open()
  const [rows] = await reader.read([{ ...range, limit }])
  return rows.map(({ id, key }) => `${id} ${key[4].slice(0, 4)}`)
}

describe('reading ranges of a view', () => {
  it('reads a range once when nothing is written meanwhile', async () => {
    assert.deepEqual(await read([[row(1, T0)]], ['7-x', '7-y']), ['osm:5:1:1 2000'])
  })

  it('finds a version that moved from a head to the past between two reads of shards', async () => {
    const skewed = [row(1, T1)]
    const settled = [row(1, T0, true), row(1, T1)]
    assert.deepEqual(await read([skewed, settled], ['7-x', '9-x']),
      ['osm:5:1:1@2000-01-01T00:00:00Z 2000', 'osm:5:1:1 2001'])
  })

  it('keeps rows that only the first answer has, and takes the other rows from the second answer', async () => {
    const first = [row(1, T0), row(2, T0)]
    const second = [row(1, T0, true), row(1, T2), row(3, T2)]
    assert.deepEqual(await read([first, second], ['7', '8']),
      ['osm:5:1:1@2000-01-01T00:00:00Z 2000', 'osm:5:1:1 2002', 'osm:5:1:2 2000', 'osm:5:1:3 2002'])
  })

  it('continues where the shorter of two full answers ends', async () => {
    const first = [row(1, T0), row(2, T0), row(3, T0)]
    const second = [row(1, T0, true), row(1, T1), row(2, T0)]
    const rest = [row(3, T0), row(4, T0)]
    assert.deepEqual(await read([first, second, rest], ['7', '8', '8'], 3),
      ['osm:5:1:1@2000-01-01T00:00:00Z 2000', 'osm:5:1:1 2001', 'osm:5:1:2 2000', 'osm:5:1:3 2000', 'osm:5:1:4 2000'])
  })
})
