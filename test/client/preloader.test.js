import assert from 'node:assert/strict'
import { Preloader } from '../../client/engine/preloader.js'

const T = step => `2024-01-0${step}T00:00:00Z`
const CHANGES = [1, 2, 3, 4, 5].map(step => ({ time: T(step) }))

/** One image of ten bytes for each time; nothing ever comes. */
function stand (options = {}) {
  const log = []
  const images = {
    load: (version, { urgent, user }) => {
      log.push(`+${version.step}${urgent ? '!' : ''}`)
      return new Promise((resolve, reject) => { user[version.step] = reject })
    },
    release: (version, user, { abort = false } = {}) => {
      log.push(`-${version.step}${abort ? '!' : ''}`)
      user[version.step](new DOMException('', 'AbortError'))
    }
  }
  const preloader = new Preloader(/** @type {any} */ (images), times => /** @type {any} */ (
    times.map(time => ({ step: +time.slice(9, 10), bytes: 10 }))
  ), { preload: 2, preloadSize: 1000, ...options })
  return { log, preloader }
}

describe('a preloader', () => {
  it('loads the nearest steps first, beginning in the direction of the clock, without urgency', () => {
    const { log, preloader } = stand()
    preloader.run(CHANGES, T(3))
    assert.deepEqual(log, ['+4', '+2', '+5', '+1'])
    log.length = 0
    preloader.forward = false
    preloader.run(CHANGES, T(3))
    assert.deepEqual(log, ['-4', '-2', '-5', '-1', '+2', '+4', '+1', '+5'])
  })

  it('loads at most preloadSize bytes', () => {
    const { log, preloader } = stand({ preloadSize: 25 })
    preloader.run(CHANGES, T(3))
    assert.deepEqual(log, ['+4', '+2'])
  })

  it('releases each of its images once on drop', () => {
    const { log, preloader } = stand({ preload: 1 })
    preloader.run(CHANGES, null)
    preloader.drop()
    preloader.drop()
    assert.deepEqual(log, ['+4', '-4'])
  })

  it('keeps explicitly requested images on drop, until their signal aborts', async () => {
    const { log, preloader } = stand()
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
