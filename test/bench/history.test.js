// The figures need a quiet machine; that they are figures of the right thing does not.
import assert from 'node:assert/strict'
import { compareIds, tileRanges } from '../../core/index.js'
import { interleaveLatencies, percentiles } from '../../bench/measure.js'
import { DEEP, LAYER, STAGES, VIEW, blocksOf, newTiles, versionsOf, viewsOf } from '../../bench/history/data.js'
import { bboxOf, columnsOf } from '../../bench/history/viewport.js'

describe('the benchmark of histories', () => {
  it('reports percentiles that are measured values', () => {
    const values = Array.from({ length: 200 }, (_, index) => 200 - index)
    assert.deepEqual(percentiles(values), { count: 200, p50: 100, p90: 180, p99: 198, max: 200 })
    assert.deepEqual(percentiles([7]), { count: 1, p50: 7, p90: 7, p99: 7, max: 7 })
  })

  it('starts each round with another contender', async () => {
    const order = []
    const contender =
      (name, every) => ({ name, every, run: async round => { order.push(`${name}${round}`); return { round } } })
    const results = await interleaveLatencies([contender('a'), contender('b'), contender('c', 2)], 3)
    assert.deepEqual(order, ['a0', 'b0', 'c0', 'b1', 'a1', 'c2', 'a2', 'b2'])
    assert.deepEqual([results.a.ms.count, results.c.round.count, results.b.round.max], [3, 2, 2])
  })

  it('grows to exactly its named sizes, without duplicates, in the order of ids', () => {
    const seen = new Set()
    STAGES.slice(0, 2).forEach((stage, at) => {
      let last = ''
      for (const tile of newTiles(stage, STAGES[at - 1])) {
        for (const { _id: id, current } of versionsOf(tile)) {
          assert.ok(compareIds(last, id) < 0, `${last} before ${id}`)
          assert.equal(current, !id.includes('@'))
          last = id
          seen.add(id)
        }
      }
      assert.equal(seen.size, stage.versions)
    })
    const counts = STAGES.map(stage => blocksOf(stage)
      .reduce((sum, { layer, columns, rows }) => sum + columns * rows * { [LAYER]: 10, [DEEP]: 100 }[layer], 0))
    assert.deepEqual(counts, STAGES.map(({ versions }) => versions))
  })

  it('has a head that is newer than its past, and distinct images', () => {
    const [head, ...past] = versionsOf({ layer: LAYER, z: 10, x: 300, y: 300 })
    assert.ok(past.every(({ time }) => time < head.time))
    assert.equal(new Set([head, ...past].map(doc => doc._attachments.tile.data.toString('hex'))).size, 10)
  })

  it('requests views of 10 x 8 tiles that lie inside the data', () => {
    const blocks = blocksOf(STAGES[1])
    for (const view of viewsOf(blocks, 500, 1)) {
      const { x, y, columns, rows } = blocks.find(({ layer, z }) => layer === view.layer && z === view.z)
      assert.ok(view.x >= x && view.x + VIEW.columns <= x + columns && view.y >= y && view.y + VIEW.rows <= y + rows)
      assert.deepEqual(tileRanges(bboxOf(view), view.z), [{ x0: view.x, x1: view.x + 9, y0: view.y, y1: view.y + 7 }])
      assert.equal(columnsOf(view).length, VIEW.columns)
    }
  })
})
