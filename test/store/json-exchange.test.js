// JSON requests through nano: bad answers become errors of tilecouch, and never end the process.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { inspect, promisify } from 'node:util'
import { until } from '../../bench/wait.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { startServer } from '../support/server.js'

const JSON_TYPE = { 'content-type': 'application/json' }
const [couchFile, exchangeFile] =
  ['couch.js', 'exchange.js'].map(name => new URL(`../../loader/store/${name}`, import.meta.url).href)
/** Runs a program in a process of its own and returns its output. */
const runProgram = async program =>
  (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])).stdout

/** Sends an answer that breaks off. @param {string} type its content type */
const cut = type => (req, res) => {
  res.writeHead(200, { 'content-type': type, 'content-length': 100 })
  res.write('{"doc_count":', () => res.destroy())
}

describe('JSON requests, which nano sends', () => {
  let server
  let answer
  let requests
  let url

  before(async () => {
    server = await startServer((req, res) => {
      requests.push(req)
      answer(req, res)
    })
    url = `http://me:secret@127.0.0.1:${server.port}/db`
  })
  beforeEach(() => { requests = [] })
  after(() => server.close())

  const couchWith = options => new Couch(url, { firstDelay: 1, longestDelay: 1, retries: 2, ...options })

  for (const type of ['application/json', 'text/plain', 'image/png']) {
    it(`are repeated after an answer of ${type} that breaks off, and the process lives on`, async () => {
      answer = cut(type)
      const program = `
        const { Couch } = await import('${couchFile}')
        const couch = new Couch('${url}', { firstDelay: 1, retries: 2 })
        const { code } = await couch.info().catch(error => error)
        await new Promise(resolve => setImmediate(resolve))
        console.log(code)
      `
      assert.deepEqual([await runProgram(program), requests.length], ['UNREACHABLE\n', 3])
    })
  }

  it('are repeated after JSON that is cut off, and then fail with BAD_ANSWER', async () => {
    answer = (req, res) => res.writeHead(200, JSON_TYPE).end('{"doc_count":')
    await assert.rejects(couchWith().info(), { code: 'BAD_ANSWER' })
    assert.equal(requests.length, 3)
  })

  it('accept JSON with another content type, as proxies send it', async () => {
    answer = (req, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end('{"doc_count":1}')
    assert.deepEqual(await couchWith().info(), { doc_count: 1 })
  })

  it('are sent by undici instead when they read one tile', async () => {
    const rows = ['osm:1:0:0', 'limits:osm'].map(key => ({ key, error: 'not_found' }))
    answer = (req, res) => res.writeHead(200, JSON_TYPE).end(JSON.stringify({ results: [{ rows }, { rows: [] }] }))
    const store = new Store(couchWith())
    await store.couch.ranges([{ keys: rows.map(({ key }) => key) }])
    await assert.rejects(store.at('osm', 1, 0, 0, '2024'), { code: 'TILE_NOT_FOUND' })
    const agents = requests.map(({ headers }) => headers['user-agent'])
    assert.deepEqual([agents.length, /^nano/.test(agents[0]), agents[1]], [2, true, undefined])
  })

  it('have more time for a large body, in whatever form it is given', async () => {
    answer = () => {}
    const couch = couchWith({ retries: 0, silence: 20 })
    const large = { text: 'x'.repeat(149) } // 160 bytes of JSON
    for (const body of [large, JSON.stringify(large)]) {
      await assert.rejects(couch.request({ method: 'POST', path: '_bulk_docs', body }),
        { code: 'UNREACHABLE', message: /no answer within 0\.03 s/ })
    }
  })

  it('follow no redirects', async () => {
    answer = (req, res) => res.writeHead(302, { location: '/elsewhere' }).end()
    await assert.rejects(couchWith({ retries: 0 }).info(),
      { code: 'BAD_ANSWER', message: /redirects are not followed/ })
  })

  it('fail with errors that contain neither the password nor the document', async () => {
    const failures = [
      (req, res) => res.writeHead(409, JSON_TYPE).end('{"error":"conflict","reason":"Document update conflict."}'),
      (req, res) => res.writeHead(500, JSON_TYPE).end('{"error":"x"}'),
      cut('application/json')
    ]
    for (const failure of failures) {
      answer = failure
      const error = await couchWith().put({ _id: 'a', text: 'private words' }).catch(caught => caught)
      const basic = Buffer.from('me:secret').toString('base64')
      assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), new RegExp(`secret|${basic}|private words`))
    }
  })

  it('close the connection when they are aborted, before or during the answer', async () => {
    for (const begin of [() => {}, res => res.writeHead(200, JSON_TYPE).write('{')]) {
      const stop = new AbortController()
      let isClosed = false
      answer = (req, res) => {
        res.on('close', () => { isClosed = true })
        begin(res)
        stop.abort()
      }
      await assert.rejects(couchWith().info(stop.signal), { code: 'ABORTED' })
      await until(() => isClosed, { what: 'the connection to be closed' })
    }
  })

  it('fail with ANSWER_TOO_LARGE above the limit of bytes', async () => {
    answer = (req, res) => res.writeHead(200, JSON_TYPE).end(JSON.stringify({ text: 'x'.repeat(100000) }))
    await assert.rejects(couchWith({ most: 1000 }).info(), { code: 'ANSWER_TOO_LARGE' })
  })

  it('encode ids and queries in the URL', async () => {
    answer = (req, res) => res.writeHead(200, JSON_TYPE).end('{"rows":[]}')
    await couchWith().page({ startkey: 'osm:1:ä/b', endkey: 'osm:1:~', limit: 3 })
    await couchWith().get('layer:osm/ä %')
    const [page, doc] = requests.map(req => req.url)
    assert.deepEqual(Object.fromEntries(new URL(page, 'http://x').searchParams),
      { startkey: '"osm:1:ä/b"', endkey: '"osm:1:~"', limit: '3' })
    assert.equal(doc, '/db/layer:osm%2F%C3%A4%20%25')
    assert.equal(requests[0].headers.authorization, `Basic ${Buffer.from('me:secret').toString('base64')}`)
  })

  // the fetch of Node creates the global dispatcher of its own undici, which is older than the package
  it('of the package are answered after Node’s own fetch was called in the same process', async () => {
    answer = (req, res) => res.end('{"answer":1}')
    const program = `
      await (await fetch('http://127.0.0.1:${server.port}')).text()
      const { exchange } = await import('${exchangeFile}')
      const { bytes } = await exchange({ method: 'GET', url: new URL('${url}'), headers: {}, onPiece: () => {} })
      console.log(String(bytes))
    `
    assert.equal(await runProgram(program), '{"answer":1}\n')
  })
})
