// A store, a gateway and nginx before it, for the tests of the configurations of deploy/nginx.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { end } from '../../bench/wait.js'
import { Store } from '../../loader/index.js'
import { serve } from './command.js'
import { closeConnections } from './gateway/wire.js'
import { png } from './tiles.js'
import { skip } from './tools.js'
import { findNginx, startNginx } from '../deploy/nginx.js'
import { publishFunctions } from './published.js'

export const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/** A vector tile as the store has it. */
export const mvt = gzipSync(Buffer.from([0x1a, 0x0a, 0x0a, 0x04, 0x61, 0x62, 0x63, 0x64, 0x78, 0x02, 0x28, 0x20]))

/**
 * One store and one gateway for a suite, and an nginx for each test.
 * @param {{database: () => Promise<string>}} backend
 */
export function useStage (backend) {
  let shared
  let own
  const stage = {
    dir: '',
    store: null,
    url: '',
    nginx: null,

    /** The port of the gateway: that of the suite, or with options one of the test's own. @param {string[]} args */
    async gateway (...args) {
      if (args.length) own = serve(['--db', stage.url, '--json', ...args])
      return (await (own ?? shared).ready()).port
    },

    async start (options) {
      stage.nginx = await startNginx({ dir: stage.dir, ...options })
    },

    async get (address, options) {
      const answer = await fetch(stage.nginx.base + address, options)
      return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
    },

    async endOwn () {
      closeConnections()
      await own?.stop()
      own = undefined
    },

    /** Ends the gateway of the test without a word. */
    kill: () => end(own.child, 'SIGKILL')
  }

  before(async function () {
    if (!findNginx()) skip(this, 'nginx is not installed')
    stage.url = await backend.database()
    const store = stage.store = await Store.create(stage.url)
    await store.defineLayer('osm', { name: 'OSM', format: 'png' })
    await store.defineLayer('roads', { name: 'Roads', format: 'pbf', vector_layers: [] })
    const at = (time, seed, x) => ({ layer: 'osm', z: 4, x, y: 5, time, bytes: png(seed) })
    await store.write([0, 1, 2, 3].map(x => at(T1, 10 + x, x)))
    await store.write([0, 1, 2, 3].map(x => at(T2, 20 + x, x)))
    await store.write([0, 1].map(x => ({ layer: 'roads', z: 4, x, y: 5, time: T1, bytes: mvt })))
    await publishFunctions(store)
    shared = serve(['--db', stage.url, '--json'])
    await shared.ready()
  })
  after(async () => {
    await shared?.stop()
    await stage.store?.destroy()
  })

  beforeEach(() => { stage.dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-nginx-')) })
  afterEach(async () => {
    await stage.nginx?.close()
    await own?.stop()
    own = undefined
    rmSync(stage.dir, { recursive: true, force: true })
  })
  return stage
}
