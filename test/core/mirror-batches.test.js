// How many documents are asked for at once, on lines of any kind: a clock of its own, and no line at all.
import assert from 'node:assert/strict'
import { TilecouchError } from '../../core/index.js'
import { FailureStreak, RevisionCopier, replicationDefaults } from '../../core/mirror/index.js'

const SIZE = 10000 // bytes of a document
const { signal } = new AbortController()

describe('batches of a replication', () => {
  const { now } = performance
  let clock
  beforeEach(() => {
    clock = 0
    performance.now = () => clock
  })
  afterEach(() => { performance.now = now })

  /**
   * Carries documents over a line, one batch at a time.
   * @param {number} count
   * @param {(bytes: number) => number | undefined} pass milliseconds that so many bytes take; nothing when the line
   *   breaks before
   * @param {Partial<typeof replicationDefaults>} [limits] unless given, batches do not grow with what was written
   * @returns {Promise<{batches: number[], lost: number}>} documents of each, bytes of those that broke off
   */
  async function carry (count, pass, limits = { batchShare: 0 }) {
    const batches = []
    const written = new Set()
    let lost = 0
    const source = {
      name: 'source',
      async fetch (asked) {
        const bytes = asked.length * SIZE
        const took = pass(bytes)
        if (took === undefined) {
          lost += bytes
          throw new TilecouchError('UNREACHABLE', { url: 'http://x', why: 'it broke' })
        }
        clock += took
        batches.push(asked.length)
        return { docs: asked.map(({ id, rev }) => ({ _id: id, _rev: rev })), bytes }
      }
    }
    const target = /** @type {any} */ (
      { name: 'target', write: async docs => { for (const { _id } of docs) written.add(_id); return [] } }
    )
    const tally = /** @type {any} */ ({ bytes: 0, docs: 0, deleted: 0, tiles: 0, absent: 0, refused: 0 })
    const failures =
      new FailureStreak({ probe: async () => {}, onFailed: failed => assert.fail(JSON.stringify(failed)) })
    const copier = new RevisionCopier({ source, target, tally, limits: {
      ...replicationDefaults, batchTime: 3000, concurrency: 1, retryDelay: 0, ...limits
    }, failures })
    await copier.copy(Array.from({ length: count }, (_, at) => ({ id: `${1000 + at}`, rev: '1-a' })), signal)
    assert.equal(written.size, count)
    return { batches, lost }
  }

  it('are as large as allowed over a quick connection', async () => {
    const { batches } = await carry(2000, bytes => bytes / 10000)
    assert.deepEqual([...new Set(batches)], [20, 50, 30])
  })

  it('grow with the number of documents that were written', async () => {
    const { batches } = await carry(12000, bytes => bytes / 10000, {})
    batches.reduce((written, count) => {
      assert.ok(count <= Math.max(50, written / 20), `${count} after ${written}`)
      return written + count
    }, 0)
    assert.equal(Math.max(...batches), Math.floor(replicationDefaults.batchBytes / SIZE), 'as large as allowed')
  })

  it('take about the configured time over a slow connection', async () => {
    const { batches } = await carry(200, bytes => bytes / 20)
    assert.equal(batches[0], 20, 'before anything is known')
    assert.ok(batches.slice(1, -1).every(count => count === 6), `${batches}`) // 60 kB in 3 s
  })

  it('grow again when the connection gets quicker', async () => {
    let rate = 20
    const { batches } = await carry(3000, bytes => {
      const took = bytes / rate
      if (clock > 60000) rate = 10000
      return took
    })
    assert.equal(Math.max(...batches.slice(-8)), 50, `${batches}`)
  })

  it('get small enough for a connection that keeps breaking', async () => {
    const { batches, lost } = await carry(1000, bytes => bytes > 100e3 ? undefined : 1)
    assert.ok(Math.max(...batches) <= 10, `${batches}`)
    assert.ok(lost < 0.25 * 1000 * SIZE, `${lost} bytes were lost`)
  })
})
