// Starts edges in the process of the tests, each with its own folder or CouchDB.
import { until } from '../../bench/wait.js'
import { Store, publish } from '../../loader/index.js'
import { mirrorOptions } from '../../server/edge/options.js'
import { resolveOptions } from '../../server/gateway/config.js'
import { serve } from '../../server/serve.js'
import { square } from './tiles.js'

export const [T1, T2, T3] = ['2022-01-01T00:00:00Z', '2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/**
 * Creates a published store with squares of tiles at zoom 5: `osm` with a past, and other layers without one.
 * @param {string} url @param {{side?: number, layers?: string[]}} [options]
 */
export async function createOrigin (url, { side = 4, layers = ['osm', 'sea'] } = {}) {
  const store = await Store.create(url, { public: false })
  for (const [index, layer] of layers.entries()) {
    await store.defineLayer(layer, { name: layer.toUpperCase(), format: 'png' })
    await store.write(square({ layer, time: T1, side, seed: (x, y) => 100 * index + 10 * x + y }))
    await store.putEdition(layer, T1, { title: 'First' })
  }
  await store.write(
    square({ layer: 'osm', time: T2, side, seed: (x, y) => (x + y) % 2 ? 1000 + 10 * x + y : undefined })
  )
  await publish(store)
  return store
}

/** Options of every edge. */
const QUICK = { port: 0, opsPort: 0, grace: 1, logLevel: 'silent', viewer: false }

/** Starts edges, and closes all of them after each test. */
export function useEdges () {
  const open = new Set()
  afterEach(async () => {
    for (const close of [...open].reverse()) await close()
    open.clear()
  })
  return {
    /**
     * @param {string} from @param {Record<string, any>} flags of mirrorOptions
     */
    async start (from, flags) {
      const stateChanges = []
      const options = resolveOptions({ table: mirrorOptions, flags: { from, ...QUICK, ...flags } })
      const edge = await serve(options, { onStateChange: change => stateChanges.push(change) })
      const close = () => (open.delete(close), edge.close())
      open.add(close)
      return new TestEdge(edge, stateChanges, close)
    },
    /** @param {() => Promise<any>} close closes a resource that an edge uses */
    with: close => open.add(close)
  }
}

export class TestEdge {
  /**
   * @param {import('../../server/serve.js').Edge} edge
   * @param {import('../../server/edge/mirror-supervisor.js').StateChange[]} stateChanges
   * @param {() => Promise<void>} close
   */
  constructor (edge, stateChanges, close) {
    this.running = edge
    this.turns = stateChanges
    this.close = close
  }

  get url () {
    return this.running.url
  }

  get report () {
    return this.running.mirror()
  }

  /** @param {string} address path below the address of the gateway */
  async get (address) {
    // an edge that closes waits for kept-alive connections that were used a moment ago
    const headers = { connection: 'close' }
    const answer = await fetch(address === 'health' ? this.running.health : this.url + address, { headers })
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
  }

  async json (address) {
    const { body } = await this.get(address)
    return JSON.parse(body.toString())
  }

  async metrics () {
    return (await fetch(this.running.metrics)).text()
  }

  /** @param {string} [state] @param {number} [timeout] */
  until (state = 'following', timeout = 30000) {
    return until(() => this.report.state === state,
      { timeout, what: `the mirror to be ${state}: it is ${JSON.stringify(this.report)}` })
  }
}
