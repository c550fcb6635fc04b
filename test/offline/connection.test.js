// Whether the store answers, as its requests report it.
import assert from 'node:assert/strict'
import { Connection } from '../../client/offline/connection.js'
import { TilecouchError } from '../../core/index.js'

describe('the connection to a store', () => {
  it('is not lost again by an older request that fails after a newer one was answered', async () => {
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
})
