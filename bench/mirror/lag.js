// How long a change takes from one server to the other, when both replicators go on for good: from the moment the source has
// confirmed it to the moment the target says so in its own feed.
import { setTimeout as sleep } from 'node:timers/promises'
import { Replication } from '../../core/mirror/index.js'
import { peerOf } from '../../loader/mirror/peer.js'
import { Couch } from '../../loader/store/couch.js'
import { readFeed } from '../../loader/store/feed.js'
import { percentiles } from '../measure.js'
import { noiseTile } from '../tiles.js'
import { until } from '../wait.js'
import { storeOf } from './data.js'

const EVERY = 50 // milliseconds between two changes

/** @param {{server: string, target: string, changes: number, signal: AbortSignal, closing: (() => any)[], log: (text: string) => void}} options */
export async function lagOf ({ server, target, changes, signal, closing, log }) {
  log(`\nLag: ${changes} changes, one every ${EVERY} ms`)
  const [from, to] = [`${server}/bench_lag_from`, `${target}/bench_lag_to`]
  const followers = { 'tilecouch mirror --live': follow, 'CouchDB’s replicator, continuous': followTheirs }
  /** @type {Record<string, ReturnType<typeof percentiles>>} */
  const results = {}
  for (const [name, start] of Object.entries(followers)) {
    const store = await storeOf(from, { tiles: 100, bytes: 10_000, signal, closing })
    const there = new Couch(to)
    await there.request({ method: 'DELETE' }).catch(() => {})
    await there.request({ method: 'PUT' })
    const stop = await start(from, to)
    try {
      await until(async () => (await there.request({ path: '' })).doc_count >= 101, { timeout: 60000, what: `${name} to follow` })
      results[name] = percentiles(await measure(store.couch, there, changes, signal))
      const { p50, p90, p99, max } = results[name]
      log(`  ${name.padEnd(40)} p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms, max ${max} ms`)
    } finally {
      await stop()
      await there.request({ method: 'DELETE', retries: 1 }).catch(() => {})
      await store.destroy()
    }
  }
  return results
}

async function measure (source, target, changes, signal) {
  /** @type {Map<string, number>} */
  const arrived = new Map()
  const end = new AbortController()
  const hearing = readFeed(target, {
    query: { feed: 'continuous', since: 'now', heartbeat: 1000 }, silence: 10000, signal: end.signal, onSign () {}, onChange: ({ id }) => { arrived.set(id, performance.now()) }
  }).catch(error => { if (!end.signal.aborted) throw error })
  const confirmed = new Map()
  for (let index = 0; index < changes; index++) {
    signal.throwIfAborted()
    const id = `bench:14:2000:${1000 + index}`
    const body = { type: 'tile', layer: 'bench', z: 14, x: 2000, y: 1000 + index, current: true, time: '2024-03-01T00:00:00Z', stored: '2024-03-01T00:00:00Z', _attachments: { tile: { content_type: 'image/png', data: noiseTile(index).toString('base64') } } }
    await source.request({ method: 'PUT', path: encodeURIComponent(id), body })
    confirmed.set(id, performance.now())
    await sleep(EVERY)
  }
  await until(() => [...confirmed.keys()].every(id => arrived.has(id)), { timeout: 120000, what: 'the last change to arrive' })
  end.abort()
  await hearing
  // a change may be told by the target before the answer of the source is read here
  return [...confirmed].map(([id, time]) => Math.max(0, /** @type {number} */ (arrived.get(id)) - time))
}

async function follow (from, to) {
  const stop = new AbortController()
  const running = new Replication({ source: peerOf(new Couch(from)), target: peerOf(new Couch(to)), live: true, signal: stop.signal }).run().catch(error => { if (error.code !== 'ABORTED') throw error })
  return async () => {
    stop.abort()
    await running
  }
}

async function followTheirs (from, to) {
  const couch = new Couch(to)
  const body = { source: from, target: to, continuous: true }
  await couch.request({ method: 'POST', server: true, path: '_replicate', body })
  return () => couch.request({ method: 'POST', server: true, path: '_replicate', body: { ...body, cancel: true } })
}
