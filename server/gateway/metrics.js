// What the gateway counts, for Prometheus. A request for a tile in memory takes some ten microseconds, so counting must
// not build objects or hash labels: the numbers are plain fields, and get their names when somebody reads them.
import { Registry, collectDefaultMetrics } from 'prom-client'

/** Upper bounds in seconds: from a tile in memory to an upstream that is given up. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export const KINDS = ['tile', 'tilejson', 'versions', 'times', 'wmts', 'db', 'file', 'health', 'metrics']
export const OUTCOMES = ['hit', 'miss', 'stale', 'upstream', 'revalidated', 'ok', 'missing', 'refused', 'failed', 'aborted']

// A label is a time series for ever: names come from layers that answered, and no more of them than this.
const MOST_LAYERS = 500
const UNKNOWN = 'unknown'

const CIRCUITS = { closed: 0, 'half-open': 1, open: 2 }

/** Every metric there is besides those of the process; docs/gateway.md is made from this table. */
export const metricTable = {
  requests: { name: 'tilecouch_requests_total', type: 'counter', labels: ['layer', 'kind', 'outcome'], help: 'requests answered' },
  seconds: { name: 'tilecouch_request_seconds', type: 'histogram', labels: ['kind', 'outcome'], help: 'from the request to the end of its answer' },
  bytes: { name: 'tilecouch_response_bytes_total', type: 'counter', labels: ['layer', 'kind', 'outcome'], help: 'bytes of the bodies of these answers' },
  cacheBytes: { name: 'tilecouch_cache_bytes', type: 'gauge', labels: [], help: 'memory that tiles take' },
  cacheEntries: { name: 'tilecouch_cache_entries', type: 'gauge', labels: [], help: 'tiles in memory' },
  cacheLimit: { name: 'tilecouch_cache_limit_bytes', type: 'gauge', labels: [], help: 'memory that tiles may take' },
  storeReads: { name: 'tilecouch_store_reads_total', type: 'counter', labels: ['outcome'], help: 'tiles asked of CouchDB' },
  storeBatches: { name: 'tilecouch_store_batches_total', type: 'counter', labels: ['outcome'], help: 'requests to CouchDB that asked for them: concurrent misses share one' },
  storeSeconds: { name: 'tilecouch_store_seconds', type: 'histogram', labels: ['outcome'], help: 'how long these requests took' },
  followerUp: { name: 'tilecouch_follower_up', type: 'gauge', labels: [], aggregator: 'min', help: '1 while changes of the store are heard, 0 while what is in memory may be old' },
  followerLag: { name: 'tilecouch_follower_lag_seconds', type: 'gauge', labels: [], aggregator: 'max', help: 'since the store was last heard of' },
  upstreamRequests: { name: 'tilecouch_upstream_requests_total', type: 'counter', labels: ['layer', 'outcome'], help: 'requests to upstreams: tiles, unchanged, missing, or failed; the log says why' },
  upstreamSeconds: { name: 'tilecouch_upstream_seconds', type: 'histogram', labels: ['layer', 'outcome'], help: 'how long they took' },
  upstreamInFlight: { name: 'tilecouch_upstream_in_flight', type: 'gauge', labels: ['layer'], help: 'requests under way' },
  upstreamQueued: { name: 'tilecouch_upstream_queued', type: 'gauge', labels: ['layer'], help: 'requests that wait for their turn' },
  upstreamCircuit: { name: 'tilecouch_upstream_circuit', type: 'gauge', labels: ['layer'], aggregator: 'max', help: '0 closed: asked; 1 half-open: tried; 2 open: left alone after failures' }
}

/** Those of the parent of workers, besides the sums of theirs. */
export const workerMetricTable = {
  ready: { name: 'tilecouch_workers_ready', type: 'gauge', labels: [], help: 'worker processes that serve' },
  restarts: { name: 'tilecouch_worker_restarts_total', type: 'counter', labels: [], help: 'workers that were started in the place of one that ended' }
}

/** What is counted for one set of labels. */
class Series {
  constructor (labels) {
    this.labels = labels
    this.count = 0
    this.bytes = 0
    this.sum = 0
    this.buckets = new Array(BUCKETS.length + 1).fill(0)
  }

  observe (seconds) {
    this.count++
    this.sum += seconds
    let bucket = 0
    while (bucket < BUCKETS.length && seconds > BUCKETS[bucket]) bucket++
    this.buckets[bucket]++
  }
}

/** Series by the values of their labels, with one look-up a label. */
class Family {
  #tree = new Map()
  #all = []

  constructor (...names) {
    this.names = names
  }

  of (a, b = '', c = '') {
    let second = this.#tree.get(a)
    if (!second) this.#tree.set(a, second = new Map())
    let third = second.get(b)
    if (!third) second.set(b, third = new Map())
    return third.get(c) ?? this.#make(third, [a, b, c])
  }

  #make (map, values) {
    const series = new Series(Object.fromEntries(this.names.map((name, at) => [name, values[at]])))
    map.set(values[2], series)
    this.#all.push(series)
    return series
  }

  values = field => this.#all.map(series => ({ labels: series.labels, value: series[field] }))

  /** As prom-client writes histograms: buckets that count all below, the sum, the number. */
  histogram (name) {
    return this.#all.flatMap(({ labels, buckets, sum, count }) => {
      let below = 0
      return [
        ...BUCKETS.map((le, at) => ({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: below += buckets[at] })),
        { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count }
      ]
    })
  }
}

/**
 * What the gauges look at when somebody reads them.
 * @typedef {object} Sources
 * @property {{bytes: number, size: number}} [memory]
 * @property {number} [limit] bytes
 * @property {() => {up: boolean, lag: number}} [follower] lag in seconds
 * @property {() => {layer: string, circuit: string, inFlight: number, queued: number}[]} [upstreams]
 */

export class Metrics {
  #requests = new Family('layer', 'kind', 'outcome')
  #latency = new Family('kind', 'outcome')
  #store = new Family('outcome')
  #tiles = new Family('outcome')
  #upstream = new Family('layer', 'outcome')
  #layers = new Set()
  /** @type {Sources} */
  #sources = {}
  /** Of a worker: asks for the numbers of all of them. @type {(() => Promise<string>) | null} */
  ofAllWorkers = null

  /** @param {{process?: boolean}} [options] process: CPU, memory, event loop as well */
  constructor ({ process = true } = {}) {
    this.registry = new Registry()
    if (process) collectDefaultMetrics({ register: this.registry })
    const one = value => value === undefined ? [] : [{ labels: {}, value }]
    const memory = () => this.#sources.memory
    const upstreams = read =>
      (this.#sources.upstreams?.() ?? []).map(state => ({ labels: { layer: state.layer }, value: read(state) }))
    const follower = () => this.#sources.follower?.()
    this.#register({
      requests: () => this.#requests.values('count'),
      seconds: name => this.#latency.histogram(name),
      bytes: () => this.#requests.values('bytes'),
      cacheBytes: () => one(memory()?.bytes),
      cacheEntries: () => one(memory()?.size),
      cacheLimit: () => one(this.#sources.limit),
      storeReads: () => this.#tiles.values('count'),
      storeBatches: () => this.#store.values('count'),
      storeSeconds: name => this.#store.histogram(name),
      followerUp: () => one(follower() && Number(follower()?.up)),
      followerLag: () => one(follower()?.lag),
      upstreamRequests: () => this.#upstream.values('count'),
      upstreamSeconds: name => this.#upstream.histogram(name),
      upstreamInFlight: () => upstreams(({ inFlight }) => inFlight),
      upstreamQueued: () => upstreams(({ queued }) => queued),
      upstreamCircuit: () => upstreams(({ circuit }) => CIRCUITS[circuit] ?? 0)
    })
  }

  /** @param {Record<keyof typeof metricTable, (name: string) => object[]>} readers */
  #register (readers) {
    for (const [key, { name, type, help, aggregator = 'sum' }] of Object.entries(metricTable)) {
      const get = async () => ({ name, help, type, aggregator, values: readers[key](name) })
      this.registry.registerMetric(/** @type {any} */ ({ name, get }))
    }
  }

  /** What gauges show from now on. @param {Sources} sources */
  bind (sources) {
    Object.assign(this.#sources, sources)
  }

  /**
   * A request that was answered.
   * @param {{kind: string, layer?: string, outcome?: string, status: number, seconds: number, bytes?: number}} request
   *   outcome: of a tile; else it follows from the status
   */
  request ({ kind, layer, outcome, status, seconds, bytes = 0 }) {
    const what = KINDS.includes(kind) ? kind : 'other'
    const how = status < 400 && outcome !== undefined && OUTCOMES.includes(outcome) ? outcome : outcomeOf(status)
    const series = this.#requests.of(layer === undefined ? '' : this.#layerLabel(layer, status), what, how)
    series.count++
    series.bytes += bytes
    this.#latency.of(what, how).observe(seconds)
  }

  /** A layer has a label of its own once a request for it was answered; names that are made up share one. */
  #layerLabel (layer, status) {
    if (this.#layers.has(layer)) return layer
    if (status >= 400 || this.#layers.size >= MOST_LAYERS) return UNKNOWN
    this.#layers.add(layer)
    return layer
  }

  /** One request to the store that read tiles. @param {{tiles: number, seconds: number, failed?: boolean}} read */
  storeRead ({ tiles, seconds, failed = false }) {
    const outcome = failed ? 'failed' : 'ok'
    this.#store.of(outcome).observe(seconds)
    this.#tiles.of(outcome).count += tiles
  }

  /**
   * One request to an upstream.
   * @param {{layer: string, outcome: string, seconds: number}} request outcome: kind of the answer, or failed
   */
  upstream ({ layer, outcome, seconds }) {
    this.#upstream.of(layer, outcome).observe(seconds)
  }

  get contentType () {
    return this.registry.contentType
  }

  /** What /metrics answers: the numbers of this process, or of all workers. @returns {Promise<string>} */
  text () {
    return this.ofAllWorkers ? this.ofAllWorkers() : this.registry.metrics()
  }
}

function outcomeOf (status) {
  if (status < 400) return 'ok'
  if (status === 404 || status === 410) return 'missing'
  if (status === 499) return 'aborted'
  return status < 500 ? 'refused' : 'failed'
}

/** @param {ConstructorParameters<typeof Metrics>[0]} [options] */
export const createMetrics = options => new Metrics(options)
