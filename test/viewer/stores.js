// Opens stores for the tests of the viewer: an embedded store, and a CouchDB if there is one.
import { rmSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sharePromise } from '../../core/promises.js'
import { Store } from '../../loader/index.js'
import { VIEWER_CSP } from '../../loader/couchapp/policy.js'
import { findEmbedded } from '../../loader/store/embedded.js'
import { up } from '../../server/index.js'
import { couchDb } from '../support/backends.js'

export const SMALL = { zooms: { min: 0, max: 2 }, hours: 5, surveys: 0 }

/**
 * Folders that `up` has filled and published, by its options. Suites begin with copies of them, which takes less time
 * than to draw and publish everything again.
 * @type {Map<string, Promise<string>>}
 */
const templates = new Map()

const open = (folder, options) => up({ data: folder, port: 0, env: {}, demoSize: SMALL, ...options })

async function makeTemplate (options) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await (await open(folder, options)).close()
  return folder
}

export async function embeddedStore (options = {}) {
  const template = await sharePromise(templates, JSON.stringify(options), () => makeTemplate(options))
  const folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-viewer-'))
  await cp(template, folder, { recursive: true })
  const running = await open(folder, options)
  return {
    url: running.url,
    viewer: running.viewer,
    // with the name and password of its admin
    database: running.url.replace(/^http:..[^/]+/, /** @type {string} */ (await findEmbedded(folder))),
    async close () {
      await running.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

export const CSP = 'csp/attachments_header_value'

/**
 * Changes settings of a CouchDB.
 * @param {string} database URL
 * @param {Record<string, string | null>} settings null: its default
 * @returns {Promise<() => Promise<void>>} restores the previous settings
 */
export async function configure (database, settings) {
  const { couch } = await Store.open(database)
  const before = {}
  for (const [key, value] of Object.entries(settings)) {
    const send = request => couch.request({ path: `_node/_local/_config/${key}`, server: true, raw: true, ...request })
    before[key] = await send({ parse: bytes => JSON.parse(bytes.toString()) })
      .catch(error => { if (error.details?.status === 404) return null; throw error })
    await send(value === null ? { method: 'DELETE' } : { method: 'PUT', body: JSON.stringify(value) })
  }
  return async () => { await configure(database, before) }
}

async function couchStore (options = {}) {
  const database = await couchDb.database()
  const running = await up({ db: database, demoSize: SMALL, ...options })
  const restore = await configure(database, { [CSP]: VIEWER_CSP })
  return {
    url: running.url,
    viewer: running.viewer,
    database,
    forbidScripts: () => configure(database, { [CSP]: 'sandbox' }), // the default of CouchDB
    allowScripts: () => configure(database, { [CSP]: VIEWER_CSP }),
    async close () {
      await restore()
      await (await Store.open(database)).destroy()
    }
  }
}

export const kinds = [
  { name: 'the embedded store', open: embeddedStore },
  ...(couchDb ? [{ name: 'CouchDB', open: couchStore }] : [])
]
