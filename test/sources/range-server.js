// A web server with one file, for tests of range requests: it does them right unless it is told otherwise.
import { startServer } from '../support/server.js'

/**
 * A server for each test. `answer`, when it is set, may take a request over: it answers true then.
 */
export function useRangeServer () {
  const served = {
    url: '',
    /** @type {Buffer} */
    file: Buffer.alloc(0),
    /** @type {string | undefined} */
    etag: '"1"',
    /** @type {{from?: number, to?: number, headers: Record<string, any>, url: string}[]} */
    requests: [],
    /**
     * @type {((request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse, range:
     *   {from: number, to: number}) => boolean | void) | undefined}
     */
    answer: undefined
  }
  let server
  beforeEach(async () => {
    Object.assign(served, { file: Buffer.alloc(0), etag: '"1"', requests: [], answer: undefined })
    server = await startServer((request, response) => {
      const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const range = { from: +from, to: +last + 1 }
      served.requests.push({ ...range, headers: request.headers, url: request.url })
      if (served.answer?.(request, response, range)) return
      send(response, range)
    })
    served.url = `${server.url}/maps/city.pmtiles`
  })
  afterEach(() => server.close())

  /** The answer that is right. */
  function send (response, { from, to }, headers = {}) {
    const { file, etag } = served
    const match = response.req.headers['if-match']
    if (match && match !== etag) return response.writeHead(412).end()
    if (from >= file.length) return response.writeHead(416, { 'content-range': `bytes */${file.length}` }).end()
    const end = Math.min(to, file.length)
    response.writeHead(206,
      {
        ...(etag && { etag }), 'content-range': `bytes ${from}-${end - 1}/${file.length}`,
        'content-length': end - from, ...headers
      })
    response.end(file.subarray(from, end))
  }
  return Object.assign(served, { send })
}
