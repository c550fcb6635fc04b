// Measures the cost of a cluster: loads, cold tiles and a mirror on one node, and on three nodes with one or three
// copies of each document, also after one node is killed. All nodes share the cores of this machine, so only the ratios
// count.
import pMap from 'p-map'
import { request } from 'undici'
import { publish } from '../loader/couchapp/publish.js'
import { BYTES, LAYER, NEW, OLD, placesOf, versions } from './block.js'
import { startCluster } from './cluster/nodes.js'
import { median, turns } from './measure.js'
import { ours } from './mirror/contenders.js'
import { startGateway } from './programs/gateway.js'
import { newDatabase, newStore, stoppable } from './stoppable.js'
import { noiseTile } from './tiles.js'
import { until } from './wait.js'

const CONCURRENCY = 16 // concurrent requests for tiles
const SHARDS = 2 // the smallest number that docs/operations.md advises
const CHANGED = 3 // tiles out of ten
const NAME = 'bench_cluster'

/** The measures and their units. */
export const MEASURES = {
  'first edition': 's',
  'publishing': 's',
  'second edition, 30 % changed, published': 's',
  'attachments of CouchDB, 16 at a time': 'tiles/s',
  'cold tiles through the gateway, 16 at a time': 'tiles/s',
  'mirror to one node': 's'
}

export const run = ({ server, quick, log }) => stoppable(log, async ({ signal, closing }) => {
  const [tiles, rounds] = quick ? [400, 1] : [6400, 2]
  const cluster = await startCluster()
  closing.push(cluster.close)
  const [first, , last] = cluster.nodes
  const lose = async () => {
    await last.kill()
    return async () => {
      await last.start()
      await until(cluster.isWhole, { timeout: 60000, what: 'the nodes to see each other' })
    }
  }
  /** @type {{name: string, url: string, q: number, n?: number, lose?: () => Promise<() => Promise<void>>}[]} */
  const contenders = [
    { name: 'one node', url: server, q: SHARDS },
    { name: 'three nodes, n=1', url: first.url, q: SHARDS, n: 1 },
    { name: 'three nodes, n=3', url: first.url, q: SHARDS, n: 3 },
    { name: 'three nodes, n=3, q=8', url: first.url, q: 8, n: 3 },
    { name: 'three nodes, n=3, one of them killed', url: first.url, q: SHARDS, n: 3, lose }
  ]
  const places = placesOf(tiles)
  const samples = contenders.map(({ name }) => ({ name, rounds: /** @type {Record<string, number>[]} */ ([]) }))
  for (const { round, contender } of turns(contenders, rounds)) {
    signal.throwIfAborted()
    log(`\nround ${round + 1}  ${contender.name}`)
    const database = `${NAME}_${round}_${contenders.indexOf(contender)}`
    const figures =
      await measure({ ...contender, database, places, mirrorUrl: `${server}/${NAME}_mirror`, signal, log })
    samples.find(({ name }) => name === contender.name)?.rounds.push(figures)
  }
  const results = samples.map(({ name, rounds: list }) => ({
    name,
    figures: Object.fromEntries(Object.keys(MEASURES).map(key => [key, median(list.map(row => row[key]))]))
  }))
  return { tiles, bytes: BYTES, rounds, shards: SHARDS, results, budgets: [] }
})

/** @param {Record<string, any>} options a contender, and a database name that no other sample uses */
async function measure ({ url: server, q, n, lose, database, places, mirrorUrl, signal, log }) {
  const figures = /** @type {Record<string, number>} */ ({})
  const note = (what, value) => {
    figures[what] = value
    log(`  ${what.padEnd(46)} ${value.toPrecision(4)} ${MEASURES[what]}`)
  }
  const url = `${server}/${database}`
  const store = await newStore(url, undefined, { public: false, q, n })
  const bringBack = await lose?.()
  try {
    const write = async time => {
      const { failed } = await store.write(versions(places, time, tileOf), { signal })
      if (failed) throw new Error(`${failed} tiles were not written`)
    }
    note('first edition', await secondsOf(() => write(OLD)))
    note('publishing', await secondsOf(() => publish(store, { signal })))
    note('second edition, 30 % changed, published', await secondsOf(async () => {
      await write(NEW)
      await publish(store, { signal })
    }))
    const { origin, username, password } = new URL(server)
    const authorization = `Basic ${btoa(`${username}:${password}`)}`
    const attachment = ({ z, x, y }) => `${origin}/${database}/${LAYER}:${z}:${x}:${y}/tile`
    const gatewayPath = ({ z, x, y }) => `/${LAYER}/${z}/${x}/${y}.png`
    note('attachments of CouchDB, 16 at a time', await rateOf(places.map(attachment), { authorization }, signal))
    const gateway = await startGateway(url, { memory: '256MB' }, gatewayPath(places[0]))
    try {
      note('cold tiles through the gateway, 16 at a time',
        await rateOf(places.map(place => `${gateway.url}${gatewayPath(place)}`), {}, signal))
    } finally {
      await gateway.close()
    }
    const mirror = await newDatabase(mirrorUrl)
    note('mirror to one node', await secondsOf(() => ours(url, mirrorUrl, { signal })))
    await mirror.request({ method: 'DELETE' })
  } finally {
    await bringBack?.()
    await store.destroy()
  }
  return figures
}

/** The bytes of a tile. The second edition changes CHANGED tiles out of ten. */
const tileOf = (index, time) => noiseTile(time === NEW && index % 10 < CHANGED ? index + 1e6 : index, BYTES)

async function secondsOf (task) {
  const start = performance.now()
  await task()
  return (performance.now() - start) / 1000
}

/** @param {string[]} urls of tiles @returns {Promise<number>} tiles a second */
async function rateOf (urls, headers, signal) {
  const seconds = await secondsOf(() => pMap(urls, async url => {
    const { statusCode, body } = await request(url, { headers, signal })
    const bytes = await body.arrayBuffer()
    if (statusCode !== 200 || !bytes.byteLength) throw new Error(`${url}: ${statusCode}`)
  }, { concurrency: CONCURRENCY }))
  return urls.length / seconds
}
