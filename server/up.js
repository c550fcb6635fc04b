// From nothing to a map: a store, something in it, the design documents, and the addresses to open.
import { DEFAULT_DATABASE, resolveDatabase, withDatabase } from '../loader/couchapp/environments.js'
import { runsViewer } from '../loader/couchapp/policy.js'
import { Store, publish, warmIndexes } from '../loader/index.js'
import { isDemoWanted, loadDemo } from './demo/index.js'
import { findEmbedded, startEmbedded } from './embedded/index.js'

export const PORT = 5984 // CouchDB's own, so that what is written for CouchDB finds it
const PORTS = 20 // tried one after the other

const REWRITE = '_design/tiles/_rewrite/'

/**
 * @typedef {object} Running
 * @property {string} url of the database, without any password
 * @property {boolean} embedded
 * @property {boolean} started whether this call started the server: then `close` ends it
 * @property {string} viewer
 * @property {string} tiles XYZ template of a layer
 * @property {string} asOf template of the same layer at a time
 * @property {boolean} blocked the server forbids the viewer's scripts
 * @property {{tiles: number, bytes: number, editions: number} | null} demo what was loaded now
 * @property {() => Promise<void>} close
 */

/**
 * @param {object} [options]
 * @param {string} [options.db] environment, URL or name of a CouchDB; else COUCHDB_URL, else the embedded store
 * @param {string} [options.data] where the embedded store keeps its data
 * @param {number} [options.port] 5984 or the next free one unless given
 * @param {string} [options.host]
 * @param {boolean} [options.demo] load the demo into an empty store
 * @param {Parameters<typeof loadDemo>[1]} [options.demoSize] a smaller demo, for tests
 * @param {AbortSignal} [options.signal]
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {(event: {step: 'server' | 'demo' | 'push' | 'index' | 'ready', url?: string, title?: string, layer?: string, done?: number, editions?: number, tiles?: number}) => void} [options.onProgress]
 * @returns {Promise<Running>}
 */
export async function up ({ db, data = './data', port, host, demo = true, demoSize, signal, env = process.env, onProgress = () => {} } = {}) {
  // an environment called "default" is for deploying: who starts a demo did not mean it
  const named = db ? await resolveDatabase(db, { env }) : env.COUCHDB_URL ? withDatabase(env.COUCHDB_URL) : null
  const server = named ? null : await openEmbedded(data, { port, host })
  const close = async () => server?.close()
  try {
    const store = await Store.create(named ?? `${server?.url}/${DEFAULT_DATABASE}`, { public: false })
    onProgress({ step: 'server', url: store.url })
    // filled before it is published: validation costs a load half its speed on CouchDB
    const loaded = demo && await isDemoWanted(store)
      ? await loadDemo(store, { ...demoSize, signal, onProgress: event => onProgress({ step: 'demo', ...event }) })
      : null
    onProgress({ step: 'push' })
    await publish(store, { signal })
    onProgress({ step: 'index' })
    await warmIndexes(store, { signal })
    onProgress({ step: 'ready' })
    const viewer = `${store.url}/${REWRITE}`
    return {
      url: store.url,
      embedded: !named,
      started: Boolean(server?.started),
      viewer,
      ...await templates(store, viewer),
      blocked: await isBlocked(viewer),
      demo: loaded,
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * The server of a folder: the one that runs, or a new one. Its address has the name and password of the folder's admin.
 * @param {string} dir
 * @param {{port?: number, host?: string}} [options] port: exactly this one
 */
export async function openEmbedded (dir, { port, host } = {}) {
  const running = await findEmbedded(dir)
  if (running) return { url: running, started: false, close: async () => {} }
  for (let candidate = port ?? PORT; ; candidate++) {
    try {
      const { adminUrl: url, close } = await startEmbedded({ dir, port: candidate, host })
      return { url, started: true, close }
    } catch (error) {
      if (error.code !== 'PORT_IN_USE' || port !== undefined || candidate >= PORT + PORTS) throw error
    }
  }
}

/** Addresses to try, of a layer that is there. */
async function templates (store, viewer) {
  const layers = await store.layers()
  const { layer, format = 'png' } = layers.find(found => found.layer === 'daylight') ?? layers[0] ?? { layer: 'LAYER' }
  const editions = layers.length ? await store.editions(layer) : []
  const { time = 'TIME' } = editions[editions.length >> 1] ?? {}
  const template = reference => `${viewer}${reference}/{z}/{x}/{y}.${format}`
  return { tiles: template(layer), asOf: template(`${layer}@${time}`) }
}

/** A stock CouchDB serves attachments in a sandbox, in which no script runs. */
async function isBlocked (viewer) {
  const answer = await fetch(viewer).catch(() => null)
  await answer?.body?.cancel()
  return answer !== null && !await runsViewer(answer.headers.get('content-security-policy'))
}
