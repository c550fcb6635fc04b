// A store, a gateway and nginx in front of them, for tests of the configurations in deploy/nginx.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { end, freePort, until } from '../../bench/wait.js'
import { Store } from '../../loader/index.js'
import { serve } from './command.js'
import { useFolder } from './folder.js'
import { closeConnections } from './gateway/wire.js'
import { png } from './tiles.js'
import { skip, tools } from './tools.js'
import { publishFunctions } from './published.js'

export const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/** A vector tile as a store keeps it. */
export const mvt = gzipSync(Buffer.from([0x1a, 0x0a, 0x0a, 0x04, 0x61, 0x62, 0x63, 0x64, 0x78, 0x02, 0x28, 0x20]))

/**
 * One store and one gateway for a suite, and an nginx for each test.
 * @param {{database: () => Promise<string>}} backend
 */
export function useStage (backend) {
  let sharedGateway, ownGateway
  const stage = {
    get dir () { return folder.dir },
    store: null,
    url: '',
    nginx: null,

    /** The port of the suite's gateway; with options, of a new gateway for this test. @param {string[]} args */
    async gateway (...args) {
      if (args.length) ownGateway = serve(['--db', stage.url, '--json', ...args])
      return (await (ownGateway ?? sharedGateway).ready()).port
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
      await ownGateway?.stop()
      ownGateway = undefined
    },

    /** Kills the gateway of the test. */
    kill: () => end(ownGateway.child, 'SIGKILL')
  }

  before(async function () {
    if (!findNginx()) skip(this, 'nginx is not installed')
    stage.url = await backend.database()
    const store = stage.store = await Store.create(stage.url)
    await store.defineLayer('osm', { name: 'OSM', format: 'png' })
    await store.defineLayer('roads', { name: 'Roads', format: 'pbf', vector_layers: [] })
    const versionOf = (time, seed, x) => ({ layer: 'osm', z: 4, x, y: 5, time, bytes: png(seed) })
    await store.write([0, 1, 2, 3].map(x => versionOf(T1, 10 + x, x)))
    await store.write([0, 1, 2, 3].map(x => versionOf(T2, 20 + x, x)))
    await store.write([0, 1].map(x => ({ layer: 'roads', z: 4, x, y: 5, time: T1, bytes: mvt })))
    await publishFunctions(store)
    sharedGateway = serve(['--db', stage.url, '--json'])
    await sharedGateway.ready()
  })
  after(async () => {
    await sharedGateway?.stop()
    await stage.store?.destroy()
  })

  afterEach(async () => {
    await stage.nginx?.close()
    await ownGateway?.stop()
    ownGateway = undefined
  })
  const folder = useFolder() // removed when nginx has ended
  return stage
}

export const findNginx = () => tools().find(({ name }) => name === 'nginx')?.found

const nginxFile = name => readFileSync(fileURLToPath(new URL(`../../deploy/nginx/${name}`, import.meta.url)), 'utf8')

/** @param {string} text @param {[string | RegExp, string][]} changes each must match */
function adapt (text, changes) {
  return changes.reduce((config, [from, to]) => {
    const changedConfig = config.replace(from, to)
    if (changedConfig === config) throw new Error(`the configuration has no ${from}`)
    return changedConfig
  }, text)
}

/**
 * Starts Debian's nginx with a configuration of deploy/, adapted as an operator would. It writes all its files into one
 * folder.
 * @param {object} options
 * @param {string} options.dir an existing folder
 * @param {string} [options.file] of deploy/nginx
 * @param {string} [options.text] a configuration instead of a file
 * @param {number[]} [options.gateways] ports
 * @param {[string | RegExp, string][]} [options.changes] further adaptations
 */
export async function startNginx ({ dir, file, text, gateways, changes = [] }) {
  const port = await freePort()
  const pathOf = name => path.join(dir, name)
  for (const name of ['temp', 'cache']) mkdirSync(pathOf(name), { recursive: true })
  writeFileSync(pathOf('tilecouch.conf'), adapt(text ?? nginxFile(file), [
    ...(gateways ? [(['server 127.0.0.1:8080;', gateways.map(gateway => `server 127.0.0.1:${gateway};`).join(' ')])]
      : []),
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ...changes
  ]))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi',
    'scgi'].map(name => `${name}_temp_path ${pathOf('temp')}/${name};`).join('\n')
  writeFileSync(pathOf('nginx.conf'), `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${pathOf('nginx.pid')};
error_log ${pathOf('error.log')} warn;
events { }
http {
${temporary}
log_format test '$request_method $uri $status $upstream_status $upstream_cache_status';
log_subrequest on;
access_log ${pathOf('access.log')} test;
include ${pathOf('tilecouch.conf')};
}
`)
  writeFileSync(pathOf('access.log'), '')
  const child = spawn(findNginx(), ['-p', dir, '-c', pathOf('nginx.conf'), '-e', pathOf('error.log')],
    { stdio: ['ignore', 'inherit', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', part => { complaints += part })
  const base = `http://127.0.0.1:${port}`
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}: ${complaints}`)
    return fetch(`${base}/metrics`).then(answer => answer.status === 404, () => false)
  }, { what: 'nginx to answer' })
  return {
    base,
    /**
     * Logged requests, also those that nginx made by itself: method, path, status, status of the gateway, state of the
     * cache.
     */
    requests: () => readFileSync(pathOf('access.log'), 'utf8').split('\n').filter(Boolean).map(line => line.split(' ')),
    errors: () => readFileSync(pathOf('error.log'), 'utf8'),
    close: () => end(child, 'SIGTERM')
  }
}
