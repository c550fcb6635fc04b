// Helpers for tests of the doctor: a store, and a proxy in front of it. The proxy changes answers to imitate states
// that take years to arise.
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { publish } from '../../loader/couchapp/publish.js'
import { Store } from '../../loader/store/index.js'
import { doctor } from '../../loader/check/doctor/index.js'
import { square } from './tiles.js'
import { startRelay } from './relay.js'

export const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/**
 * Creates a published store: a small layer with a past.
 * @param {string} url
 * @param {Record<string, any>} [fields] of the layer
 */
export async function createSmallStore (url, fields = {}) {
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
    context.store = await createSmallStore(context.url)
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
export async function startProxy (target) {
  const proxy = { asked: [], sent: [], change: () => undefined }
  return Object.assign(proxy, await startRelay(target, {
    onRequest: ({ body }) => { proxy.sent.push(parse(body)) },
    onAnswer (answer, { url, method }) {
      const path = decodeURIComponent(url)
      proxy.asked.push(`${method} ${path}`)
      const replacement = proxy.change(path, parse(answer.body), answer)
      if (replacement === 'hang') return 'hang'
      if (replacement === undefined) return
      answer.body = typeof replacement === 'string' ? replacement : JSON.stringify(replacement)
    }
  }))
}

function parse (body) {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
