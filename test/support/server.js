// HTTP servers for tests, on free ports of this machine.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * @param {import('node:http').RequestListener} handler
 * @returns the server; `close` also ends all connections, `restart` starts it again at the same address
 */
export async function startServer (handler) {
  const server = createServer(handler)
  const listen = port => new Promise(resolve => { server.listen(port, '127.0.0.1', () => resolve(undefined)) })
  await listen(0)
  const { port } = server.address()
  const close = () => new Promise(resolve => {
    server.close(() => resolve(undefined))
    server.closeAllConnections()
  })
  return { server, port, url: `http://127.0.0.1:${port}`, close, restart: () => listen(port) }
}

/**
 * Serves files from memory by their names; the empty name is the page itself.
 * @param {Record<string, [string, string]>} files content type and text
 * @returns {Promise<{url: string, close: () => Promise<any>}>} url: with a slash at its end
 */
export async function servePages (files) {
  const { url: origin, close } = await startServer(({ url = '' }, response) => {
    const [type, content] = files[new URL(url, 'http://x').pathname.slice(1)] ?? []
    response.writeHead(type ? 200 : 404, { 'content-type': `${type}; charset=utf-8` }).end(content)
  })
  return { url: `${origin}/`, close }
}

/**
 * A server for each test. It gives its answers one after the other and repeats the last one. An answer is a function of
 * request and response, or [status, body].
 */
export function useServer () {
  const fake = { url: '', requests: [], answers: [] }
  let server
  beforeEach(async () => {
    fake.requests = []
    fake.answers = []
    server = await startServer(async (request, response) => {
      const { method, url, headers: { authorization } } = request
      fake.requests.push({ method, url, authorization, body: await text(request) })
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
