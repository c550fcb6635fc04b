// Tests of the Prometheus metrics of the gateway.
import assert from 'node:assert/strict'
import { AggregatorRegistry } from 'prom-client'
import { Metrics, workerMetricTable, metricTable } from '../../server/gateway/metrics.js'
import { parseMetrics } from '../support/gateway/prometheus.js'

const request =
  fields => ({ kind: 'tile', layer: 'osm', outcome: 'hit', status: 200, seconds: 0.0001, bytes: 300, ...fields })

describe('the metrics of the gateway', () => {
  let metrics
  beforeEach(() => { metrics = new Metrics({ process: false }) })
  const values = async name => parseMetrics(await metrics.text()).get(name)?.samples ?? []
  const value = async (name, labels = {}) => (await values(name))
    .find(sample => Object.entries(labels).every(([key, text]) => sample.labels[key] === text))?.value

  it('count requests by layer, kind and outcome, with their bytes', async () => {
    for (let i = 0; i < 3; i++) metrics.request(request())
    metrics.request(request({ outcome: 'miss' }))
    metrics.request({ kind: 'health', status: 200, seconds: 0.001 })
    assert.equal(await value('tilecouch_requests_total', { layer: 'osm', kind: 'tile', outcome: 'hit' }), 3)
    assert.equal(await value('tilecouch_requests_total', { layer: 'osm', kind: 'tile', outcome: 'miss' }), 1)
    assert.equal(await value('tilecouch_requests_total', { kind: 'health', outcome: 'ok', layer: '' }), 1)
    assert.equal(await value('tilecouch_response_bytes_total', { outcome: 'hit' }), 900)
  })

  it('sort durations into cumulative buckets, with their sum and count', async () => {
    for (const seconds of [0.0001, 0.0005, 0.0006, 0.3, 100]) metrics.request(request({ seconds }))
    const bucket = le => value('tilecouch_request_seconds', { le, kind: 'tile', outcome: 'hit' })
    assert.deepEqual([await bucket('0.0005'), await bucket('0.001'), await bucket('0.25'),
      await bucket('0.5'), await bucket('30'), await bucket('+Inf')], [2, 3, 3, 4, 4, 5])
    const samples = await values('tilecouch_request_seconds')
    assert.equal(samples.find(({ name }) => name.endsWith('_count')).value, 5)
    assert.ok(Math.abs(samples.find(({ name }) => name.endsWith('_sum')).value - 100.3012) < 1e-9)
  })

  it('take the outcome of a failed request from its status, not from the route', async () => {
    const statuses = {
      200: 'ok', 304: 'ok', 400: 'refused', 404: 'missing', 405: 'refused',
      410: 'missing', 499: 'aborted', 500: 'failed', 503: 'failed'
    }
    for (const status of Object.keys(statuses)) {
      metrics.request({ kind: 'tile', status: +status, seconds: 0, outcome: +status >= 400 ? 'hit' : undefined })
    }
    const expected = {}
    for (const outcome of Object.values(statuses)) expected[outcome] = (expected[outcome] ?? 0) + 1
    assert.deepEqual(Object.fromEntries(
      (await values('tilecouch_requests_total')).map(sample => [sample.labels.outcome, sample.value])
    ), expected)
  })

  it('have no time series for invented layers, kinds and outcomes', async () => {
    for (let i = 0; i < 5000; i++) metrics.request(request({ layer: `nonsense${i}`, status: 404, outcome: undefined }))
    for (let i = 0; i < 50; i++) metrics.request({ kind: `kind${i}`, outcome: `outcome${i}`, status: 200, seconds: 0 })
    const layers = (await values('tilecouch_requests_total')).map(({ labels }) => labels.layer)
    assert.deepEqual([...new Set(layers)].sort(), ['', 'unknown'])
    assert.equal(await value('tilecouch_requests_total', { layer: 'unknown' }), 5000)
    assert.equal(await value('tilecouch_requests_total', { kind: 'other', outcome: 'ok' }), 50)
  })

  it('have a series for a layer after its first answer, for 500 layers at most', async () => {
    metrics.request(request({ status: 404 }))
    metrics.request(request())
    metrics.request(request({ status: 404 }))
    assert.equal(await value('tilecouch_requests_total', { layer: 'unknown', outcome: 'missing' }), 1)
    assert.equal(await value('tilecouch_requests_total', { layer: 'osm', outcome: 'missing' }), 1)
    for (let i = 0; i < 2000; i++) metrics.request(request({ layer: `layer${i}` }))
    const layers = new Set((await values('tilecouch_requests_total')).map(({ labels }) => labels.layer))
    assert.equal(layers.size, 501)
    for (const layer of ['constructor', '__proto__', 'toString']) {
      assert.doesNotThrow(() => metrics.request(request({ layer, kind: layer, outcome: layer })))
    }
  })

  it('show memory, follower and upstreams at the moment of reading', async () => {
    assert.equal(await value('tilecouch_cache_bytes'), undefined)
    const memory = { bytes: 1, size: 2, maxBytes: 1000 }
    let follower = { up: true, lag: 0.5 }
    metrics.bind(
      {
        memory, follower: () => follower,
        upstreams: () => [{ layer: 'osm', circuit: 'open', inFlight: 2, queued: 7 },
          { layer: 'sat', circuit: 'closed', inFlight: 0, queued: 0 }]
      }
    )
    memory.bytes = 500
    assert.equal(await value('tilecouch_cache_bytes'), 500)
    assert.equal(await value('tilecouch_cache_entries'), 2)
    assert.equal(await value('tilecouch_cache_limit_bytes'), 1000)
    assert.equal(await value('tilecouch_follower_up'), 1)
    follower = { up: false, lag: 60 }
    assert.equal(await value('tilecouch_follower_up'), 0)
    assert.equal(await value('tilecouch_follower_lag_seconds'), 60)
    assert.equal(await value('tilecouch_upstream_circuit', { layer: 'osm' }), 2)
    assert.equal(await value('tilecouch_upstream_circuit', { layer: 'sat' }), 0)
    assert.equal(await value('tilecouch_upstream_queued', { layer: 'osm' }), 7)
  })

  it('count reads of the store and requests to upstreams', async () => {
    metrics.storeRead({ tiles: 20, seconds: 0.01 })
    metrics.storeRead({ tiles: 5, seconds: 0.02, failed: true })
    metrics.upstream({ layer: 'osm', outcome: 'tiles', seconds: 0.2 })
    metrics.upstream({ layer: 'osm', outcome: 'failed', seconds: 30 })
    assert.equal(await value('tilecouch_store_reads_total', { outcome: 'ok' }), 20)
    assert.equal(await value('tilecouch_store_batches_total', { outcome: 'failed' }), 1)
    assert.equal(await value('tilecouch_upstream_requests_total', { layer: 'osm', outcome: 'failed' }), 1)
    assert.equal((await values('tilecouch_upstream_seconds')).filter(({ name }) => name.endsWith('_count')).length, 2)
  })

  it('are exactly those of the table, each with its help, type and labels', async () => {
    metrics.request(request())
    const metricsByName = parseMetrics(await metrics.text())
    assert.deepEqual([...metricsByName.keys()].sort(), Object.values(metricTable).map(({ name }) => name).sort())
    for (const { name, type, labels, help } of Object.values(metricTable)) {
      const metric = metricsByName.get(name)
      assert.deepEqual([metric.type, metric.help], [type, help], name)
      for (const sample of metric.samples) {
        assert.deepEqual(Object.keys(sample.labels).filter(key => key !== 'le').sort(), [...labels].sort(), name)
      }
    }
    assert.ok(parseMetrics(await new Metrics().text()).has('process_cpu_seconds_total'))
    assert.equal(new Set([...Object.values(metricTable), ...Object.values(workerMetricTable)].map(({ name }) => name))
      .size, Object.keys(metricTable).length + Object.keys(workerMetricTable).length)
  })

  it('are combined when several processes serve', async () => {
    const otherMetrics = new Metrics({ process: false })
    for (const instance of [metrics, metrics, otherMetrics]) instance.request(request({ seconds: 0.002 }))
    metrics.bind({ memory: { bytes: 10, size: 1, maxBytes: 100 }, follower: () => ({ up: true, lag: 1 }) })
    otherMetrics.bind({ memory: { bytes: 30, size: 2, maxBytes: 100 }, follower: () => ({ up: false, lag: 9 }) })
    const combined = parseMetrics(await AggregatorRegistry.aggregate(
      await Promise.all([metrics, otherMetrics].map(instance => instance.registry.getMetricsAsJSON()))
    ).metrics())
    const only = name => combined.get(name).samples[0].value
    assert.deepEqual(['tilecouch_requests_total', 'tilecouch_cache_bytes', 'tilecouch_cache_limit_bytes',
      'tilecouch_follower_up', 'tilecouch_follower_lag_seconds'].map(only), [3, 40, 200, 0, 9])
    assert.deepEqual(combined.get('tilecouch_request_seconds').samples.filter(
      ({ labels }) => ['0.001', '0.0025', '+Inf'].includes(labels.le)
    ).map(sample => sample.value), [0, 3, 3])
  })
})
