// Helpers for tests of the doctor: a store, and a proxy in front of it. The proxy changes answers to imitate states
// that take years to arise.
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
 * Creates a published store: a small layer with a past.
 * @param {string} url
 * @param {Record<string, any>} [fields] of the layer
 */
export async function fill (url, fields = {}) {
  const store = await Store.create(url, { public: false })
  await store.defineLayer('osm', { name: 'OSM', format: 'png', ...fields })
  for (const [index, time] of [T1, T2].entries()) {
    await store.write(square({ layer: 'osm', time, side: 3, seed: (x, y) => 100 * index + 10 * x + y }))
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
  const context = {}
  before(async function () {
    this.timeout(30000)
    Object.assign(context, await open.call(this))
    context.store = await fill(context.url)
    context.proxy = await startProxy(context.url)
  })
  after(async () => {
    await context.proxy?.close()
    await (context.close ? context.close() : context.store?.destroy())
  })
  afterEach(() => { if (context.proxy) context.proxy.change = () => undefined })
  return context
}

/** The finding of a check; if there are several, the first one in the report is the worst. */
export const finding =
  (report, area, check = area) => report.findings.find(entry => entry.area === area && entry.check === check)

let docs

/** Runs the doctor. The design documents are composed once. */
export async function look (url, options) {
  docs ??= await ownDesigns()
  return doctor(url, { docs, ...options })
}

/**
 * A proxy in front of a server. It sends the result of `change` for a path instead of the answer; for "hang", nothing.
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
    const request = http.request({ host, port, path: req.url, method: req.method, headers })
    request.on('error', () => res.destroy())
    request.end(Buffer.concat(chunks))
    proxy.sent.push(parse(Buffer.concat(chunks)))
    const [response] = await once(request, 'response')
    const parts = []
    for await (const part of response) parts.push(part)
    const answer = { status: response.statusCode ?? 0, headers: { ...response.headers }, body: Buffer.concat(parts) }
    const path = decodeURIComponent(String(req.url))
    proxy.names.push(req.headers.authorization)
    proxy.asked.push(`${req.method} ${path}`)
    const replacement = proxy.change(path, parse(answer.body), answer)
    if (replacement === 'hang') return
    if (replacement !== undefined) {
      answer.body = Buffer.from(typeof replacement === 'string' ? replacement : JSON.stringify(replacement))
    }
    delete answer.headers['transfer-encoding']
    res.sendDate = false
    res.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length })
    res.end(req.method === 'HEAD' ? undefined : answer.body)
  })
  const proxyUrl = new URL(url)
  proxyUrl.port = String(ownPort)
  proxy.url = proxyUrl.href.replace(/\/$/, '')
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
