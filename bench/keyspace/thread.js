// A thread that loads a server. It has its own client and connection, and waits for each answer before it sends the
// next request.
import { parentPort } from 'node:worker_threads'
import { perform } from './perform.js'

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort)

/**
 * The clients by kind of server. Only the needed ones are loaded.
 * @type {Record<string, (at: any) => Promise<any>>}
 */
const openers = {
  memcached: async at => (await import('../clients/memcached.js')).openMemcached(at),
  redis: async at => (await import('../clients/redis.js')).openRedis(at),
  couchdb: async at => (await import('../clients/couchdb.js')).openCouchDb(at),
  attachment: async ({ url }) => (await import('../clients/http.js')).openHttp({ url, pathOf: key => `/${key}/tile` }),
  async gateway ({ url, db, time }) { // its writes go to the store
    const { openHttp, pathOfTile } = await import('../clients/http.js')
    return { ...await openers.couchdb({ url: db, time }), ...await openHttp({ url, pathOf: pathOfTile }) }
  }
}

/** @type {Map<string, Promise<any>>} contender -> client */
const clients = new Map()

function clientOf ({ name, opener, at }) {
  if (!clients.has(name)) clients.set(name, openers[opener](at))
  return clients.get(name)
}

port.on('message', async ({ contender, part, seconds }) => {
  try {
    port.postMessage({ done: await perform(await clientOf(contender), part, { seconds }) })
  } catch (error) {
    port.postMessage({ failed: `${contender.name}: ${error.message}` })
  }
})
