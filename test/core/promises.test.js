// raceAbort, which ends the wait for a promise, and Semaphore, which limits concurrent tasks.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { Semaphore, raceAbort } from '../../core/promises.js'

describe('raceAbort', () => {
  it('settles as the promise does, and leaves no listener', async () => {
    const { signal } = new AbortController()
    assert.equal(await raceAbort(Promise.resolve(7), signal), 7)
    assert.equal(await raceAbort(Promise.resolve(7)), 7)
    await assert.rejects(raceAbort(Promise.reject(new Error('no')), signal), /no/)
    assert.equal(getEventListeners(signal, 'abort').length, 0, 'no listener is left behind')
  })

  it('rejects with the signal, also one that was aborted before', async () => {
    const stop = new AbortController()
    const race = raceAbort(new Promise(() => {}), stop.signal)
    stop.abort()
    await assert.rejects(race, { name: 'AbortError' })
    await assert.rejects(raceAbort(new Promise(() => {}), stop.signal), { name: 'AbortError' })
  })

  it('hides a later rejection of the promise', async () => {
    const stop = new AbortController()
    let fail
    const race = raceAbort(new Promise((resolve, reject) => { fail = reject }), stop.signal)
    stop.abort()
    await assert.rejects(race, { name: 'AbortError' })
    fail(new Error('nobody listens')) // an unhandled rejection would end the test run
    await new Promise(resolve => setImmediate(resolve))
  })
})

describe('a semaphore', () => {
  it('never lets more tasks run than it has slots, and keeps their order', async () => {
    const slots = new Semaphore(2)
    const startedTasks = []
    let runningCount = 0
    await Promise.all([0, 1, 2, 3, 4].map(async index => {
      const release = await slots.acquire()
      startedTasks.push(index)
      assert.ok(++runningCount <= 2)
      await new Promise(resolve => { setImmediate(resolve) })
      runningCount--
      release()
    }))
    assert.deepEqual(startedTasks, [0, 1, 2, 3, 4])
  })
})
