// A store for the doctor, and a proxy before it that changes what its server answers: states that would take years.
import http from 'node:http'
import { once } from 'node:events'
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { publish } from '../../loader/couchapp/publish.js'
import { Store } from '../../loader/store/index.js'
import { doctor } from '../../loader/check/doctor/index.js'
import { square } from './tiles.js'
import { startServer } from './server.js'

export const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/**
 * A published store: a small layer with a past.
 * @param {string} url
 * @param {Record<string, any>} [fields] of the layer
 */
export async function fill (url, fields = {}) {
  const store = await Store.create(url, { public: false })
  await store.defineLayer('osm', { name: 'OSM', format: 'png', ...fields })
  for (const [at, time] of [T1, T2].entries()) {
    await store.write(square({ layer: 'osm', time, side: 3, seed: (x, y) => 100 * at + 10 * x + y }))
    await store.putEdition('osm', time, { title: time, started: time, finished: time })
  }
  await publish(store, { docs: docs ??= await ownDesigns() })
  return store
}

/**
 * A filled store for a suite, with a proxy before it. Each test begins with a proxy that changes nothing.
 * @param {() => Promise<{url: string, close?: () => Promise<any>}>} open url of a database
 * @returns {{url: string, store: Store, proxy: Awaited<ReturnType<typeof startProxy>>, [more: string]: any}}
 */
export function useFilled (open) {
  const own = {}
  before(async function () {
    this.timeout(30000)
    Object.assign(own, await open.call(this))
    own.store = await fill(own.url)
    own.proxy = await startProxy(own.url)
  })
  after(async () => {
    await own.proxy?.close()
    await (own.close ? own.close() : own.store?.destroy())
  })
  afterEach(() => { if (own.proxy) own.proxy.change = () => undefined })
  return own
}

/** What was found of one check, of several the worst. */
export const finding =
  (report, area, check = area) => report.findings.find(one => one.area === area && one.check === check)

let docs

/** The report of the doctor; the design documents are composed once. */
export async function look (url, options) {
  docs ??= await ownDesigns()
  return doctor(url, { docs, ...options })
}

/**
 * A proxy before a server. It sends what `change` returns for a path instead of the answer; "hang": it sends nothing.
 */
export async function startProxy (url) {
  const target = new URL(url)
  const proxy = {
    url: '', asked: [], names: [], sent: [],
    change: () => undefined,
    close: async () => {}
  }
  const { port: ownPort, close } = await startServer(async (req, res) => {
    const chunks = []
    for await (const chunk of req) chunks.push(chunk)
    const { hostname: host, port } = target
    const headers = { ...req.headers, host: target.host }
    const asked = http.request({ host, port, path: req.url, method: req.method, headers })
    asked.on('error', () => res.destroy())
    asked.end(Buffer.concat(chunks))
    proxy.sent.push(parse(Buffer.concat(chunks)))
    const [came] = await once(asked, 'response')
    const parts = []
    for await (const part of came) parts.push(part)
    const answer = { status: came.statusCode ?? 0, headers: { ...came.headers }, body: Buffer.concat(parts) }
    const path = decodeURIComponent(String(req.url))
    proxy.names.push(req.headers.authorization)
    proxy.asked.push(`${req.method} ${path}`)
    const changed = proxy.change(path, parse(answer.body), answer)
    if (changed === 'hang') return
    if (changed !== undefined) {
      answer.body = Buffer.from(typeof changed === 'string' ? changed : JSON.stringify(changed))
    }
    delete answer.headers['transfer-encoding']
    res.sendDate = false
    res.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length })
    res.end(req.method === 'HEAD' ? undefined : answer.body)
  })
  const own = new URL(url)
  own.port = String(ownPort)
  proxy.url = own.href.replace(/\/$/, '')
  proxy.close = close
  return proxy
}

function parse (body) {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
