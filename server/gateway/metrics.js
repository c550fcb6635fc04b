// The metrics of the gateway for Prometheus. A tile in memory is answered in some ten microseconds, so counting must
// not build objects or hash labels. The numbers are plain fields, which get their names when /metrics is read.
import { Registry, collectDefaultMetrics } from 'prom-client'

/** Upper bounds in seconds: from a tile in memory to the timeout of an upstream. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export const KINDS = [
  'tile', 'retina', 'tilejson', 'versions', 'times', 'style', 'gdal', 'tms', 'qgis', 'connections', 'wmts', 'ogc',
  'index', 'db', 'file', 'health', 'metrics'
]
export const OUTCOMES = [
  'hit', 'miss', 'stale', 'upstream', 'revalidated', 'ok', 'missing', 'refused', 'failed', 'aborted'
]

// Each label is a permanent time series. Only layers with an answered request get one, up to this number.
const MOST_LAYERS = 500
const UNKNOWN = 'unknown'

const CIRCUITS = { closed: 0, 'half-open': 1, open: 2 }

/**
 * @typedef {{labels: object, value: number, metricName?: string}[]} Values
 * @typedef {{name: string, type: string, help: string, labels: string[], aggregator: string,
 *   read: (source: any, name: string) => Values | number | boolean | null | undefined}} Metric aggregator: for several
 *   workers; read: one value or none, or a value for each set of labels
 *
 * @param {string} type
 * @returns {(name: string, help: string, read: Metric['read'], labels?: string[], aggregator?: string) => Metric}
 */
const metric = type => (name, help, read, labels = [], aggregator = 'sum') =>
  ({ name, type, help, labels, aggregator, read })
export const [counter, gauge, histogram] = ['counter', 'gauge', 'histogram'].map(metric)

/** @param {Metrics} metrics @returns {Values} */
const upstreamValues = ({ sources }, read) =>
  (sources.upstreams?.() ?? []).map(state => ({ labels: { layer: state.layer }, value: read(state) }))

const REQUEST = ['layer', 'kind', 'outcome']

/** All metrics besides those of the process, read from Metrics. docs/gateway.md is generated from this table. */
export const metricTable = [
  counter('tilecouch_requests_total', 'requests answered', ({ requests }) => requests.values('count'), REQUEST),
  histogram('tilecouch_request_seconds', 'from the request to the end of its answer',
    ({ latency }, name) => latency.histogram(name), ['kind', 'outcome']),
  counter('tilecouch_response_bytes_total', 'bytes of the bodies of these answers',
    ({ requests }) => requests.values('bytes'), REQUEST),
  gauge('tilecouch_cache_bytes', 'memory that tiles take', ({ sources }) => sources.memory?.bytes),
  gauge('tilecouch_cache_entries', 'tiles in memory', ({ sources }) => sources.memory?.size),
  gauge('tilecouch_cache_limit_bytes', 'memory that tiles may take', ({ sources }) => sources.memory?.maxBytes),
  counter('tilecouch_store_reads_total', 'tiles requested from CouchDB',
    ({ tiles }) => tiles.values('count'), ['outcome']),
  counter('tilecouch_store_batches_total', 'requests to CouchDB for them, each for several',
    ({ store }) => store.values('count'), ['outcome']),
  histogram('tilecouch_store_seconds', 'how long these requests took',
    ({ store }, name) => store.histogram(name), ['outcome']),
  gauge('tilecouch_follower_up',
    '1 while the gateway receives changes of the store, 0 while tiles in memory may be old',
    ({ sources }) => sources.follower?.().up, [], 'min'),
  gauge('tilecouch_follower_lag_seconds', 'since the last message of the store',
    ({ sources }) => sources.follower?.().lag, [], 'max'),
  counter('tilecouch_upstream_requests_total',
    'requests to upstreams: tiles, unchanged, missing, or failed; the log says why',
    ({ upstreams }) => upstreams.values('count'), ['layer', 'outcome']),
  histogram('tilecouch_upstream_seconds', 'how long they took',
    ({ upstreams }, name) => upstreams.histogram(name), ['layer', 'outcome']),
  gauge('tilecouch_upstream_in_flight', 'requests under way',
    metrics => upstreamValues(metrics, ({ inFlight }) => inFlight), ['layer']),
  gauge('tilecouch_upstream_queued', 'requests that wait',
    metrics => upstreamValues(metrics, ({ queued }) => queued), ['layer']),
  gauge('tilecouch_upstream_circuit',
    '0 closed: normal; 1 half-open: one request is tried; 2 open: no requests after failures',
    metrics => upstreamValues(metrics, ({ circuit }) => CIRCUITS[circuit] ?? 0), ['layer'], 'max')
]

/** Metrics of the parent of workers, besides the sums over workers. */
export const workerMetricTable = [
  gauge('tilecouch_workers_ready', 'worker processes that serve', ({ ready }) => ready),
  counter('tilecouch_worker_restarts_total', 'workers that were started again', ({ restarts }) => restarts)
]

/** @returns {Values} */
function valuesOf (result) {
  if (Array.isArray(result)) return result
  return result === undefined || result === null ? [] : [{ labels: {}, value: Number(result) }]
}

/**
 * Adds the metrics of a table to a registry.
 * @param {Registry} registry @param {Metric[]} table @param {() => any} sourceOf returns the object to read from
 */
export function register (registry, table, sourceOf) {
  for (const { name, type, help, aggregator, read } of table) {
    const get = async () => ({ name, help, type, aggregator, values: valuesOf(read(sourceOf(), name)) })
    registry.registerMetric(/** @type {any} */ ({ name, get }))
  }
}

/** The counts of one set of labels. */
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
  #series = []

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
    const series = new Series(Object.fromEntries(this.names.map((name, index) => [name, values[index]])))
    map.set(values[2], series)
    this.#series.push(series)
    return series
  }

  values = field => this.#series.map(series => ({ labels: series.labels, value: series[field] }))

  /** A histogram as prom-client writes it: cumulative buckets, the sum and the count. */
  histogram (name) {
    const bucket = (labels, value) => ({ metricName: `${name}_bucket`, labels, value })
    return this.#series.flatMap(({ labels, buckets, sum, count }) => {
      let cumulativeCount = 0
      return [
        ...BUCKETS.map((le, index) => bucket({ le, ...labels }, cumulativeCount += buckets[index])),
        bucket({ le: '+Inf', ...labels }, count),
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count }
      ]
    })
  }
}

/**
 * Where the gauges read their values.
 * @typedef {object} Sources
 * @property {{bytes: number, size: number, maxBytes: number}} [memory]
 * @property {() => {up: boolean, lag: number}} [follower] lag in seconds
 * @property {() => {layer: string, circuit: string, inFlight: number, queued: number}[]} [upstreams]
 */

export class Metrics {
  requests = new Family(...REQUEST)
  latency = new Family('kind', 'outcome')
  store = new Family('outcome')
  tiles = new Family('outcome')
  upstreams = new Family('layer', 'outcome')
  /** @type {Sources} */
  sources = {}
  #layers = new Set()

  /** @param {{process?: boolean}} [options] process: CPU, memory, event loop as well */
  constructor ({ process = true } = {}) {
    this.registry = new Registry()
    if (process) collectDefaultMetrics({ register: this.registry })
    register(this.registry, metricTable, () => this)
  }

  /** The body of /metrics. */
  text () {
    return this.registry.metrics()
  }

  /** Sets where the gauges read their values. @param {Sources} sources */
  bind (sources) {
    Object.assign(this.sources, sources)
  }

  /**
   * Counts a request that was answered.
   * @param {{kind: string, layer?: string, outcome?: string, status: number, seconds: number, bytes?: number}} request
   *   outcome: of a tile; for other requests it follows from the status
   */
  request ({ kind, layer, outcome, status, seconds, bytes = 0 }) {
    const kindLabel = KINDS.includes(kind) ? kind : 'other'
    const isKnown = status < 400 && outcome !== undefined && OUTCOMES.includes(outcome)
    const outcomeLabel = isKnown ? outcome : outcomeOf(status)
    const layerLabel = layer === undefined ? '' : this.#layerLabel(layer, status)
    const series = this.requests.of(layerLabel, kindLabel, outcomeLabel)
    series.count++
    series.bytes += bytes
    this.latency.of(kindLabel, outcomeLabel).observe(seconds)
  }

  /** A layer gets its own label once a request for it was answered; unknown names share one. */
  #layerLabel (layer, status) {
    if (this.#layers.has(layer)) return layer
    if (status >= 400 || this.#layers.size >= MOST_LAYERS) return UNKNOWN
    this.#layers.add(layer)
    return layer
  }

  /** Counts one read of tiles from the store. @param {{tiles: number, seconds: number, failed?: boolean}} read */
  storeRead ({ tiles, seconds, failed = false }) {
    const outcome = failed ? 'failed' : 'ok'
    this.store.of(outcome).observe(seconds)
    this.tiles.of(outcome).count += tiles
  }

  /**
   * Counts one request to an upstream.
   * @param {{layer: string, outcome: string, seconds: number}} request outcome: kind of the answer, or failed
   */
  upstream ({ layer, outcome, seconds }) {
    this.upstreams.of(layer, outcome).observe(seconds)
  }
}

function outcomeOf (status) {
  if (status < 400) return 'ok'
  if (status === 404 || status === 410) return 'missing'
  if (status === 499) return 'aborted'
  return status < 500 ? 'refused' : 'failed'
}
