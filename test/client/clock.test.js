/* global tilecouch -- of the page, in functions that run there */
import assert from 'node:assert/strict'
import { onControls } from '../support/client/controls.js'

describe('the clock', function () {
  this.timeout(60000)
  const { visit } = onControls()

  it('turns written times into exact ones, and fires timechange when the time differs', async () => {
    const page = await visit()
    const found = await page.evaluate(() => {
      const clock = tilecouch.clock()
      const said = []
      clock.on('timechange', ({ time, previous }) => said.push([time, previous]))
      const times = [null, '2024', '2024-03-01T12:00:00+02:00', new Date(Date.UTC(2024, 2, 1, 10)),
        null, undefined].map(time => clock.setTime(time).getTime())
      return { times, said, starts: tilecouch.clock({ time: '2020-02' }).getTime() }
    })
    const morning = '2024-03-01T10:00:00Z'
    assert.deepEqual(found.times, [null, '2024-12-31T23:59:59Z', morning, morning, null, null])
    assert.deepEqual(found.said, [['2024-12-31T23:59:59Z', null], [morning, '2024-12-31T23:59:59Z'], [null, morning]],
      'only when it differs')
    assert.equal(found.starts, '2020-02-29T23:59:59Z')
  })

  it('refuses a value that is not a time, and keeps its time', async () => {
    const page = await visit()
    const found = await page.evaluate(() => {
      const clock = tilecouch.clock({ time: '2024-03-01T10:00:00Z' })
      return ['yesterday', 1709287200000, '2024-02-30', new Date(NaN), {}].map(time => {
        try {
          clock.setTime(time)
          return 'taken'
        } catch (error) {
          return `${error.code} ${clock.getTime()}`
        }
      })
    })
    assert.deepEqual(found, Array(5).fill('BAD_TIME 2024-03-01T10:00:00Z'))
  })
})

describe('the player of layers', function () {
  this.timeout(60000)
  const { visit } = onControls()

  it('waits for every layer on the map only, and removes its listeners when it stops', async () => {
    const page = await visit()
    const found = await page.evaluate(async () => {
      const clock = tilecouch.clock({ time: '2024-01-01' })
      const map = tilecouch.map()
      const change = day => ({ time: `2024-01-0${day}T00:00:00Z`, tiles: 1, bytes: 1 })
      const [a, b, off] = [[1, 2], [2, 3], [5]].map(days => tilecouch.fakeLayer({ clock, changes: days.map(change) }))
      a.addTo(map)
      b.addTo(map)
      b.slow = off.slow = true
      const listeners = () => [a, b, clock].map(each => tilecouch.listeners(each)).join()
      const before = listeners()
      const player = tilecouch.player(clock, [a, b, off], { speed: 1000 })
      const log = []
      player.on('play pause step waiting end',
        ({ type, time }) => log.push(time ? `${type} ${time.slice(8, 10)}` : type))
      const until = type => new Promise(resolve => { player.once(type, resolve) })
      const waiting = until('waiting')
      player.play()
      await waiting
      const second = until('waiting')
      b.arrive()
      await second
      const end = until('pause')
      b.arrive()
      await end
      return { log, left: listeners() === before, time: clock.getTime() }
    })
    assert.deepEqual(found.log, ['play', 'step 02', 'waiting 02', 'step 03', 'waiting 03', 'end', 'pause'])
    assert.equal(found.left, true, 'no listener stays')
    assert.equal(found.time, '2024-01-03T00:00:00Z')
  })

  it('steps through changes and within a range, takes the newest for the last, and refuses speed 0', async () => {
    const page = await visit()
    const found = await page.evaluate(() => {
      const clock = tilecouch.clock()
      const layer = tilecouch.fakeLayer(
        { clock, changes: [1, 2, 3, 4].map(day => ({ time: `2024-01-0${day}T00:00:00Z`, tiles: 1, bytes: 1 })) }
      ).addTo(tilecouch.map())
      const player = tilecouch.player(clock, layer)
      const at = () => clock.getTime()?.slice(8, 10) ?? null
      const steps = [() => player.step(1), () => player.step(-1), () => player.last(), () => player.step(1),
        () => player.first(), () => player.step(-1), () => player.step(10)].map(step => step() && at())
      player.setRange({ from: '2024-01-03', to: '2024-01-02' })
      const ranged = [player.first() && at(), player.last() && at(), player.getRange()]
      let refused
      try {
        player.setSpeed(0)
      } catch (error) {
        refused = error.code
      }
      return { steps, ranged, refused }
    })
    assert.deepEqual(found.steps, [null, '03', '04', '04', '01', '01', '04'])
    assert.deepEqual(found.ranged, ['02', '03', { from: '2024-01-02T00:00:00Z', to: '2024-01-03T23:59:59Z' }])
    assert.equal(found.refused, 'BAD_OPTION')
  })
})
