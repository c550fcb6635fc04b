// A thread that loads a server: with a client and a connection of its own, it waits for each answer before it asks for the next.
import { parentPort } from 'node:worker_threads'
import { openCouchDb } from '../clients/couchdb.js'
import { openHttp } from '../clients/http.js'
import { openMemcached } from '../clients/memcached.js'
import { openRedis } from '../clients/redis.js'
import { pathOfAttachment, pathOfTile } from './paths.js'
import { perform } from './perform.js'

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort)

/** How each kind of server is asked. @type {Record<string, (at: any) => Promise<any>>} */
const openers = {
  memcached: openMemcached,
  redis: openRedis,
  couchdb: openCouchDb,
  attachment: ({ url }) => openHttp({ url, pathOf: pathOfAttachment }),
  async gateway ({ url, db, time }) { // its writes go to the store
    const [reader, writer] = await Promise.all([openHttp({ url, pathOf: pathOfTile }), openCouchDb({ url: db, time })])
    return { ...writer, ...reader }
  }
}

/** @type {Map<string, Promise<any>>} contender -> client */
const clients = new Map()

/** @param {{name: string, opener: string, at: any}} contender */
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
