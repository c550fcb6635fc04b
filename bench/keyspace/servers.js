// Everything that keeps the values, each started once and kept running for the whole benchmark. What is not installed is named.
import { createRequire } from 'node:module'
import path from 'node:path'
import pMap from 'p-map'
import { Store } from '../../loader/store/index.js'
import { LAYER } from '../block.js'
import { openCouchDb } from '../clients/couchdb.js'
import { openHttp } from '../clients/http.js'
import { openMemcached } from '../clients/memcached.js'
import { openRedis } from '../clients/redis.js'
import { deploy } from '../history/data.js'
import { startGateway } from '../programs/gateway.js'
import * as memcached from '../programs/memcached.js'
import * as redis from '../programs/redis.js'
import { dropping } from '../stoppable.js'
import { pathOfTile } from './paths.js'
import { BATCH, TIME, ZOOM, keyOf, valueOf } from './workload.js'

const MEMORY = 4096 // megabytes that each may take, more than is ever written: nothing is thrown out
const FLIGHTS = 8 // calls at a time while the first values are written

const CLIENTS = ['memjs', '@redis/client', 'undici']
const versionOf = name => createRequire(import.meta.url)(`${name}/package.json`).version

/** @typedef {{url: string, keys: number, dir: string, signal: AbortSignal, closing: (() => any)[], log: (text: string) => void}} Options keys: values that are there from the start */

/** @param {Options} options url: of the database, with what it takes to write */
export async function startServers (options) {
  const { dir, closing, log } = options
  /** @type {Record<string, string>} name -> why */
  const missing = {}
  /** @type {Record<string, {version?: string, settings: string}>} */
  const programs = {
    'load generator': { version: process.version, settings: `worker threads of one Node process; ${CLIENTS.map(name => `${name} ${versionOf(name)}`).join(', ')}` },
    CouchDB: { settings: 'a published store: design documents and time index, without the validation function' }
  }
  /** @type {<T extends {close: () => any, version?: string, settings: string}>(name: string, running: T) => T} */
  const keep = (name, running) => {
    closing.push(running.close)
    programs[name] = { ...(running.version && { version: running.version }), settings: running.settings }
    log(`  ${name}${running.version ? ` ${running.version}` : ''}: ${running.settings}`)
    return running
  }
  const store = await startStore(options)
  const gateway = keep('gateway', await startHotGateway(options))
  const found = { memcached: memcached.findMemcached(), Redis: redis.findRedis() }
  const caches = {
    ...(found.memcached && { memcached: keep('memcached', await memcached.startMemcached(found.memcached, { memory: MEMORY })) }),
    ...(found.Redis && { Redis: keep('Redis', await redis.startRedis(found.Redis, { dir: path.join(dir, 'redis'), memory: MEMORY })) })
  }
  if (caches.memcached) await fill(await openMemcached(caches.memcached), options)
  else missing.memcached = memcached.MISSING
  if (caches.Redis) await fill(await openRedis(caches.Redis), options)
  else missing.Redis = redis.MISSING
  for (const [name, why] of Object.entries(missing)) log(`  ${name}: not measured, ${why}`)
  return { store, gateway, caches, programs, missing }
}

/** A published store with the first values. @param {Options} options */
async function startStore ({ url, keys, signal, closing }) {
  await (await Store.create(url)).destroy() // of a run that was killed
  const store = await Store.create(url, { public: false })
  closing.push(dropping(store))
  await store.defineLayer(LAYER, { name: 'Tiles of a benchmark', format: 'png', minzoom: ZOOM, maxzoom: ZOOM })
  const client = await openCouchDb({ url, time: TIME })
  const numbers = Array.from({ length: Math.ceil(keys / BATCH) }, (_, batch) => batch * BATCH)
  await pMap(numbers, first => client.setMany(Array.from({ length: Math.min(BATCH, keys - first) }, (_, at) => [keyOf(first + at), valueOf(first + at)])), { concurrency: FLIGHTS, signal })
  await deploy(store, { signal })
  return store
}

/** One process with the first values in memory already. @param {Options} options */
async function startHotGateway ({ url, keys, signal }) {
  const running = await startGateway(url, { memory: `${MEMORY}MB`, 'max-age': '1d', 'log-level': 'warn' }, pathOfTile(keyOf(0)))
  try {
    await readAll(await openHttp({ url: running.url, pathOf: pathOfTile }), { keys, signal })
  } catch (error) {
    await running.close()
    throw error
  }
  return running
}

const numbersOf = keys => Array.from({ length: keys }, (_, index) => index)

async function readAll (client, { keys, signal }) {
  await pMap(numbersOf(keys), async index => {
    if (!valueOf(index).equals(await client.get(keyOf(index)))) throw new Error(`${keyOf(index)} is not what was written`)
  }, { concurrency: FLIGHTS, signal })
  await client.close()
}

async function fill (client, { keys, signal }) {
  await pMap(numbersOf(keys), index => client.set(keyOf(index), valueOf(index)), { concurrency: FLIGHTS, signal })
  await client.close()
}
