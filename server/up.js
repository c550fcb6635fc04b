// `tilecouch up`: opens a store, loads the demo into an empty one, publishes it, and returns the addresses to open.
import { shared } from '../core/promises.js'
import { checkNamed, databaseAt, resolveDatabase } from '../loader/couchapp/environments.js'
import { runsViewer } from '../loader/couchapp/policy.js'
import { Store, publish, warmIndexes } from '../loader/index.js'
import { isDemoWanted, loadDemo } from './demo/index.js'
import { findEmbedded, startEmbedded } from './embedded/index.js'
import { NO_EXAMPLE, exampleIn } from './example.js'

const PORT = 5984 // the port of CouchDB, which its clients expect
const PORTS = 20 // tried one after the other
const OCCUPANT_TIMEOUT = 1000 // milliseconds that the program at the usual port has to answer

const REWRITE = '_design/tiles/_rewrite/'

/**
 * @param {object} [options]
 * @param {string} [options.db] environment, URL or name of a CouchDB (default: COUCHDB_URL or the embedded store)
 * @param {string} [options.data] where the embedded store keeps its data
 * @param {number} [options.port] (default: 5984 or the next free port)
 * @param {boolean} [options.demo] load the demo into an empty store
 * @param {Parameters<typeof loadDemo>[1]} [options.demoSize] a smaller demo, for tests
 * @param {AbortSignal} [options.signal]
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {(event: {step: string, [detail: string]: any}) => void} [options.onProgress]
 */
export async function up ({
  db, data = './data', port, demo = true, demoSize, signal, env = process.env, onProgress = () => {}
} = {}) {
  // the environment "default" is for deploying, not for a demo
  const environmentUrl = () => env.COUCHDB_URL ? checkNamed(env.COUCHDB_URL) : null
  const databaseUrl = db ? await resolveDatabase(db, { env }) : environmentUrl()
  const server = databaseUrl ? null : await openEmbedded(data, { port })
  const close = async () => server?.close()
  try {
    const store = await Store.create(databaseUrl ?? databaseAt(String(server?.url)), { public: false })
    onProgress({ step: 'server', url: store.url })
    const viewer = `${store.url}/${REWRITE}`
    const onIndex = event => { if (event.total) onProgress({ ...event, step: 'index' }) }

    const publishOnce = shared(() => {
      onProgress({ step: 'push' })
      return publish(store, { signal, onProgress: onIndex })
    })

    async function deploy () {
      const { opened } = await publishOnce()
      onProgress({ step: 'index' })
      await warmIndexes(store, { signal, onProgress: onIndex })
      return opened
    }

    // a CouchDB is filled before it is published: there, validation halves the speed of a load
    const loaded = demo && await isDemoWanted(store)
      ? await loadDemo(store, {
        ...demoSize, signal, onProgress: event => onProgress({ step: 'demo', ...event }),
        onFirstLayer: databaseUrl ? undefined : () => deploy().then(() => onProgress({ step: 'viewable', viewer }))
      })
      : null
    const opened = await deploy()
    onProgress({ step: 'ready' })
    return {
      url: store.url, // of the database, without any password
      embedded: !databaseUrl,
      started: Boolean(server?.started), // this call started the server, and `close` stops it
      taken: server?.taken ?? null, // why it has not the usual port
      opened, // this call let everybody read the store
      viewer,
      admin: `${viewer}admin`, // the control room
      ...await addressTemplates(store, viewer),
      blocked: await isBlocked(viewer), // browsers do not run the viewer from this server
      demo: loaded, // null: nothing was loaded
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Returns the running server of a folder, or starts a new one. Its address contains the name and password of the admin.
 * @param {string} dir
 * @param {{port?: number}} [options] port: only this port
 * @returns {Promise<{url: string, started: boolean, taken?: {port: number, by: string}, close: () => Promise<void>}>}
 *   by: in words
 */
export async function openEmbedded (dir, { port } = {}) {
  const running = await findEmbedded(dir)
  if (running) return { url: running, started: false, close: async () => {} }
  for (let candidate = port ?? PORT; ; candidate++) {
    try {
      const { adminUrl: url, close } = await startEmbedded({ dir, port: candidate })
      const taken = candidate === (port ?? PORT) ? undefined : { port: PORT, by: await occupantOf(PORT) }
      return { url, started: true, taken, close }
    } catch (error) {
      if (error.code !== 'PORT_IN_USE' || port !== undefined || candidate >= PORT + PORTS) throw error
    }
  }
}

/** Describes the program that listens on a port of this machine. */
async function occupantOf (port) {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(OCCUPANT_TIMEOUT) })
    const { couchdb, vendor } = /** @type {any} */ (await answer.json())
    const isEmbedded = String(vendor?.name).startsWith('tilecouch')
    if (couchdb) return isEmbedded ? 'the embedded store of another folder' : 'a CouchDB'
  } catch {
    // it does not speak HTTP, or no JSON
  }
  return 'another program'
}

/** Returns the tile addresses of a stored layer. */
async function addressTemplates (store, viewer) {
  const daylight = await exampleIn(store, ({ layer: name }) => name === 'daylight')
  const { layer, format, time } = daylight ?? await exampleIn(store) ?? NO_EXAMPLE
  const template = reference => `${viewer}${reference}/{z}/{x}/{y}.${format}`
  return { tiles: template(layer), asOf: template(`${layer}@${time}`) }
}

/** A stock CouchDB sends attachments with the policy `sandbox`: no script runs. */
async function isBlocked (viewer) {
  const answer = await fetch(viewer).catch(() => null)
  await answer?.body?.cancel()
  return answer !== null && !await runsViewer(answer.headers.get('content-security-policy'))
}
