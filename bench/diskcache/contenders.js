// The contenders of bench/diskcache.js: how each one is started, the options of its workers, and its removal. Each
// round of each contender starts with an empty cache.
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { publish } from '../../loader/couchapp/publish.js'
import { PUBLIC_SECURITY } from '../../loader/store/index.js'
import { LAYER } from '../block.js'
import * as diskcache from '../programs/diskcache.js'
import { startGateway } from '../programs/gateway.js'
import * as memcached from '../programs/memcached.js'
import * as redis from '../programs/redis.js'
import { runningPrograms } from '../programs/running.js'
import { newDatabase, newStore } from '../stoppable.js'
import { MEGABYTES } from './clients/memory.js'
import * as names from './names.js'
import { keys } from './operations.js'

// file system types, as Linux numbers them
const FILE_SYSTEMS =
  { 0x01021994: 'tmpfs: in memory', 0xef53: 'ext4', 0x58465342: 'xfs', 0x9123683e: 'btrfs', 0x794c7630: 'overlayfs' }
const RETRIES = 3 // of a request: few, because the same Ctrl-C may have ended the server
const FANOUT = { shards: 8, timeout: 0.010 } // of the original: one shard per process, timeout in seconds

const fileOf = name => fileURLToPath(new URL(name, import.meta.url))

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {[string, string[]]} command of a worker
 * @property {string} kind of client
 * @property {boolean} [apart] whether each process has its own cache
 * @property {(closing: (() => any)[]) => Promise<any>} open starts its server; closing: receives the clean-up
 */

export async function prepare ({ server, dir, signal, closing, log }) {
  const { addRunning, optional, missing, programs } = runningPrograms({ closing, log })
  const contenders = []
  const node = /** @type {[string, string[]]} */ ([process.execPath, [fileOf('worker.js')]])
  const onDisk = `in a temporary folder (${FILE_SYSTEMS[(await statfs(dir)).type] ?? 'file system unknown'})`
  /**
   * @type {(name: string, kind: string, about: {close?: () => any, version?: string, settings: string}, open:
   *   Contender['open'], more?: Partial<Contender>) => void}
   */
  const add = (name, kind, { close = () => {}, ...program }, open, more = {}) => {
    addRunning(name, { close }, program)
    contenders.push({ name, kind, open, command: node, ...more })
  }
  const folder = async closers => {
    const cacheFolder = await mkdtemp(path.join(dir, 'cache-'))
    closers.push(() => rm(cacheFolder, { recursive: true, force: true, maxRetries: 5 }))
    return cacheFolder
  }

  add(names.GATEWAY, 'gateway', {
    settings: 'gets: tilecouch serve, one process, over HTTP; sets: Store.write of one tile, deletes: of a version ' +
      'that says "gone"; the store with its validation function'
  },
    closers => openStore(`${server}/bench_diskcache`, { signal, ending: closers }))
  add(names.MEMORY, 'memory', {
    settings: `server/gateway/tiles/memory.js called directly, ${MEGABYTES} MB, each process its own`
  }, async () => ({}), { apart: true })
  add(names.COUCH, 'documents', {
    settings: 'no design documents; get: GET of the attachment; set: HEAD for the revision, PUT of the attachment; ' +
      'delete: HEAD, DELETE'
  },
    closers => openDatabase(`${server}/bench_diskcache_documents`, { signal, ending: closers }))

  await optional(names.MEMCACHED, memcached.MISSING, memcached.findMemcached(), async bin => {
    const memcachedServer = await memcached.startMemcached(bin, { memory: MEGABYTES })
    add(names.MEMCACHED, 'memcached', { ...memcachedServer, settings: `${memcachedServer.settings}; memjs` },
      async () => ({ port: memcachedServer.port }))
  })
  await optional(names.REDIS, redis.MISSING, redis.findRedis(), async bin => {
    const redisServer = await redis.startRedis(bin, { dir: path.join(dir, 'redis'), memory: MEGABYTES })
    add(names.REDIS, 'redis', { ...redisServer, settings: `${redisServer.settings}; @redis/client` },
      async () => ({ port: redisServer.port }))
  })
  await optional('DiskCache', diskcache.MISSING, await diskcache.findDiskCache(), async ({
    python, diskcache: version, version: language, sqlite
  }) => {
    for (const [name, cache, options] of /** @type {[string, string, Record<string, number>][]} */ (
      [[names.CACHE, 'Cache', {}], [names.FANOUT, 'FanoutCache', FANOUT]]
    )) {
      const optionText = Object.entries(options).map(([option, value]) => `${option}=${value}`).join(', ')
      add(name, 'diskcache', {
        version, settings: `${cache}(${optionText}), ${onDisk}, Python ${language}, SQLite ${sqlite}`
      },
        async closers => ({ dir: await folder(closers), cache, options, keys }),
        { command: [python, [fileOf('worker.py')]] })
    }
  })
  add(names.FILES, 'files', {
    settings: `${onDisk}; set: write under another name and rename, without fsync; get: read; delete: unlink`
  }, async closers => ({ dir: await folder(closers) }))
  return { contenders, programs, missing }
}

/** A published store with its own gateway. */
async function openStore (db, { signal, ending }) {
  const store = await newStore(db, ending, { public: false, retries: RETRIES })
  await store.defineLayer(LAYER, { name: 'Tiles of a benchmark', format: 'png' })
  await publish(store, { signal })
  const gateway = await startGateway(db, { logLevel: 'warn' }, `/${LAYER}.json`)
  ending.push(gateway.close)
  return { db, url: gateway.url, begun: Date.now() }
}

/** A plain database that anonymous users may read. */
async function openDatabase (db, { signal, ending }) {
  const couch = await newDatabase(db, ending, { retries: RETRIES })
  await couch.request({ method: 'PUT', path: '_security', body: PUBLIC_SECURITY, signal })
  return { db }
}
