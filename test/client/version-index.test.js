// Tests VersionIndex, also against a naive search.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { versionKey } from '../../client/engine/image-cache.js'
import { BLOCK, VersionIndex, isImage } from '../../client/engine/version-index.js'

const T = step => `2024-01-${String(step).padStart(2, '0')}T00:00:00Z`
const version = (x, y, step, fields = {}) => ({
  layer: 'a', z: 5, x, y, time: T(step), rev: `1-${x}.${y}.${step}`,
  bytes: 10, gone: false, current: false, expires: null, ...fields
})
const column = (x, y0, y1, z = 5) => ({ z, x, y0, y1 })

/** Adds the versions that a view lacks from a list of all versions, as the loader does. */
function fill (index, columns, versions) {
  for (const part of index.missing(columns)) {
    index.add(part, versions.filter(({ z, x, y }) => z === part.z && x === part.x && part.y0 <= y && y <= part.y1)
      .sort((a, b) => a.y - b.y || (a.time < b.time ? -1 : 1)))
  }
}

describe('the version index', () => {
  it('reports missing rows in whole blocks, and joins adjacent blocks', () => {
    const index = new VersionIndex()
    assert.equal(BLOCK, 4)
    assert.deepEqual(index.missing([column(3, 5, 9)]), [column(3, 4, 11)])
    index.add(column(3, 4, 7), [])
    assert.deepEqual(index.missing([column(3, 1, 9), column(4, 4, 4)]),
      [column(3, 0, 3), column(3, 8, 11), column(4, 4, 7)])
    assert.deepEqual(index.missing([column(3, 4, 7)]), [])
  })

  it('ends the last block at the last row of the zoom', () => {
    for (const z of [0, 1, 2, 3]) {
      assert.equal(new VersionIndex().missing([column(0, 0, 2 ** z - 1, z)])[0].y1, 2 ** z - 1)
    }
    assert.deepEqual(new VersionIndex().missing([column(0, 0, 0, 0)]), [column(0, 0, 0, 0)])
  })

  it('leaves rows of open requests out of the missing rows', () => {
    assert.deepEqual(new VersionIndex().missing([column(3, 0, 11)], (z, x, y) => y === 4),
      [column(3, 0, 3), column(3, 8, 11)])
  })

  it('distinguishes a tile without versions from an unknown tile', () => {
    const index = new VersionIndex()
    assert.equal(index.isKnown(5, 3, 4), false)
    index.add(column(3, 4, 7), [version(3, 5, 1)])
    assert.deepEqual([index.isKnown(5, 3, 4), index.isKnown(5, 3, 8), index.isKnown(5, 2, 4)], [true, false, false])
    assert.deepEqual([index.at(5, 3, 4, T(9)), index.at(5, 3, 4, null), index.versions(5, 3, 4)],
      [undefined, undefined, []])
    assert.equal(index.covers([column(3, 4, 7)]), true)
    assert.equal(index.covers([column(3, 4, 8)]), false)
    assert.equal(index.covers([]), true)
  })

  it('replaces the versions of a range that is added again', () => {
    const index = new VersionIndex()
    index.add(column(3, 4, 7), [version(3, 5, 1), version(3, 5, 2), version(3, 6, 1)])
    index.add(column(3, 8, 11), [version(3, 8, 1)])
    const { generation } = index
    index.add(column(3, 4, 7), [version(3, 5, 1), version(3, 7, 4)])
    assert.equal(index.size, 3)
    assert.ok(index.generation > generation)
    assert.deepEqual([index.versions(5, 3, 5).length, index.versions(5, 3, 6).length,
      index.at(5, 3, 7, null)?.time, index.at(5, 3, 8, null)?.time], [1, 0, T(4), T(1)])
  })

  it('lists a head that is also a past version once, as the head', () => {
    const index = new VersionIndex()
    index.add(column(3, 4, 7),
      [version(3, 5, 1), version(3, 5, 2, { rev: '1-past' }), version(3, 5, 2, { rev: '2-head', current: true })])
    assert.deepEqual(index.versions(5, 3, 5).map(({ rev }) => rev), ['1-3.5.1', '2-head'])
    assert.deepEqual(index.changes([column(3, 5, 5)]).map(({ tiles }) => tiles), [1, 1])
  })

  it('keeps the image name of a head that became a past version while its size is the same', () => {
    const index = new VersionIndex()
    const load = (...versions) => index.add(column(3, 4, 7), versions.map(fields => version(3, 5, 1, fields)))
    load({ rev: '1-head', current: true })
    load({ rev: '1-past' })
    assert.equal(index.at(5, 3, 5, T(1))?.content, '1-head')
    load({ rev: '1-past' })
    assert.equal(index.at(5, 3, 5, T(1))?.content, '1-head')
    load({ rev: '1-other', bytes: 11 })
    assert.equal(index.at(5, 3, 5, T(1))?.content, undefined)
  })

  it('identifies an image by its digest, so that another image of the same time differs', () => {
    const index = new VersionIndex()
    const load = fields => {
      index.add(column(3, 4, 7), [version(3, 5, 1, fields)])
      return versionKey(index.at(5, 3, 5, T(1)))
    }
    const head = load({ rev: '1-head', current: true, digest: 'md5-a' })
    assert.equal(load({ rev: '1-past', digest: 'md5-a' }), head, 'it went to the past')
    assert.notEqual(load({ rev: '3-past', digest: 'md5-b' }), head, 'and is as long')
    load({ rev: '1-head', current: true, digest: 'md5-a' })
    assert.notEqual(load({ rev: '1-past', digest: 'md5-b' }), head, 'when nobody looked in between')
    load({ rev: '1-head', current: true, digest: 'md5-a' })
    assert.equal(load({ rev: '1-head', current: true }), head,
      'what the device told before, of a store whose index is older')
  })

  it('reports expired rows as missing, and returns their old versions meanwhile', () => {
    const index = new VersionIndex()
    const view = [column(3, 0, 11)]
    fill(index, view, [version(3, 5, 1)])
    index.expire(5, 3, 6)
    index.expire(5, 9, 9) // an unknown tile
    assert.deepEqual(index.missing(view), [column(3, 4, 7)])
    assert.equal(index.covers(view), true)
    assert.equal(index.at(5, 3, 5, null)?.time, T(1))
    index.expireAll()
    assert.deepEqual(index.missing(view), view)
    fill(index, view, [version(3, 5, 1), version(3, 5, 2)])
    assert.equal(index.at(5, 3, 5, null)?.time, T(2))
  })

  it('drops the least recently used versions over its limit, but never those in view', () => {
    const index = new VersionIndex({ limit: 10 })
    const allVersions = [0, 1, 2, 3].flatMap(x => [1, 2, 3, 4].map(step => version(x, 0, step)))
    for (const x of [0, 1, 2]) {
      fill(index, [column(x, 0, 3)], allVersions)
      index.trim([column(x, 0, 3)])
    }
    assert.deepEqual([0, 1, 2].map(x => index.isKnown(5, x, 0)), [false, true, true])
    index.covers([column(1, 0, 3)])
    fill(index, [column(3, 0, 3)], allVersions)
    index.trim([column(3, 0, 3)])
    assert.deepEqual([1, 2, 3].map(x => index.isKnown(5, x, 0)), [true, false, true])
    assert.equal(index.size, 8)
    const view = [0, 1, 2, 3].map(x => column(x, 0, 3))
    fill(index, view, allVersions)
    index.trim(view)
    assert.ok(index.covers(view), 'though it is more than the limit')
  })

  it('distinguishes a tile that is gone from a tile that never existed', () => {
    const index = new VersionIndex()
    index.add(column(3, 4, 7),
      [version(3, 5, 2), version(3, 5, 4, { gone: true, bytes: 0 }), version(3, 6, 3, { gone: true, bytes: 0 })])
    assert.equal(isImage(index.at(5, 3, 5, T(3))), true)
    assert.equal(isImage(index.at(5, 3, 5, T(4))), false)
    assert.equal(isImage(index.at(5, 3, 5, T(1))), false)
    const changed = (from, to) => index.changedTiles([column(3, 4, 7)], from, to)
      .map(({ y, before, after, bytes }) => [y, before?.time ?? null, after?.gone ?? null, bytes])
    assert.deepEqual(changed(T(2), null), [[5, T(2), true, 0]])
    assert.deepEqual(changed(T(1), T(3)), [[5, null, false, 10]], 'nothing that became gone from nothing')
    assert.deepEqual(changed(T(2), T(3)), [])
    assert.deepEqual(changed(null, T(2)), [[5, T(4), false, 10]], 'backwards as well')
  })

  it('gives the same answers as a naive search for random versions and views', () => {
    const tile = fc.record(
      {
        x: fc.integer({ min: 0, max: 2 }), y: fc.integer({ min: 0, max: 13 }),
        step: fc.integer({ min: 1, max: 6 }), gone: fc.boolean(), bytes: fc.integer({ min: 0, max: 99 })
      }
    )
    const range = fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 13 })).map(([x, a, b]) => column(x, Math.min(a, b), Math.max(a, b)))
    const views = fc.uniqueArray(range, { selector: ({ x }) => x, minLength: 1, maxLength: 3 })
    const time = fc.option(fc.integer({ min: 0, max: 7 }).map(T))
    fc.assert(fc.property(fc.uniqueArray(tile, {
      selector: ({ x, y, step }) => `${x}/${y}/${step}`, maxLength: 60
    }), fc.array(views, { minLength: 1, maxLength: 5 }), time, time, (tiles, walk, from, to) => {
      const allVersions = tiles.map(({ x, y, step, ...fields }) => version(x, y, step, fields))
      const index = new VersionIndex({ limit: 20 })
      for (const view of walk) {
        fill(index, view, allVersions)
        index.trim(view)
        assert.deepEqual(index.missing(view), [])
        assert.ok(index.covers(view))
      }
      const view = walk.at(-1)
      const inView = allVersions.filter(({ x, y }) => view.some(part => part.x === x && part.y0 <= y && y <= part.y1))
      const naiveVersion = (x, y, when) => allVersions.filter(candidate => candidate.x === x &&
        candidate.y === y && (when === null || candidate.time <= when)).sort((a, b) => a.time < b.time ? -1 : 1).at(-1)
      for (const { x, y } of inView) for (const when of [from, to]) {
        assert.equal(index.at(5, x, y, when), naiveVersion(x, y, when))
      }
      const times = [...new Set(inView.map(candidate => candidate.time))].sort()
      assert.deepEqual(index.changes(view), times.map(when => {
        const changed = inView.filter(candidate => candidate.time === when)
        return { time: when, tiles: changed.length, bytes: changed.reduce((sum, { bytes }) => sum + bytes, 0) }
      }))
      const differing = [...new Set(inView.map(({ x, y }) => `${x}/${y}`))].filter(name => {
        const [x, y] = name.split('/').map(Number)
        const [before, after] = [naiveVersion(x, y, from), naiveVersion(x, y, to)]
        return before !== after && (isImage(before) || isImage(after))
      })
      assert.deepEqual(index.changedTiles(view, from, to).map(({ x, y }) => `${x}/${y}`).sort(), differing.sort())
    }), { numRuns: 200 })
  })
})
