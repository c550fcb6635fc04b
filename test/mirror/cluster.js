// Three CouchDB nodes that are one cluster, on loopback addresses of their own: Linux has all of 127/8.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { newCluster, startCouchDb } from '../../bench/couchdb.js'
import { until } from '../../bench/wait.js'
import { json, request } from '../support/backends.js'

const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
const SYSTEM = ['_users', '_replicator']

/** @param {{q?: number, n?: number}} [options] shards and copies of a database */
export async function startCluster ({ q = 2, n = 3 } = {}) {
  const cluster = await newCluster()
  const settings = `[cluster]\nq = ${q}\nn = ${n}\n`
  const nodes = /** @type {Awaited<ReturnType<typeof startCouchDb>>[]} */ ([])
  const close = async () => { await Promise.all(nodes.map(node => node.close())) }
  try {
    for (const host of HOSTS) nodes.push(await startCouchDb(undefined, { host, cluster, settings }))
    const [{ url }] = nodes
    for (const host of HOSTS.slice(1)) await put(`${url}/_node/_local/_nodes/couchdb@${host}`, {})
    await until(() => isWhole(nodes), { timeout: 30000, what: 'the nodes to know each other' })
    for (const name of SYSTEM) await put(`${url}/${name}`)
    return { nodes, isWhole: () => isWhole(nodes), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function put (url, body) {
  const answer = await request(url, { method: 'PUT', ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }) })
  if (!answer.ok) throw new Error(`PUT ${new URL(url).pathname} answered ${answer.status}: ${await answer.text()}`)
}

/** Whether each node sees all others. */
async function isWhole (nodes) {
  const seen = await Promise.all(nodes.map(({ url }) => json(`${url}/_membership`).catch(() => ({ all_nodes: [] }))))
  return seen.every(({ all_nodes: all, cluster_nodes: known }) => all.length === nodes.length && known.length === nodes.length)
}

/** What each node holds by itself, through its own port: documents of the copies of all shards there. */
export async function copies (nodes, db) {
  return Promise.all(nodes.map(async ({ url }) => {
    const shards = await json(`${url}/_node/_local/_all_dbs`)
    const own = shards.filter(name => name.includes(`/${db}.`))
    const infos = await Promise.all(own.map(name => json(`${url}/_node/_local/${encodeURIComponent(name)}`)))
    return infos.reduce((sum, { doc_count: docs, doc_del_count: deleted }) => sum + docs + deleted, 0)
  }))
}

/**
 * One address for all nodes: every new connection goes to the first that takes it. No more is needed of a balancer, since
 * clients of a store repeat what was lost with a connection.
 * @param {{port: number, url: string}[]} nodes
 */
export async function startBalancer (nodes) {
  const sockets = new Set()
  const server = createServer(client => {
    const keep = socket => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    const reach = ([node, ...others]) => {
      if (!node) return client.destroy()
      const upstream = connect(node.port, new URL(node.url).hostname)
      keep(upstream)
      upstream.once('error', () => reach(others))
      upstream.once('connect', () => {
        upstream.removeAllListeners('error').on('error', () => client.destroy())
        upstream.on('close', () => client.destroy())
        client.on('close', () => upstream.destroy())
        client.pipe(upstream).pipe(client)
      })
    }
    keep(client)
    reach(nodes)
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
