// Whether the store answers, as its requests report it.
import assert from 'node:assert/strict'
import { Connection } from '../../client/offline/connection.js'
import { TilecouchError } from '../../core/index.js'

describe('the connection to a store', () => {
  it('stays online when its own older request fails after another was answered', async () => {
    const changes = []
    let fail
    const request = () => new Promise(
      (resolve, reject) => { fail = () => reject(new TilecouchError('UNREACHABLE', { url: 'x', why: 'refused' })) }
    )
    const connection = new Connection(/** @type {any} */ ({ request }), isOnline => changes.push(isOnline))
    connection.report(false) // begins to ask
    connection.report(true) // the answer to another request
    fail()
    await new Promise(setImmediate)
    connection.close()
    assert.deepEqual(changes, [false, true])
  })

  it('stays online when a request fails that began before the last answer', async () => {
    const changes = []
    const request = () => new Promise(() => {}) // its own questions are not answered
    const connection = new Connection(/** @type {any} */ ({ request }), isOnline => changes.push(isOnline))
    const unreachable = new TilecouchError('UNREACHABLE', { url: 'x', why: 'refused' })
    let fail
    const late = connection.watch(() => new Promise((resolve, reject) => { fail = () => reject(unreachable) }))
    await connection.watch(async () => 'an answer')
    fail()
    await assert.rejects(late, { code: 'UNREACHABLE' })
    assert.deepEqual(changes, [true])
    await assert.rejects(connection.watch(async () => { throw unreachable }), { code: 'UNREACHABLE' })
    connection.close()
    assert.deepEqual(changes, [true, false])
  })
})
