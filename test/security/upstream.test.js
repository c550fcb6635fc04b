// Tests that an anonymous user learns nothing about the network of a gateway, whichever address a writer sets as the
// upstream of a layer.
import assert from 'node:assert/strict'
import net from 'node:net'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { startServer } from '../support/server.js'
import { LOOPBACK, startUpstream } from '../support/upstream-server.js'
import { createLog } from '../../server/gateway/log.js'
import { openGateway, openStore } from '../support/gateway/stand.js'
import { ask, closeConnections } from '../support/gateway/wire.js'

const SECRET = 'the-secret-of-an-inner-service'

onEachStore('an anonymous user who requests tiles of an upstream', backend => {
  let store, url, server, gateway, inner, raw
  const lines = []
  const log = createLog({ destination: { write: line => lines.push(line) } })

  before(async function () {
    this.timeout(60000)
    server = await startUpstream({ tileSize: 64 })
    inner = await startServer((req, res) => {
      const kind = req.url?.split('/')[1] ?? ''
      if (kind === 'redirect') return res.writeHead(302, { location: '/text' }).end()
      if (kind === 'elsewhere') return res.writeHead(302, { location: 'gopher://inner/' }).end()
      if (/^\d+$/.test(kind)) return res.writeHead(+kind, { 'retry-after': '77', 'x-inner': SECRET }).end(SECRET)
      if (kind === 'wms') return res.end(`<ServiceException code="${SECRET}">${SECRET}</ServiceException>`)
      if (kind === 'cut') return res.writeHead(200, { 'content-length': 100 }).write(SECRET, () => res.destroy())
      res.writeHead(200, { 'content-type': `text/${SECRET}` }).end(SECRET)
    })
    raw = net.createServer(socket => socket.on('error', () => {}).end(`220 ${SECRET}\r\n`))
    await new Promise(resolve => { raw.listen(0, '127.0.0.1', resolve) })
    const [{ port }, { port: rawPort }] = [inner, raw.address()]
    const layers = {
      text: `${port}/text`, redirect: `${port}/redirect`, elsewhere: `${port}/elsewhere`,
      refused: `${port}/403`, unknown: `${port}/401`, busy: `${port}/429`, broken: `${port}/500`, odd: `${port}/418`,
      cut: `${port}/cut`, raw: `${rawPort}/raw`, nobody: '1/nobody'
    }
    url = await backend.database()
    store = await openStore(url, async newStore => {
      for (const [layer, where] of Object.entries(layers)) {
        await newStore.defineLayer(layer,
          { upstream: { url: `http://127.0.0.1:${where}/{z}/{x}/{y}`, timeout: 5, negative: 0 } })
      }
      await newStore.defineLayer('wms',
        { upstream: { type: 'wms', url: `http://127.0.0.1:${port}/wms`, layers: 'a', timeout: 5, negative: 0 } })
      await newStore.defineLayer('well', { upstream: { url: `${server.url}/xyz/{z}/{x}/{y}.png` } })
    })
  })
  afterEach(async () => {
    closeConnections()
    await gateway?.close()
  })
  after(async () => {
    await inner?.close()
    raw?.close()
    await server?.close()
    await store?.destroy()
  })

  /** All of an answer except its date. */
  const textOf = ({ status, headers: { date, ...headers }, text }) =>
    JSON.stringify([status, Object.entries(headers).sort(), text])
  const names =
    ['text', 'redirect', 'elsewhere', 'refused', 'unknown', 'busy', 'broken', 'odd', 'cut', 'raw', 'nobody', 'wms']
  const addresses = layer => [`/${layer}/1/0/0.png`, `/tms/1.0.0/${layer}/1/0/0.png`, `/${layer}@9000/1/0/1.png`,
    `/wmts/${layer}/default/GoogleMapsCompatible_Level30/1/1/1.png`,
    `/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=${layer}&STYLE=default&FORMAT=image/png&` +
      'TILEMATRIXSET=GoogleMapsCompatible_Level30&TILEMATRIX=1&TILEROW=0&TILECOL=1']

  for (const [place, options, layers] of [['in an allowed inner network', { upstreamNetworks: LOOPBACK }, names],
    ['in an inner network', {}, [...names, 'well']]]) {
    it(`${place} gets the same 502 for every kind of failure`, async () => {
      lines.length = 0
      gateway = await openGateway(url, { ...options, opsPort: 0 }, { log })
      const answers = new Set()
      for (const layer of layers) {
        // more requests than the failures that open its circuit
        for (const path of [...addresses(layer), ...addresses(layer)]) {
          const answer = await ask(gateway.url, path)
          assert.equal(answer.status, 502, `${path}: ${answer.text}`)
          answers.add(textOf(answer))
        }
      }
      assert.equal(answers.size, 1, [...answers].join('\n'))
      const [answer] = answers
      assert.ok(!answer.includes(SECRET) && !/127\.0|inner/.test(answer), answer)
      const metrics = await ask(gateway.opsUrl, '/metrics')
      assert.match(metrics.text, /tilecouch_upstream_requests_total\{layer="text",outcome="failed"\} [1-9]/)
      for (const page of [metrics, await ask(gateway.opsUrl, '/health'),
        await ask(gateway.url, '/text.json'), await ask(gateway.url, '/wmts?SERVICE=WMTS&REQUEST=GetCapabilities')]) {
        assert.ok(!page.text.includes(SECRET) && !/UPSTREAM_|127\.0\.0\.1:(1|9)\b/.test(page.text),
          page.text.slice(0, 500))
      }
    })
  }

  it('gets no details, but the operator finds them in the log', async () => {
    lines.length = 0
    gateway = await openGateway(url, {}, { log })
    assert.equal((await ask(gateway.url, '/well/1/0/0.png')).status, 502)
    assert.deepEqual(server.requests, [])
    const entry = lines.map(line => JSON.parse(line)).find(({ code }) => code === 'UPSTREAM_ADDRESS')
    assert.match(entry.reason, /leads to 127\.0\.0\.1:\d+/)
    assert.match(entry.advice, /--upstream-networks/)
    await gateway.close()
    gateway = await openGateway(url, { upstreamNetworks: LOOPBACK }, { log })
    assert.equal((await ask(gateway.url, '/well/1/0/0.png')).status, 200)
    assert.equal((await ask(gateway.url, '/text/1/0/0.png')).status, 502)
    await until(() => lines.some(line => line.includes(SECRET)), { what: 'what the upstream said, in the log' })
  })
})
