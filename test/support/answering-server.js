// What the tests of loader/ share: temporary folders, a server that answers as it is told, streams that remember.
import { startServer } from './server.js'

export { random as seeded } from '../../bench/tiles.js'
export { memory } from './cli.js'
export { useFolder } from './folder.js'

/**
 * @param {import('../../loader/load/sources/index.js').Source} source
 * @returns {Promise<string[]>} z/x/y of its tiles, in its order
 */
export async function tilesOf (source) {
  const found = []
  for await (const { z, x, y } of source.tiles()) found.push(`${z}/${x}/${y}`)
  return found
}

/**
 * A server for each test that gives its answers one after the other, the last again and again. An answer is a function
 * of request and response, or [status, body].
 */
export function useServer () {
  const fake = { url: '', requests: [], answers: [] }
  let server
  beforeEach(async () => {
    fake.requests = []
    fake.answers = []
    server = await startServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      fake.requests.push(
        { method: request.method, url: request.url, authorization: request.headers.authorization, body }
      )
      const answer = fake.answers.length > 1 ? fake.answers.shift() : fake.answers[0]
      if (typeof answer === 'function') return answer(request, response)
      const [status, content] = answer
      response.writeHead(status, { 'content-type': 'application/json' })
        .end(typeof content === 'string' ? content : JSON.stringify(content))
    })
    fake.url = `http://admin:s3cret@127.0.0.1:${server.port}/tiles`
  })
  afterEach(() => server.close())
  return fake
}
