// The view indexes of a database: one LevelDB for each distinct set of views, named by their signature as in
// CouchDB, so that two design documents with the same views share one, and a staged index is warm after the swap.
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from '../level.js'
import { META, ViewIndex } from './index.js'

/** What decides the contents of an index. */
export function signatureOf (ddoc) {
  const views = Object.entries(ddoc.views ?? {}).map(([name, view]) => [name, view?.map, view?.reduce])
  return createHash('md5').update(JSON.stringify([views, ddoc.views?.lib, ddoc.language])).digest('hex')
}

export class ViewIndexes {
  /** @param {import('../databases.js').Database} database */
  constructor (database) {
    this.database = database
    /** @type {Map<string, Promise<ViewIndex>>} */
    this.open = new Map()
  }

  get dir () {
    return join(this.database.dir, 'views')
  }

  /** @param {import('../design/runtime.js').DesignRuntime} runtime @returns {Promise<ViewIndex>} */
  get (runtime) {
    const signature = signatureOf(runtime.ddoc)
    const known = this.open.get(signature)
    if (known) return known
    mkdirSync(this.dir, { recursive: true })
    const index = new ViewIndex(this.database, join(this.dir, signature), runtime)
    index.onFailure = () => this.#drop(signature) // the next query opens it again
    const opening = index.start()
    opening.catch(() => this.open.delete(signature))
    this.open.set(signature, opening)
    return opening
  }

  /**
   * Removes the indexes that know of more than there is, as when the documents were put back to an older state: what is written
   * next would never enter them. Before anything is written, since soon the numbers would tell nothing any more.
   * @param {number} seq of the newest document
   */
  async removeAhead (seq) {
    for (const signature of await this.#present()) {
      const path = join(this.dir, signature)
      if (await reachedBy(path) > seq) await rm(path, { recursive: true, force: true })
    }
  }

  /** Their signatures; none before the first was built. */
  async #present () {
    try {
      return await readdir(this.dir)
    } catch (error) {
      if (error.code === 'ENOENT') return []
      throw error
    }
  }

  async #drop (signature) {
    const index = this.open.get(signature)
    this.open.delete(signature)
    await index?.then(one => one.close(), () => {})
  }

  /** Removes the indexes no design document has any more. */
  async cleanup () {
    const wanted = new Set([...(await this.database.designs.all()).values()].map(({ ddoc }) => signatureOf(ddoc)))
    for (const signature of await this.#present()) {
      if (wanted.has(signature)) continue
      await this.#drop(signature)
      await rm(join(this.dir, signature), { recursive: true, force: true })
    }
  }

  async close () {
    await Promise.all([...this.open.keys()].map(signature => this.#drop(signature)))
  }
}

/** The newest document that an index knows of. One that is damaged says so to whoever asks it; the documents are well. */
async function reachedBy (path) {
  const level = new Level(path)
  try {
    await level.open()
    return JSON.parse(await level.get(META) ?? '{}').seq ?? 0
  } catch {
    return 0
  } finally {
    await level.close()
  }
}
