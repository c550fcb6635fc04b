// Design documents of a database, read once for each change and not once for each document, which would make a bulk
// load quadratic.
import { notFound } from '../errors.js'
import { DesignRuntime } from './runtime.js'

export class DesignCache {
  /** @param {import('../databases.js').Database} database @param {import('./threads.js').DesignThreads} threads */
  constructor (database, threads) {
    this.database = database
    this.threads = threads
    /** @type {Promise<Map<string, DesignRuntime>> | null} */
    this.loaded = null
  }

  /** Called when a design document was written. */
  invalidate () {
    this.loaded = null
  }

  async #load () {
    const { rows } = await this.database.pouch.allDocs({ startkey: '_design/', endkey: '_design0', include_docs: true })
    return new Map(rows.map(({ doc }) => [doc._id, new DesignRuntime(doc, this.threads)]))
  }

  async all () {
    if (!this.loaded) {
      const loading = this.#load()
      loading.catch(() => { if (this.loaded === loading) this.loaded = null })
      this.loaded = loading
    }
    return this.loaded
  }

  /** @returns {Promise<DesignRuntime>} */
  async get (name) {
    const runtime = (await this.all()).get(`_design/${name}`)
    if (!runtime) throw notFound('missing')
    return runtime
  }

  /** The design documents that validate. */
  async validators () {
    return [...(await this.all()).values()].filter(({ ddoc }) => typeof ddoc.validate_doc_update === 'string')
  }
}

/** The source of a design function such as shows/tilejson. */
export function functionOf (ddoc, group, name) {
  const source = Object.hasOwn(ddoc[group] ?? {}, name) ? ddoc[group][name] : undefined
  if (typeof source !== 'string') throw notFound(`missing json key: ${name}`)
  return source
}
