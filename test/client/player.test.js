import assert from 'node:assert/strict'
import { Playback } from '../../client/timeline/playback.js'

const day = number => `2024-01-${String(number).padStart(2, '0')}T00:00:00Z`

/** A host whose time passes only when told to. */
function host ({ times = [1, 2, 3].map(day), time = null, interval = 100, pace = null, loop = false, range = null } =
  {}) {
  const log = []
  const timers = new Map()
  let now = 0
  let ids = 0
  const self = {
    times, time, shown: true, log,
    playback: /** @type {Playback} */ (/** @type {unknown} */ (null)),
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
  self.playback = new Playback({
    times: () => self.times,
    getTime: () => self.time,
    setTime: next => {
      self.time = next
      self.playback.moved()
    },
    isShown: () => self.shown,
    emit: (type, data) => log.push(data ? `${type} ${data.time}` : type),
    now: () => now,
    setTimeout: (run, milliseconds) => {
      timers.set(++ids, { run, at: now + milliseconds })
      return ids
    },
    clearTimeout: id => timers.delete(id)
  }, { interval, pace, loop, range })
  return self
}

describe('the playback', () => {
  it('steps from change to change at its speed, and stops at the end', () => {
    const film = host({ time: day(1) })
    film.playback.play()
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
    const film = host({ times: [1, 2, 4].map(day), time: day(1), pace: 5 * 86400 })
    film.playback.play()
    assert.deepEqual(film.moves(), [2])
    film.pass(399)
    assert.deepEqual(film.moves(), [2], 'two days in two fifths of a second')
    film.pass(1)
    assert.deepEqual(film.moves(), [2, 4])
    film.playback.setPace(null)
    film.pass(100)
    assert.equal(film.log.at(-1), 'pause', 'at its speed again')
  })

  it('skips changes that are too close together for its pace', () => {
    const film = host({ times: [1, 2, 3, 4, 9].map(day), time: day(1), pace: 20 * 86400 })
    film.playback.play()
    film.pass(1000)
    assert.deepEqual(film.moves(), [3, 4, 9])
  })

  it('starts at the first change when the clock is at the last change or the newest', () => {
    for (const time of [day(3), null]) {
      const film = host({ time })
      film.playback.play()
      film.pass(1000)
      assert.deepEqual(film.moves(), [1, 2, 3])
    }
  })

  it('starts over at the end in a loop until it is paused', () => {
    const film = host({ time: day(1), loop: true })
    film.playback.play()
    film.pass(350)
    assert.deepEqual(film.moves(), [2, 3, 1, 2])
    film.playback.pause()
    film.pass(1000)
    assert.equal(film.moves().length, 4)
    assert.equal(film.log.at(-1), 'pause')
    assert.equal(film.timers(), 0)
  })

  it('waits for late tiles, fires waiting once, and skips no change', () => {
    const film = host({ time: day(1) })
    film.playback.play()
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
    const film = host({ time: day(1) })
    film.playback.play()
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
    const film = host({ time: day(1) })
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
    const film = host({ time: day(1) })
    film.playback.play()
    film.times = /** @type {any} */ (null)
    film.pass(500)
    assert.deepEqual(film.log.slice(2), [`waiting ${day(2)}`])
    film.times = [day(1), day(4), day(9)]
    film.playback.poke()
    film.pass(1000)
    assert.deepEqual(film.moves(), [2, 4, 9])
  })

  it('continues from the time to which other code moved the clock', () => {
    const film = host({ times: [1, 2, 3, 7, 8].map(day), time: day(1) })
    film.playback.play()
    film.pass(50)
    film.time = day(5)
    film.playback.moved()
    film.pass(99)
    assert.deepEqual(film.moves(), [2])
    film.pass(1)
    assert.deepEqual(film.moves(), [2, 7])
  })

  it('stays within its range', () => {
    const film =
      host({ times: [1, 2, 3, 4, 5].map(day), time: day(1), range: /** @type {any} */ ({ from: day(3), to: day(4) }) })
    film.playback.play()
    film.pass(1000)
    assert.deepEqual(film.moves(), [3, 4])
    film.playback.play()
    film.pass(1000)
    assert.deepEqual(film.moves(), [3, 4, 3, 4], 'again from its beginning')
  })

  it('applies a new speed at once', () => {
    const film = host({ times: [1, 2, 3, 4].map(day), time: day(1), interval: 1000 })
    film.playback.play()
    film.pass(100)
    film.playback.setInterval(50)
    film.pass(0)
    assert.deepEqual(film.moves(), [2, 3])
    film.pass(50)
    assert.deepEqual(film.moves(), [2, 3, 4])
  })

  it('ends at once when there are no changes', () => {
    const film = host({ times: [] })
    film.playback.play()
    assert.deepEqual(film.log, ['play', 'end', 'pause'])
  })
})
