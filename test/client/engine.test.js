// Tests the small parts of the engine: events, the clock, the picture of a tile, columns of a view, and the preloader;
// and the engine itself at a source whose requests a test answers.
import assert from 'node:assert/strict'
import { clock } from '../../client/engine/clock.js'
import { Emitter } from '../../client/engine/emitter.js'
import { HistoryEngine } from '../../client/engine/history-engine.js'
import { Preloader } from '../../client/engine/preloader.js'
import { ancestors, neighbours, resolve, viewColumns } from '../../client/engine/resolve.js'
import { VersionIndex } from '../../client/engine/version-index.js'
import { TilecouchError, tileRanges } from '../../core/index.js'

const T = step => `2024-01-0${step}T00:00:00Z`
const CHANGES = [1, 2, 3, 4, 5].map(step => ({ time: T(step) }))

describe('events without Leaflet', () => {
  const log = () => {
    const list = []
    return { list, add: event => list.push(event.type) }
  }

  it('reach the listeners of their type with fields, type and target, until the listeners are removed', () => {
    const emitter = new Emitter()
    const events = []
    const listener = event => events.push(event)
    assert.equal(emitter.on('a b', listener).fire('a', { time: 1, type: 'z' }).fire('b').fire('c'), emitter)
    assert.deepEqual(events.map(event => ({ ...event })), [{ time: 1, type: 'a' }, { type: 'b' }],
      'the target is no field')
    assert.ok(events.every(({ target }) => target === emitter))
    emitter.off('a', listener).fire('a').fire('b')
    assert.deepEqual(events.map(({ type }) => type), ['a', 'b', 'b'])
    emitter.off('b').fire('b')
    assert.equal(events.length, 3)
  })

  it('reach a listener that was added by once only once for each type', () => {
    const { list, add } = log()
    new Emitter().once('a b', add).fire('a').fire('a').fire('b').fire('b')
    assert.deepEqual(list, ['a', 'b'])
  })

  it('call a listener once for each context, with the context as `this`', () => {
    const emitter = new Emitter()
    const callers = []
    function listener () { callers.push(this.name ?? 'emitter') }
    const [first, second] = [{ name: 'one' }, { name: 'two' }]
    emitter.on('a', listener).on('a', listener, first).on('a', listener, second).on('a', listener, first).fire('a')
    assert.deepEqual(callers, ['emitter', 'one', 'two'])
    emitter.off('a', listener).off('a', listener, first).fire('a')
    assert.deepEqual(callers.slice(3), ['two'])
  })

  it('do not reach a listener that another listener removed or added during the event', () => {
    const { list, add } = log()
    const emitter = new Emitter()
    const lateListener = () => list.push('late')
    emitter.once('a', () => emitter.off('a', add).on('a', lateListener)).on('a', add).fire('a')
    assert.deepEqual(list, [])
    emitter.fire('a')
    assert.deepEqual(list, ['late'])
  })

  it('reach the other listeners when one throws, and its error is reported', () => {
    const reported = []
    const before = globalThis.reportError
    globalThis.reportError = error => reported.push(error.message)
    try {
      const { list, add } = log()
      new Emitter().on('a', () => { throw new Error('mine') }).on('a', add).fire('a')
      assert.deepEqual([list, reported], [['a'], ['mine']])
    } finally {
      globalThis.reportError = before
    }
    assert.throws(() => new Emitter().on('a', undefined), /no function listens to a/)
  })
})

describe('the clock', () => {
  it('turns written times into exact ones, and fires timechange when the time differs', () => {
    const testClock = clock()
    const fired = []
    testClock.on('timechange', ({ time, previous }) => fired.push([time, previous]))
    const [end, morning] = ['2024-12-31T23:59:59Z', '2024-03-01T10:00:00Z']
    const times = [null, '2024', '2024-03-01T12:00:00+02:00', new Date(Date.UTC(2024, 2, 1, 10)), null, undefined]
    assert.deepEqual(times.map(time => testClock.setTime(time).getTime()), [null, end, morning, morning, null, null])
    assert.deepEqual(fired, [[end, null], [morning, end], [null, morning]], 'only when it differs')
    assert.equal(clock({ time: '2020-02' }).getTime(), '2020-02-29T23:59:59Z')
  })

  it('refuses a value that is not a time, and keeps its time', () => {
    const testClock = clock({ time: '2024-03-01T10:00:00Z' })
    for (const time of ['yesterday', 1709287200000, '2024-02-30', new Date(NaN), {}]) {
      assert.throws(() => testClock.setTime(time), { code: 'BAD_TIME' })
      assert.equal(testClock.getTime(), '2024-03-01T10:00:00Z')
    }
  })
})

const version = (z, x, y, step, gone = false) => ({
  layer: 'a', z, x, y, time: T(step), rev: '1-a', bytes: 1, gone, current: false, expires: null
})
const OPTIONS = { overzoom: 3, minzoom: 0 }

describe('the picture of a tile', () => {
  const index = new VersionIndex()
  index.add({ z: 3, x: 5, y0: 0, y1: 7 }, [version(3, 5, 2, 3), version(3, 5, 3, 2), version(3, 5, 3, 3, true)])
  index.add({ z: 2, x: 2, y0: 0, y1: 3 }, [version(2, 2, 1, 2)])
  index.add({ z: 1, x: 1, y0: 0, y1: 1 }, [version(1, 1, 0, 1)])
  index.add({ z: 0, x: 0, y0: 0, y1: 0 }, [])
  const pictureAt = (tile, time, options = OPTIONS) => {
    const picture = resolve(index, tile, time, options)
    return picture && [picture.version.z, picture.up, picture.dx, picture.dy]
  }
  const tile = { z: 3, x: 5, y: 2 }

  it('is its own version, or the part of the nearest ancestor that has one as of the time', () => {
    assert.deepEqual(pictureAt(tile, T(3)), [3, 0, 0, 0])
    assert.deepEqual(pictureAt(tile, null), [3, 0, 0, 0])
    assert.deepEqual(pictureAt(tile, T(2)), [2, 1, 1, 0])
    assert.deepEqual(pictureAt(tile, T(1)), [1, 2, 1, 2])
    assert.deepEqual(pictureAt({ z: 3, x: 5, y: 3 }, T(3)), [2, 1, 1, 1], 'gone')
  })

  it('is null before the first version and beyond the limits overzoom and minzoom', () => {
    assert.equal(pictureAt(tile, '2023-01-01T00:00:00Z'), null)
    assert.equal(pictureAt(tile, T(1), { overzoom: 1, minzoom: 0 }), null)
    assert.equal(pictureAt(tile, T(1), { overzoom: 3, minzoom: 2 }), null)
    assert.equal(pictureAt(tile, T(2), { overzoom: 0, minzoom: 0 }), null)
  })

  it('is undefined while the index lacks the tile or an ancestor that may be drawn', () => {
    assert.equal(pictureAt({ z: 3, x: 7, y: 2 }, null), undefined)
    const partialIndex = new VersionIndex()
    partialIndex.add({ z: 3, x: 5, y0: 0, y1: 7 }, [])
    assert.equal(resolve(partialIndex, tile, null, OPTIONS), undefined)
    assert.equal(resolve(partialIndex, tile, null, { overzoom: 0, minzoom: 0 }), null)
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
  it('are listed with the nearest first, and the direction of the clock first', () => {
    assert.deepEqual(neighbours(CHANGES, T(3), 2), [T(4), T(2), T(5), T(1)])
    assert.deepEqual(neighbours(CHANGES, T(3), 2, false), [T(2), T(4), T(1), T(5)])
    assert.deepEqual(neighbours(CHANGES, '2024-01-03T12:00:00Z', 1), [T(4), T(2)])
  })

  it('end where the changes end', () => {
    assert.deepEqual(neighbours(CHANGES, null, 2), [T(4), T(3)])
    assert.deepEqual(neighbours(CHANGES, T(1), 2), [T(2), T(3)])
    assert.deepEqual(neighbours(CHANGES, '2000-01-01T00:00:00Z', 2), [T(1), T(2)])
    assert.deepEqual(neighbours([], null, 2), [])
    assert.deepEqual(neighbours(CHANGES, T(3), 0), [])
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

/** Creates a preloader with one image of ten bytes for each time. No image ever arrives. */
function createPreloader (options = {}) {
  const log = []
  const images = {
    load: ({ step }, { urgent, user }) => {
      log.push(`+${step}${urgent ? '!' : ''}`)
      return new Promise((_, reject) => { user[step] = reject })
    },
    release: ({ step }, user, { abort = false } = {}) => {
      log.push(`-${step}${abort ? '!' : ''}`)
      user[step](new DOMException('', 'AbortError'))
    }
  }
  const versionsAt = times => times.map(time => ({ step: +time.slice(9, 10), bytes: 10 }))
  const preloader = new Preloader(images, versionsAt, { preload: 2, preloadSize: 1000, ...options })
  return { log, preloader }
}

describe('a preloader', () => {
  it('loads the nearest steps first, beginning in the direction of the clock, without urgency', () => {
    const { log, preloader } = createPreloader()
    preloader.run(CHANGES, T(3))
    assert.deepEqual(log, ['+4', '+2', '+5', '+1'])
    log.length = 0
    preloader.forward = false
    preloader.run(CHANGES, T(3))
    assert.deepEqual(log, ['-4', '-2', '-5', '-1', '+2', '+4', '+1', '+5'])
  })

  it('loads at most preloadSize bytes', () => {
    const { log, preloader } = createPreloader({ preloadSize: 25 })
    preloader.run(CHANGES, T(3))
    assert.deepEqual(log, ['+4', '+2'])
  })

  it('releases each of its images once on drop', () => {
    const { log, preloader } = createPreloader({ preload: 1 })
    preloader.run(CHANGES, null)
    preloader.drop()
    preloader.drop()
    assert.deepEqual(log, ['+4', '-4'])
  })

  it('keeps explicitly requested images on drop, until their signal aborts', async () => {
    const { log, preloader } = createPreloader()
    const stop = new AbortController()
    const loaded = preloader.load([T(1), T(5)], stop.signal)
    preloader.drop()
    assert.deepEqual(log, ['+1', '+5'])
    stop.abort()
    await loaded
    await preloader.load([T(2)], stop.signal)
    assert.deepEqual(log, ['+1', '+5', '-1!', '-5!'])
  })
})

describe('a time engine', () => {
  const column = { z: 5, x: 1, y0: 0, y1: 3 }
  const surface = { setLayer () {}, decode: async () => {} }
  const unreachable = () => new TilecouchError('UNREACHABLE', { url: 'http://x', why: 'away' })

  // Node has no such function
  before(() => { globalThis.addEventListener = () => {} })
  after(() => { Reflect.deleteProperty(globalThis, 'addEventListener') })

  for (const read of ['device', 'network']) {
    it(`repeats its failed index request at once when the store is known to answer (read: ${read})`, async () => {
      const requests = []
      const source = {
        extent: async () => null,
        versions: (layer, columns) => new Promise((_, reject) => { requests.push({ columns, reject }) })
      }
      const offline = Object.assign(new Emitter(), { source: () => source })
      const options = { layer: 'a', tilejson: false, offline, read }
      const engine = new HistoryEngine(null, /** @type {any} */ (options), surface)
      engine.start()
      engine.setView([column])
      requests[0].reject(unreachable())
      await new Promise(done => { engine.once('storeerror', done) })
      offline.fire('online', { online: true })
      assert.deepEqual(requests.map(({ columns }) => columns), [[column], [column]])
      engine.stop()
    })
  }

  it('requests a view that has no versions again when the change feed begins after the first answer', async () => {
    const requests = []
    let beginFeed
    const source = {
      extent: async () => null,
      changes: (layer, since) => new Promise(answer => { if (since === 'now') beginFeed = answer }),
      async versions (layer, columns) {
        requests.push(columns)
        return columns.map(() => [])
      }
    }
    const offline = Object.assign(new Emitter(), { source: () => source })
    const options = { layer: 'a', tilejson: false, live: true, offline }
    const engine = new HistoryEngine(null, /** @type {any} */ (options), surface)
    const nextAnswer = () => new Promise(done => { engine.once('changes', done) })
    engine.start()
    engine.setView([column])
    await nextAnswer()
    beginFeed({ since: '1', tiles: [], layer: false })
    await nextAnswer()
    assert.deepEqual(requests, [[column], [column]])
    engine.stop()
  })
})
