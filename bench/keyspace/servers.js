// Starts all servers that store the values. Each runs for the whole benchmark. The result names those that are not
// installed.
import { createRequire } from 'node:module'
import path from 'node:path'
import pMap from 'p-map'
import { LAYER } from '../block.js'
import { openCouchDb } from '../clients/couchdb.js'
import { openHttp, pathOfTile } from '../clients/http.js'
import { openMemcached } from '../clients/memcached.js'
import { openRedis } from '../clients/redis.js'
import { deploy } from '../history/data.js'
import { startGateway } from '../programs/gateway.js'
import * as memcached from '../programs/memcached.js'
import * as redis from '../programs/redis.js'
import { runningPrograms } from '../programs/running.js'
import { newStore } from '../stoppable.js'
import { BATCH, TIME, ZOOM, keyOf, valueOf } from './workload.js'

const MEMORY = 4096 // megabytes of each server, more than is ever written: no value is evicted
const FLIGHTS = 8 // concurrent calls while the first values are written

const CLIENTS = ['memjs', '@redis/client', 'undici']
const versionOf = name => createRequire(import.meta.url)(`${name}/package.json`).version

/**
 * @typedef {{url: string, keys: number, dir: string, signal: AbortSignal, closing: (() => any)[], log: (text: string)
 *   => void}} Options keys: number of values that exist from the start
 */

/** @param {Options} options url: of the database, with a name and password */
export async function startServers (options) {
  const { addRunning, optional, missing, programs } = runningPrograms(options)
  const clients = CLIENTS.map(name => `${name} ${versionOf(name)}`).join(', ')
  programs['load generator'] = { version: process.version, settings: `worker threads of one Node process; ${clients}` }
  programs.CouchDB = { settings: 'a published store: design documents and time index, without the validation function' }
  const store = await startStore(options)
  const gateway = addRunning('gateway', await startHotGateway(options))
  const caches = /** @type {Record<string, {port: number}>} */ ({})
  await optional('memcached', memcached.MISSING, memcached.findMemcached(), async bin => {
    caches.memcached = addRunning('memcached', await memcached.startMemcached(bin, { memory: MEMORY }))
    await fill(await openMemcached(caches.memcached), options)
  })
  await optional('Redis', redis.MISSING, redis.findRedis(), async bin => {
    const server = await redis.startRedis(bin, { dir: path.join(options.dir, 'redis'), memory: MEMORY })
    caches.Redis = addRunning('Redis', server)
    await fill(await openRedis(server), options)
  })
  return { store, gateway, caches, programs, missing }
}

/** A published store with the first values. @param {Options} options */
async function startStore ({ url, keys, signal, closing }) {
  const store = await newStore(url, closing)
  await store.defineLayer(LAYER, { name: 'Tiles of a benchmark', format: 'png', minzoom: ZOOM, maxzoom: ZOOM })
  const client = await openCouchDb({ url, time: TIME })
  const numbers = Array.from({ length: Math.ceil(keys / BATCH) }, (_, batch) => batch * BATCH)
  await pMap(numbers, first => client.setMany(
    Array.from({ length: Math.min(BATCH, keys - first) }, (_, index) => [keyOf(first + index), valueOf(first + index)])
  ), { concurrency: FLIGHTS, signal })
  await deploy(store, { signal })
  return store
}

/** Starts a gateway with one process and reads the first values into its memory. @param {Options} options */
async function startHotGateway ({ url, keys, signal }) {
  const gateway =
    await startGateway(url, { memory: `${MEMORY}MB`, maxAge: '1d', logLevel: 'warn' }, pathOfTile(keyOf(0)))
  try {
    await readAll(await openHttp({ url: gateway.url, pathOf: pathOfTile }), { keys, signal })
  } catch (error) {
    await gateway.close()
    throw error
  }
  return gateway
}

const numbersOf = keys => Array.from({ length: keys }, (_, index) => index)

async function readAll (client, { keys, signal }) {
  await pMap(numbersOf(keys), async index => {
    if (!valueOf(index).equals(await client.get(keyOf(index)))) {
      throw new Error(`${keyOf(index)} is not what was written`)
    }
  }, { concurrency: FLIGHTS, signal })
  await client.close()
}

async function fill (client, { keys, signal }) {
  await pMap(numbersOf(keys), index => client.set(keyOf(index), valueOf(index)), { concurrency: FLIGHTS, signal })
  await client.close()
}
