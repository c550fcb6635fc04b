import assert from 'node:assert/strict'
import { ancestors, neighbours, resolve, viewColumns } from '../../client/engine/resolve.js'
import { VersionIndex } from '../../client/engine/version-index.js'
import { tileRanges } from '../../core/index.js'

const T = step => `2024-01-0${step}T00:00:00Z`
const version = (z, x, y, step, gone = false) => (
  { layer: 'a', z, x, y, time: T(step), rev: '1-a', bytes: 1, gone, current: false, expires: null }
)
const OPTIONS = { overzoom: 3, minzoom: 0 }

describe('the picture of a tile', () => {
  const index = new VersionIndex()
  index.add({ z: 3, x: 5, y0: 0, y1: 7 }, [version(3, 5, 2, 3), version(3, 5, 3, 2), version(3, 5, 3, 3, true)])
  index.add({ z: 2, x: 2, y0: 0, y1: 3 }, [version(2, 2, 1, 2)])
  index.add({ z: 1, x: 1, y0: 0, y1: 1 }, [version(1, 1, 0, 1)])
  index.add({ z: 0, x: 0, y0: 0, y1: 0 }, [])
  const at = (tile, time, options = OPTIONS) => {
    const picture = resolve(index, tile, time, options)
    return picture && [picture.version.z, picture.up, picture.dx, picture.dy]
  }
  const tile = { z: 3, x: 5, y: 2 }

  it('is its own version, or the part of the nearest ancestor that has one as of the time', () => {
    assert.deepEqual(at(tile, T(3)), [3, 0, 0, 0])
    assert.deepEqual(at(tile, null), [3, 0, 0, 0])
    assert.deepEqual(at(tile, T(2)), [2, 1, 1, 0])
    assert.deepEqual(at(tile, T(1)), [1, 2, 1, 2])
    assert.deepEqual(at({ z: 3, x: 5, y: 3 }, T(3)), [2, 1, 1, 1], 'gone')
  })

  it('is null before the first version and beyond the limits overzoom and minzoom', () => {
    assert.equal(at(tile, '2023-01-01T00:00:00Z'), null)
    assert.equal(at(tile, T(1), { overzoom: 1, minzoom: 0 }), null)
    assert.equal(at(tile, T(1), { overzoom: 3, minzoom: 2 }), null)
    assert.equal(at(tile, T(2), { overzoom: 0, minzoom: 0 }), null)
  })

  it('is undefined while the index lacks the tile or an ancestor that may be drawn', () => {
    assert.equal(at({ z: 3, x: 7, y: 2 }, null), undefined)
    const partly = new VersionIndex()
    partly.add({ z: 3, x: 5, y0: 0, y1: 7 }, [])
    assert.equal(resolve(partly, tile, null, OPTIONS), undefined)
    assert.equal(resolve(partly, tile, null, { overzoom: 0, minzoom: 0 }), null)
  })
})

describe('the ancestors of a view', () => {
  it('are the columns at lower zooms, each once, as far as overzoom and minzoom allow', () => {
    assert.deepEqual(ancestors([{ z: 4, x: 4, y0: 3, y1: 6 }, { z: 4, x: 5, y0: 3, y1: 6 }, {
      z: 4, x: 6, y0: 3, y1: 6
    }], { overzoom: 2, minzoom: 0 }), [
      { z: 3, x: 2, y0: 1, y1: 3 }, { z: 2, x: 1, y0: 0, y1: 1 }, { z: 3, x: 3, y0: 1, y1: 3 }
    ])
    assert.deepEqual(ancestors([{ z: 2, x: 3, y0: 0, y1: 3 }], { overzoom: 9, minzoom: 1 }),
      [{ z: 1, x: 1, y0: 0, y1: 1 }])
    assert.deepEqual(ancestors([{ z: 2, x: 3, y0: 0, y1: 3 }], { overzoom: 0, minzoom: 0 }), [])
  })
})

describe('the steps next to a time', () => {
  const changes = [1, 2, 3, 4, 5].map(step => ({ time: T(step) }))

  it('are listed with the nearest first, and the direction of the clock first', () => {
    assert.deepEqual(neighbours(changes, T(3), 2), [T(4), T(2), T(5), T(1)])
    assert.deepEqual(neighbours(changes, T(3), 2, false), [T(2), T(4), T(1), T(5)])
    assert.deepEqual(neighbours(changes, '2024-01-03T12:00:00Z', 1), [T(4), T(2)])
  })

  it('end where the changes end', () => {
    assert.deepEqual(neighbours(changes, null, 2), [T(4), T(3)])
    assert.deepEqual(neighbours(changes, T(1), 2), [T(2), T(3)])
    assert.deepEqual(neighbours(changes, '2000-01-01T00:00:00Z', 2), [T(1), T(2)])
    assert.deepEqual(neighbours([], null, 2), [])
    assert.deepEqual(neighbours(changes, T(3), 0), [])
  })
})

describe('the columns of a view', () => {
  const view = (x0, y0, x1, y1, z, within) => viewColumns({ min: { x: x0, y: y0 }, max: { x: x1, y: y1 } }, z, within)
    .map(({ x, y0: from, y1: to }) => [x, from, to])

  it('are cut at the poles and wrap around the world', () => {
    assert.deepEqual(view(-1, -1, 1, 9, 2), [[3, 0, 3], [0, 0, 3], [1, 0, 3]])
    assert.deepEqual(view(6, 2, 9, 3, 3), [[6, 2, 3], [7, 2, 3], [0, 2, 3], [1, 2, 3]])
    assert.deepEqual(view(0, 5, 3, 9, 2), [], 'south of the world')
  })

  it('contain each column once when several copies of the world are in view', () => {
    assert.deepEqual(view(-3, 0, 4, 0, 0), [[0, 0, 0]])
    assert.deepEqual(view(-5, 0, 6, 1, 1).sort(), [[0, 0, 1], [1, 0, 1]])
    assert.deepEqual(view(-9, 0, 9, 7, 3).length, 8)
  })

  it('are limited to the bounds of a layer, also across the antimeridian', () => {
    const pacific = tileRanges([140, -40, -140, 40], 3)
    assert.deepEqual(view(-8, 0, 15, 7, 3, pacific).sort(), [[0, 3, 4], [7, 3, 4]])
    assert.deepEqual(view(7, 0, 9, 7, 3, pacific), [[7, 3, 4], [0, 3, 4]])
    assert.deepEqual(view(2, 0, 4, 7, 3, pacific), [])
  })
})
