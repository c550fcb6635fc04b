import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { freePort, until } from '../../bench/wait.js'
import { isRunning } from '../../loader/formats/system.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { serve } from '../support/command.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { fill, useEdges } from '../support/edges.js'
import { startServer } from '../support/server.js'

const SLOW = 60000 // milliseconds: each test starts processes

const running = []
const start = (args, options) => {
  const edge = serve(args, options)
  running.push(edge)
  return edge
}

onEachStore('tilecouch serve --from', backend => {
  const folder = useFolder()
  let from, origin
  before(async () => {
    from = await backend.database()
    origin = await fill(from, { layers: ['osm'] })
  })
  afterEach(() => Promise.all(running.splice(0).map(edge => edge.stop())))

  it('prints working URLs, the mirrored part, store and origin, and no password', async () => {
    const edge = start(['--from', from, '--data', path.join(folder.dir, 'edge'), '--zoom', '0-7', '--layer', 'osm'])
    const text = await edge.ready()
    for (const line of [/^ {2}Tiles +\S+\/osm\/\{z\}\/\{x\}\/\{y\}\.png$/m,
      /^ {2}Mirrored +osm; zoom 0-7$/m, /^ {2}Store +\S+, embedded, data in /m]) assert.match(text, line)
    assert.ok(text.includes(`  Origin    ${origin.url}\n`))
    const [template] = /\S+\{z\}\S+/.exec(text) ?? []
    await until(async () => (await fetch(String(template).replace('{z}/{x}/{y}', '5/0/0'))).status === 200,
      { what: 'a tile' })
    await until(() => edge.log().some(({ msg }) => msg === 'the mirror is up to date'),
      { what: 'a word of it in the log' })
    assert.equal(await edge.stop('SIGINT'), 0)
    for (const said of [edge.said.out, edge.said.err]) assert.doesNotMatch(said, /:test@|"test"/)
  }).timeout(SLOW)

  it('prints JSON lines with --json, and leaves no process or lock on Ctrl-C', async () => {
    const data = path.join(folder.dir, 'edge')
    const edge = start(['--from', from, '--data', data, '--workers', '2', '--json'], { group: true })
    const up = await edge.ready()
    assert.deepEqual([up.event, up.workers, up.embedded, up.from], ['up', 2, true, origin.url])
    const events = () => edge.said.out.split('\n').filter(Boolean).map(line => JSON.parse(line))
    const following = await until(() => events().find(({ event }) => event === 'following'),
      { timeout: 20000, what: 'to be up to date' })
    assert.deepEqual([following.mirror.state, following.mirror.lag < 60], ['following', true])
    const workers = edge.log().filter(({ worker }) => worker).map(({ pid }) => pid)
    assert.equal(new Set(workers).size, 2)
    process.kill(-Number(edge.child.pid), 'SIGINT') // as a terminal does: all of the group
    assert.equal(await edge.ended, 0)
    assert.deepEqual(workers.filter(isRunning), [])
    const store = await startEmbedded({ dir: data }) // its lock is free
    await store.close()
  }).timeout(SLOW)
})

describe('tilecouch serve --from a wrong origin', () => {
  const folder = useFolder()
  const edges = useEdges()

  /** @param {(req: any, res: any) => void} answer */
  const listen = async answer => {
    const { url, close } = await startServer(answer)
    edges.with(close)
    return `${url}/tiles`
  }
  const open = (from, flags) => edges.start(from, { data: path.join(folder.dir, 'edge'), ...flags })

  it('reports bad options, and does not start', async () => {
    await assert.rejects(open(null, { layer: 'osm' }), { code: 'BAD_OPTION' })
    for (const from of ['file:///etc/passwd', 'http://', 'http://user:secret1@h:0x/../', '../../etc/passwd']) {
      await assert.rejects(open(from), error => error.code === 'BAD_DATABASE' && !error.message.includes('secret1'),
        from)
    }
    const wrong = { BAD_LAYER: { layer: '../osm' }, SOURCE_NOT_FOUND: {
      polygon: 'berlin'
    }, BAD_BBOX: { bbox: '1,2' }, BAD_TIME: { since: 'yesterday' }, BAD_ZOOM: { zoom: '9-3' } }
    for (const [code, flags] of Object.entries(wrong)) {
      await assert.rejects(open('http://127.0.0.1:1/tiles', flags), { code })
    }
    assert.deepEqual(readdirSync(folder.dir).filter(name => name !== 'edge'), [])
  })

  it('distinguishes a web page from a store', async () => {
    const pages = await listen((req, res) => res.setHeader('content-type', 'text/html').end('<html>Welcome</html>'))
    const others =
      await listen((req, res) => res.setHeader('content-type', 'application/json').end('{"hello": "world"}'))
    for (const from of [pages, others]) await assert.rejects(open(from), { code: 'BAD_ANSWER' }, from)
    const nothing = await listen((req, res) => res.writeHead(404, { 'content-type': 'application/json' })
      .end('{"error": "not_found", "reason": "Database does not exist."}'))
    await assert.rejects(open(nothing), { code: 'SOURCE_NOT_FOUND' })
  })

  it('waits for an origin that is down or does not answer, and serves meanwhile', async () => {
    for (const from of [`http://127.0.0.1:${await freePort()}/tiles`, await listen(() => {})]) {
      const edge = await open(from)
      assert.equal(edge.report.lag, null)
      assert.equal((await edge.get('osm/0/0/0.png')).status, 503)
      await edge.close()
    }
  }).timeout(SLOW)
})
