// Starts a cluster of three CouchDB nodes on this machine, each on its own loopback address. It keeps three copies of
// every document, unless a database is created with another number.
import { startCouchDb, newCluster } from '../couchdb.js'
import { until } from '../wait.js'
import { Couch } from '../../loader/store/couch.js'

const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
const SYSTEM_DATABASES = ['_users', '_replicator']

export async function startCluster () {
  const cluster = await newCluster()
  const settings = '[cluster]\nq = 2\nn = 3\n'
  const nodes = /** @type {Awaited<ReturnType<typeof startCouchDb>>[]} */ ([])
  const close = async () => { await Promise.all(nodes.map(node => node.close())) }
  try {
    for (const host of HOSTS) nodes.push(await startCouchDb(undefined, { host, cluster, settings }))
    const first = new Couch(`${nodes[0].url}/any`)
    for (const host of HOSTS.slice(1)) {
      await first.request({ method: 'PUT', path: `_node/_local/_nodes/couchdb@${host}`, server: true, body: {} })
    }
    const isWhole = () => areAllSeen(nodes)
    await until(isWhole, { timeout: 30000, what: 'the nodes to know each other' })
    for (const name of SYSTEM_DATABASES) await first.request({ method: 'PUT', path: name, server: true })
    return { nodes, isWhole, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Whether each node sees all other nodes. */
async function areAllSeen (nodes) {
  const answers = await Promise.all(nodes.map(({ url }) => new Couch(`${url}/any`, { retries: 0 })
    .request({ path: '_membership', server: true }).catch(() => ({ all_nodes: [] }))))
  return answers.every(({ all_nodes: nodesSeen, cluster_nodes: members }) =>
    nodesSeen.length === nodes.length && members.length === nodes.length)
}
