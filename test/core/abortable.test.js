import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { raceAbort } from '../../core/promises.js'

describe('what is waited for under a signal', () => {
  it('is what it becomes', async () => {
    const { signal } = new AbortController()
    assert.equal(await raceAbort(Promise.resolve(7), signal), 7)
    assert.equal(await raceAbort(Promise.resolve(7)), 7)
    await assert.rejects(raceAbort(Promise.reject(new Error('no')), signal), /no/)
    assert.equal(getEventListeners(signal, 'abort').length, 0, 'no listener is left behind')
  })

  it('ends with the signal although it goes on itself, or began too late', async () => {
    const stop = new AbortController()
    const waiting = raceAbort(new Promise(() => {}), stop.signal)
    stop.abort()
    await assert.rejects(waiting, { name: 'AbortError' })
    await assert.rejects(raceAbort(new Promise(() => {}), stop.signal), { name: 'AbortError' })
  })

  it('says nothing more when it fails later', async () => {
    const stop = new AbortController()
    let fail
    const waiting = raceAbort(new Promise((resolve, reject) => { fail = reject }), stop.signal)
    stop.abort()
    await assert.rejects(waiting, { name: 'AbortError' })
    fail(new Error('nobody listens')) // an unhandled rejection would end the test run
    await new Promise(resolve => setImmediate(resolve))
  })
})
