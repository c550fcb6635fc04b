// The store as those see it who keep one tile each: what many of them write, extend and look up goes out together.
import { ownError } from './flight.js'
import { Collector } from './collect.js'

export const queueDefaults = {
  wait: 10, // milliseconds that writes wait for company
  most: 200, // tiles that are written together
  atOnce: 2 // writes under way
}

/** @typedef {import('../../loader/store/index.js').Store} Store */

export class StoreQueue {
  #writes
  #extensions
  #docs

  /**
   * @param {Store} store
   * @param {{signal?: AbortSignal, limits?: Partial<typeof queueDefaults>}} [options] signal: gives up what is under way
   */
  constructor (store, { signal, limits } = {}) {
    const options = { ...queueDefaults, ...limits }
    this.url = store.url
    this.#writes = new Collector(calls => writeAll(store, calls, signal), options)
    this.#extensions = new Collector(async calls => {
      const summary = await store.extend(calls.flat(), { signal })
      return calls.map(() => summary)
    }, options)
    this.#docs = new Collector(async calls => {
      const rows = await store.couch.docs([...new Set(calls.flat())], { signal })
      const byId = new Map(rows.map(row => [row.id, row]))
      return calls.map(ids => ids.map(id => byId.get(id)))
    }, { ...options, wait: 0 })
    this.couch = { docs: ids => ids.length ? this.#own(this.#docs, ids, ids.length) : Promise.resolve([]) }
  }

  /**
   * @param {import('../../loader/store/tile.js').NewVersion[]} versions
   * @param {{stored?: string, onFailure?: (failure: {id: string, code: string, reason: string}) => void}} [options] others of Store.write are of no use here
   */
  write (versions, { stored, onFailure } = {}) {
    return this.#own(this.#writes, { versions, stored, onFailure }, versions.length)
  }

  /** @param {import('../../loader/store/extend.js').Extension[]} extensions */
  extend (extensions) {
    return extensions.length ? this.#own(this.#extensions, extensions, extensions.length) : Promise.resolve({ extended: new Map(), changed: [] })
  }

  async drain () {
    await Promise.all([this.#writes, this.#extensions, this.#docs].map(queue => queue.drain()))
  }

  async #own (queue, call, weight) {
    try {
      return await queue.add(call, weight)
    } catch (error) {
      throw ownError(error)
    }
  }
}

/** One write for each second in which something was fetched. */
async function writeAll (store, calls, signal) {
  const bySecond = new Map()
  for (const call of calls) bySecond.set(call.stored, [...bySecond.get(call.stored) ?? [], call])
  for (const [stored, group] of bySecond) {
    const owners = new Map(group.flatMap(({ versions, onFailure }) => versions.map(({ layer, z, x, y }) => [`${layer}:${z}:${x}:${y}`, onFailure])))
    const versions = group.flatMap(call => call.versions).sort((a, b) => a.id < b.id ? -1 : 1)
    await store.write(versions, { stored, concurrency: 1, signal, onFailure: failure => owners.get(failure.id)?.(failure) })
  }
  return calls.map(() => undefined)
}
