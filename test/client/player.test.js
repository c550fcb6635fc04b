// Tests the playback with a mocked time, and the player of layers.
import assert from 'node:assert/strict'
import { clock } from '../../client/engine/clock.js'
import { Emitter } from '../../client/engine/emitter.js'
import { Playback } from '../../client/timeline/playback.js'
import { player } from '../../client/timeline/player.js'

const day = number => `2024-01-${String(number).padStart(2, '0')}T00:00:00Z`

/** Creates a host whose time passes only in pass(). */
function createHost (
  { times = [1, 2, 3].map(day), time = null, interval = 100, pace = null, loop = false, range = null }
) {
  const log = []
  const timers = new Map()
  let now = 0
  let ids = 0
  const host = {
    times, time, shown: true, log,
    playback: null, // set below
    moves: () => log.filter(entry => entry.startsWith('step')).map(entry => +entry.slice(13, 15)),
    timers: () => timers.size,
    pass (milliseconds) {
      const until = now + milliseconds
      for (;;) {
        const [id, next] = [...timers].sort((a, b) => a[1].at - b[1].at)[0] ?? []
        if (!next || next.at > until) break
        timers.delete(id)
        now = next.at
        next.run()
      }
      now = until
    }
  }
  host.playback = new Playback({
    times: () => host.times,
    getTime: () => host.time,
    setTime: next => {
      host.time = next
      host.playback.moved()
    },
    isShown: () => host.shown,
    emit: (type, data) => log.push(data ? `${type} ${data.time}` : type),
    now: () => now,
    setTimeout: (run, milliseconds) => {
      timers.set(++ids, { run, at: now + milliseconds })
      return ids
    },
    clearTimeout: id => timers.delete(id)
  }, { interval, pace, loop, range })
  return host
}

function startPlaying (options) {
  const film = createHost(options)
  film.playback.play()
  return film
}

describe('the playback', () => {
  it('steps from change to change at its speed, and stops at the end', () => {
    const film = startPlaying({ time: day(1) })
    assert.deepEqual(film.moves(), [2], 'the first step comes at once')
    film.pass(99)
    assert.deepEqual(film.moves(), [2])
    film.pass(1)
    assert.deepEqual(film.moves(), [2, 3])
    film.pass(100)
    assert.deepEqual(film.log, ['play', `step ${day(2)}`, `step ${day(3)}`, 'end', 'pause'])
    assert.equal(film.timers(), 0)
  })

  it('waits in proportion to the time between changes when it has a pace', () => {
    const film = startPlaying({ times: [1, 2, 4].map(day), time: day(1), pace: 5 * 86400 })
    assert.deepEqual(film.moves(), [2])
    film.pass(399)
    assert.deepEqual(film.moves(), [2], 'two days in two fifths of a second')
    film.pass(1)
    assert.deepEqual(film.moves(), [2, 4])
    film.playback.set({ pace: null })
    film.pass(100)
    assert.equal(film.log.at(-1), 'pause', 'at its speed again')
  })

  it('skips changes that are too close together for its pace', () => {
    const film = startPlaying({ times: [1, 2, 3, 4, 9].map(day), time: day(1), pace: 20 * 86400 })
    film.pass(1000)
    assert.deepEqual(film.moves(), [3, 4, 9])
  })

  it('starts at the first change when the clock is at the last change or the newest', () => {
    for (const time of [day(3), null]) {
      const film = startPlaying({ time })
      film.pass(1000)
      assert.deepEqual(film.moves(), [1, 2, 3])
    }
  })

  it('starts over at the end in a loop until it is paused', () => {
    const film = startPlaying({ time: day(1), loop: true })
    film.pass(350)
    assert.deepEqual(film.moves(), [2, 3, 1, 2])
    film.playback.pause()
    film.pass(1000)
    assert.equal(film.moves().length, 4)
    assert.equal(film.log.at(-1), 'pause')
    assert.equal(film.timers(), 0)
  })

  it('waits for late tiles, fires waiting once, and skips no change', () => {
    const film = startPlaying({ time: day(1) })
    film.shown = false
    film.pass(90)
    film.playback.poke()
    assert.ok(!film.log.some(entry => entry.startsWith('waiting')), 'not late yet')
    film.pass(10000)
    assert.deepEqual(film.log.slice(2), [`waiting ${day(2)}`])
    film.shown = true
    film.playback.poke()
    assert.deepEqual(film.moves(), [2], 'what came late is still seen for a moment')
    film.pass(25)
    assert.deepEqual(film.moves(), [2, 3])
  })

  it('shows a late picture for its minimum time, even if other tiles load meanwhile', () => {
    const film = startPlaying({ time: day(1) })
    film.shown = false
    film.playback.poke()
    film.pass(200)
    film.shown = true
    film.playback.poke()
    film.playback.poke()
    film.pass(24)
    assert.deepEqual(film.moves(), [2])
  })

  it('counts the interval from the step and not from the arrival of its tiles', () => {
    const film = createHost({ time: day(1) })
    film.shown = false
    film.playback.play()
    assert.deepEqual(film.moves(), [], 'not even the first picture is there')
    film.shown = true
    film.pass(40)
    film.playback.poke()
    film.shown = false
    film.pass(60)
    film.shown = true
    film.playback.poke()
    film.pass(25)
    assert.deepEqual(film.moves(), [2])
  })

  it('waits while the changes of a new view load, and continues with them', () => {
    const film = startPlaying({ time: day(1) })
    film.times = null
    film.pass(500)
    assert.deepEqual(film.log.slice(2), [`waiting ${day(2)}`])
    film.times = [day(1), day(4), day(9)]
    film.playback.poke()
    film.pass(1000)
    assert.deepEqual(film.moves(), [2, 4, 9])
  })

  it('continues from the time to which other code moved the clock', () => {
    const film = startPlaying({ times: [1, 2, 3, 7, 8].map(day), time: day(1) })
    film.pass(50)
    film.time = day(5)
    film.playback.moved()
    film.pass(99)
    assert.deepEqual(film.moves(), [2])
    film.pass(1)
    assert.deepEqual(film.moves(), [2, 7])
  })

  it('stays within its range', () => {
    const film = startPlaying({ times: [1, 2, 3, 4, 5].map(day), time: day(1), range: { from: day(3), to: day(4) } })
    film.pass(1000)
    assert.deepEqual(film.moves(), [3, 4])
    film.playback.play()
    film.pass(1000)
    assert.deepEqual(film.moves(), [3, 4, 3, 4], 'again from its beginning')
  })

  it('applies a new speed at once', () => {
    const film = startPlaying({ times: [1, 2, 3, 4].map(day), time: day(1), interval: 1000 })
    film.pass(100)
    film.playback.set({ interval: 50 })
    film.pass(0)
    assert.deepEqual(film.moves(), [2, 3])
    film.pass(50)
    assert.deepEqual(film.moves(), [2, 3, 4])
  })

  it('ends at once when there are no changes', () => {
    const film = startPlaying({ times: [] })
    assert.deepEqual(film.log, ['play', 'end', 'pause'])
  })
})

/** The time engine of a layer, with the members that players use. */
class FakeEngine extends Emitter {
  isOnMap = true
  isSlow = false // its tiles come only when arrive() is called
  shown = true

  /** @param {import('../../client/engine/clock.js').Clock} layerClock @param {number[]} days of its changes */
  constructor (layerClock, days) {
    super()
    this.changes = () => days.map(number => ({ time: day(number), tiles: 1, bytes: 1 }))
    this.isShown = () => this.shown
    layerClock.on('timechange', () => { this.shown = !this.isSlow })
  }

  arrive () {
    this.shown = true
    this.fire('timeload')
  }
}

describe('the player of layers', () => {
  it('waits for every layer on the map only, and removes its listeners when it stops', async () => {
    const layerClock = clock({ time: day(1) })
    const [a, b, hidden] = [[1, 2], [2, 3], [5]].map(days => new FakeEngine(layerClock, days))
    b.isSlow = hidden.isSlow = true
    hidden.isOnMap = false
    const film = player(layerClock, [a, { history: b }, hidden], { speed: 1000 })
    const log = []
    film.on('play pause step waiting end', ({ type, time }) => log.push(time ? `${type} ${time.slice(8, 10)}` : type))
    const until = type => new Promise(resolve => { film.once(type, resolve) })
    const listeners = () => [a, b, hidden, layerClock]
      .map(emitter => [...emitter._listeners.values()].reduce((sum, { size }) => sum + size, 0)).join()
    const before = listeners()
    const waiting = until('waiting')
    film.play()
    assert.notEqual(listeners(), before)
    await waiting
    const second = until('waiting')
    b.arrive()
    await second
    const end = until('pause')
    b.arrive()
    await end
    assert.deepEqual(log, ['play', 'step 02', 'waiting 02', 'step 03', 'waiting 03', 'end', 'pause'])
    assert.equal(listeners(), before, 'no listener stays')
    assert.equal(layerClock.getTime(), day(3))
  })

  it('steps through changes and within a range, takes the newest for the last, and refuses speed 0', () => {
    const layerClock = clock()
    const film = player(layerClock, new FakeEngine(layerClock, [1, 2, 3, 4]))
    const currentDay = () => layerClock.getTime() && +layerClock.getTime().slice(8, 10)
    const steps = [() => film.step(1), () => film.step(-1), () => film.last(), () => film.step(1),
      () => film.first(), () => film.step(-1), () => film.step(10)].map(step => step() && currentDay())
    assert.deepEqual(steps, [null, 3, 4, 4, 1, 1, 4])
    film.setRange({ from: '2024-01-03', to: '2024-01-02' })
    assert.deepEqual([film.first() && currentDay(), film.last() && currentDay(), film.getRange()],
      [2, 3, { from: '2024-01-02T00:00:00Z', to: '2024-01-03T23:59:59Z' }])
    assert.throws(() => film.setSpeed(0), { code: 'BAD_OPTION' })
  })
})
