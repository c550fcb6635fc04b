// A cluster of three CouchDB nodes as origin: each node has a copy of each document. One node at a time is killed or
// restarted during loads and mirrors. They complete, because they repeat failed requests.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { load, publish, Store } from '../../loader/index.js'
import { startCluster } from '../../bench/cluster/nodes.js'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { until } from '../../bench/wait.js'
import { json, request } from '../support/backends.js'
import { checkLoaded } from '../support/invariants.js'
import { differences } from './compare.js'
import { edition, follow, hasty, replication } from '../support/bad-lines.js'

/** Counts the documents in the shards of each node, through the port of that node. */
async function countDocumentsByNode (nodes, db) {
  return Promise.all(nodes.map(async ({ url }) => {
    const shards = await json(`${url}/_node/_local/_all_dbs`)
    const shardNames = shards.filter(name => name.includes(`/${db}.`))
    const infos = await Promise.all(shardNames.map(name => json(`${url}/_node/_local/${encodeURIComponent(name)}`)))
    return infos.reduce((sum, { doc_count: docs, doc_del_count: deleted }) => sum + docs + deleted, 0)
  }))
}

/**
 * Starts a proxy with one address for all nodes. Every new connection goes to the first node that accepts it. Clients
 * of a store repeat a request whose connection was lost.
 * @param {{port: number, url: string}[]} nodes
 */
async function startBalancer (nodes) {
  const sockets = new Set()
  const server = createServer(client => {
    const track = socket => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    const tryNodes = ([node, ...remainingNodes]) => {
      if (!node) return client.destroy()
      const upstream = connect(node.port, new URL(node.url).hostname)
      track(upstream)
      upstream.once('error', () => tryNodes(remainingNodes))
      upstream.once('connect', () => {
        upstream.removeAllListeners('error').on('error', () => client.destroy())
        upstream.on('close', () => client.destroy())
        client.on('close', () => upstream.destroy())
        client.pipe(upstream).pipe(client)
      })
    }
    track(client)
    tryNodes(nodes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const { username, password } = new URL(nodes[0].url)
  return {
    url: `http://${username}:${password}@127.0.0.1:${port}`,
    close () {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}

const COUNT = 400 // tiles of an edition
const time = year => `20${year}-01-01T00:00:00Z`

const suite = findCouchDb() ? describe : describe.skip

suite('a cluster of three nodes', function () {
  this.timeout(240000)
  let cluster, balancer, edge
  let databases = 0
  before(async () => {
    cluster = await startCluster()
    balancer = await startBalancer(cluster.nodes)
    edge = await startCouchDb()
  })
  after(async () => {
    balancer?.close()
    await edge?.close()
    await cluster?.close()
  })

  /** The edition of a year as a source. `onMiddle` is called once, after half of the tiles. */
  function source (year, onMiddle) {
    const editionTiles = edition({ count: COUNT, time: time(year), size: 1000, seed: year })
    return {
      all: editionTiles,
      name: `survey of ${year}`,
      total: editionTiles.length,
      async * tiles () {
        for (const [index, tile] of editionTiles.entries()) {
          if (index === COUNT >> 1) await onMiddle?.()
          yield tile
        }
      }
    }
  }

  /** @returns {Promise<any[]>} the loaded tiles */
  async function loadYear (url, year, onMiddle) {
    const survey = source(year, onMiddle)
    const store = await Store.create(url)
    const { failed, tiles } = await load(store, survey, { layer: 'osm', time: time(year), batch: 20, concurrency: 2 })
    assert.deepEqual([failed, tiles], [0, COUNT])
    return survey.all
  }

  async function revive (node) {
    await node.start()
    await until(cluster.isWhole, { timeout: 30000, what: 'the nodes to see each other' })
  }

  /** Waits until all nodes have the same number of documents. `_sync_shards` makes CouchDB synchronize them sooner. */
  const waitForSync = name => until(async () => {
    const [firstCount, ...otherCounts] = await countDocumentsByNode(cluster.nodes, name)
    if (firstCount > 0 && otherCounts.every(count => count === firstCount)) return true
    const options = { method: 'POST', headers: { 'content-type': 'application/json' } }
    for (const { url } of cluster.nodes) await request(`${url}/${name}/_sync_shards`, options)
    return false
  }, { timeout: 60000, every: 1000, what: 'all copies to be the same' })

  const newDatabase = () => `cluster_${databases++}`

  for (const [through, victim, address] of /** @type {const} */ ([
    ['another node', 2, () => cluster.nodes[0].url], ['a balancer that used it', 0, () => balancer.url]
  ])) {
    it(`takes a load while a node is killed, through ${through}`, async () => {
      const name = newDatabase()
      const url = `${address()}/${name}`
      const node = cluster.nodes[victim]
      const first = await loadYear(url, 21)
      const second = await loadYear(url, 22, () => node.kill())
      await checkLoaded(url, [...first, ...second])
      await revive(node)
      await waitForSync(name)
      for (const { url: nodeUrl } of cluster.nodes) await checkLoaded(`${nodeUrl}/${name}`, [...first, ...second])
    })

    it(`is mirrored while a node is killed, through ${through}`, async () => {
      const name = newDatabase()
      const url = `${address()}/${name}`
      const to = `${edge.url}/${name}`
      const node = cluster.nodes[victim]
      await loadYear(url, 21)
      await request(to, { method: 'PUT' })
      let killed
      const status = await replication(url, to,
        { couch: { ...hasty, retries: 8 }, onProgress: () => { killed ??= node.kill() } }).run()
      await killed
      assert.equal(status.refused + status.absent, 0)
      assert.deepEqual(await differences(url, to), [])
      await revive(node)
      await waitForSync(name)
      assert.deepEqual(await differences(`${node.url}/${name}`, to), [])
      // the sequences of another node differ: the replication may read the feed again, and finds nothing missing
      assert.equal((await replication(`${node.url}/${name}`, to).run()).missing, 0)
    })
  }

  it('completes loads and a live mirror while its nodes are killed one by one', async () => {
    const name = newDatabase()
    const url = `${balancer.url}/${name}`
    const to = `${edge.url}/${name}`
    const loaded = await loadYear(url, 20)
    await publish(await Store.open(url))
    await request(to, { method: 'PUT' })
    const mirror = follow(url, to)
    try {
      await until(() => mirror.is('following'), { timeout: 60000, what: 'the mirror to follow' })
      for (const [index, node] of cluster.nodes.entries()) {
        loaded.push(...await loadYear(url, 21 + index, () => node.kill()))
        await revive(node)
        await waitForSync(name)
      }
      await until(async () => mirror.is('following') && !(await differences(url, to)).length,
        { timeout: 60000, every: 200, what: 'the mirror to be the same' })
      await checkLoaded(url, loaded)
      await checkLoaded(to, loaded)
      // CouchDB does not replicate _local documents between nodes: a restarted node may have an older checkpoint
      assert.ok(
        mirror.states.every(({ error }) => [undefined, 'UNREACHABLE',
          'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR', 'PLACE_LOST'].includes(error)), JSON.stringify(mirror.states)
      )
    } finally {
      await mirror.stop()
    }
  })

  it('accepts writes with one node, and has them on all nodes when the others are back', async () => {
    const name = newDatabase()
    const [survivor, ...otherNodes] = cluster.nodes
    const url = `${survivor.url}/${name}`
    const loaded = await loadYear(url, 21)
    for (const node of otherNodes) await node.kill()
    loaded.push(...await loadYear(url, 22))
    await checkLoaded(url, loaded)
    for (const node of otherNodes) await node.start()
    await until(cluster.isWhole, { timeout: 30000, what: 'the nodes to see each other' })
    await waitForSync(name)
    for (const { url: nodeUrl } of cluster.nodes) await checkLoaded(`${nodeUrl}/${name}`, loaded)
    assert.equal((await json(url)).doc_del_count, 0)
  })
})
