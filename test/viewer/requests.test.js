// What the pages say of requests whose answers are late, broken or refused, without a browser.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { AnswerError, ask } from '../../attachments/requests.js'

const HALF = '{"rows": ['

/** What the server does with a request, by its path. @type {Record<string, (response: any) => void>} */
const answers = {
  '/broken': response => response.write(HALF, () => response.destroy()),
  '/slow': response => response.write(HALF),
  '/refused': response => {
    response.statusCode = 500
    response.write(HALF, () => response.destroy())
  },
  '/text': response => response.end('It works!')
}

describe('requests of the pages', () => {
  const server = createServer(({ url }, response) => answers[String(url)](response))
  let address

  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    address = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`
    Object.assign(globalThis, { document: { baseURI: address } })
  })
  after(() => {
    Reflect.deleteProperty(globalThis, 'document')
    server.closeAllConnections()
    server.close()
  })

  /** @param {string} path @param {import('../../attachments/requests.js').Options} [options] @returns {Promise<any>} */
  const failure = (path, options) =>
    ask(`${address}${path}`, options).then(() => assert.fail('there was an answer'), error => error)

  it('say that the connection broke while an answer was read', async () => {
    const error = await failure('/broken')
    assert.ok(error instanceof AnswerError)
    assert.deepEqual([error.message, error.status],
      ['The connection broke off before the whole answer was there.', undefined])
  })

  it('say that an answer is late while it is read', async () => {
    const { message, status } = await failure('/slow', { timeout: 500 })
    assert.deepEqual([message, status], ['No answer within 0.5 seconds.', undefined])
  })

  it('end with an AbortError when the page stops them', async () => {
    const stopping = new AbortController()
    const { name } = await failure('/slow', {
      signal: stopping.signal, onAnswer: () => { setTimeout(() => stopping.abort(), 50) }
    })
    assert.equal(name, 'AbortError')
  })

  it('keep the status of an answer that is no JSON, and of a refusal that broke', async () => {
    const text = await failure('/text')
    assert.deepEqual([text.message, text.status], ['The server answered 200 OK.', 200])
    assert.equal((await failure('/refused')).status, 500)
  })
})
