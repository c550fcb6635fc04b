// Who takes part: how it is started, what its workers are told, and what is removed afterwards. Each round of each
// finds nothing of the one before.
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

// by the numbers of Linux
const FILE_SYSTEMS =
  { 0x01021994: 'tmpfs: in memory', 0xef53: 'ext4', 0x58465342: 'xfs', 0x9123683e: 'btrfs', 0x794c7630: 'overlayfs' }
const RETRIES = 3 // of a request: a server that went with the same Ctrl-C is not waited for
const FANOUT = { shards: 8, timeout: 0.010 } // of the original: a shard a process, seconds

const fileOf = name => fileURLToPath(new URL(name, import.meta.url))

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {[string, string[]]} command of a worker
 * @property {string} kind of client
 * @property {boolean} [apart] whether each process has something of its own, and nothing is shared
 * @property {(closing: (() => any)[]) => Promise<any>} open what workers connect to; closing: told how to remove it
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
  const add = (name, kind, { close = () => {}, ...about }, open, more = {}) => {
    addRunning(name, { close }, about)
    contenders.push({ name, kind, open, command: node, ...more })
  }
  const folder = async ending => {
    const own = await mkdtemp(path.join(dir, 'cache-'))
    ending.push(() => rm(own, { recursive: true, force: true, maxRetries: 5 }))
    return own
  }

  add(names.GATEWAY, 'gateway', {
    settings: 'gets: tilecouch serve, one process, over HTTP; sets: Store.write of one tile, deletes: of a version ' +
      'that says "gone"; the store with its validation function'
  },
    ending => openStore(`${server}/bench_diskcache`, { signal, ending }))
  add(names.MEMORY, 'memory', {
    settings: `server/gateway/tiles/memory.js called directly, ${MEGABYTES} MB, each process its own`
  }, async () => ({}), { apart: true })
  add(names.COUCH, 'documents', {
    settings: 'no design documents; get: GET of the attachment; set: HEAD for the revision, PUT of the attachment; ' +
      'delete: HEAD, DELETE'
  },
    ending => openDatabase(`${server}/bench_diskcache_documents`, { signal, ending }))

  await optional(names.MEMCACHED, memcached.MISSING, memcached.findMemcached(), async bin => {
    const running = await memcached.startMemcached(bin, { memory: MEGABYTES })
    add(names.MEMCACHED, 'memcached', { ...running, settings: `${running.settings}; memjs` },
      async () => ({ port: running.port }))
  })
  await optional(names.REDIS, redis.MISSING, redis.findRedis(), async bin => {
    const running = await redis.startRedis(bin, { dir: path.join(dir, 'redis'), memory: MEGABYTES })
    add(names.REDIS, 'redis', { ...running, settings: `${running.settings}; @redis/client` },
      async () => ({ port: running.port }))
  })
  await optional('DiskCache', diskcache.MISSING, await diskcache.findDiskCache(), async ({
    python, diskcache: version, version: language, sqlite
  }) => {
    for (const [name, cache, options] of /** @type {[string, string, Record<string, number>][]} */ (
      [[names.CACHE, 'Cache', {}], [names.FANOUT, 'FanoutCache', FANOUT]]
    )) {
      const given = Object.entries(options).map(([option, value]) => `${option}=${value}`).join(', ')
      add(name, 'diskcache', {
        version, settings: `${cache}(${given}), ${onDisk}, Python ${language}, SQLite ${sqlite}`
      },
        async ending => ({ dir: await folder(ending), cache, options, keys }),
        { command: [python, [fileOf('worker.py')]] })
    }
  })
  add(names.FILES, 'files', {
    settings: `${onDisk}; set: write under another name and rename, without fsync; get: read; delete: unlink`
  }, async ending => ({ dir: await folder(ending) }))
  return { contenders, programs, missing }
}

/** A store as `tilecouch` leaves it, with a gateway of its own. */
async function openStore (db, { signal, ending }) {
  const store = await newStore(db, ending, { public: false, retries: RETRIES })
  await store.defineLayer(LAYER, { name: 'Tiles of a benchmark', format: 'png' })
  await publish(store, { signal })
  const gateway = await startGateway(db, { logLevel: 'warn' }, `/${LAYER}.json`)
  ending.push(gateway.close)
  return { db, url: gateway.url, begun: Date.now() }
}

/** A database that everybody may read, as plain as it can be. */
async function openDatabase (db, { signal, ending }) {
  const couch = await newDatabase(db, ending, { retries: RETRIES })
  await couch.request({ method: 'PUT', path: '_security', body: PUBLIC_SECURITY, signal })
  return { db }
}
