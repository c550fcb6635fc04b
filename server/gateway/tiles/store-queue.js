// Sends the writes, extensions and look-ups of single tiles to the store together. It has the methods of Store that
// loader/load/upstream/save.js uses.
import { copyError } from '../shared-work.js'
import { Batches } from './batches.js'

const queueDefaults = {
  wait: 10, // milliseconds that writes wait for others
  most: 200, // tiles that are written together
  atOnce: 2 // writes under way
}

export class StoreQueue {
  #writes
  #extensions
  #docs

  /** @param {import('../../../loader/store/index.js').Store} store @param {AbortSignal} signal aborts the requests */
  constructor (store, signal) {
    this.url = store.url
    this.#writes = new CallQueue(calls => writeAll(store, calls, signal))
    this.#extensions = new CallQueue(async calls => {
      const summary = await store.extend(calls.flat(), { signal })
      return calls.map(() => summary)
    })
    this.#docs = new CallQueue(async calls => {
      const rows = await store.couch.docs([...new Set(calls.flat())], { signal })
      const byId = new Map(rows.map(row => [row.id, row]))
      return calls.map(ids => ids.map(id => byId.get(id)))
    }, { wait: 0 })
    this.couch = { docs: async ids => ids.length ? this.#docs.call(ids, ids.length) : [] }
  }

  /**
   * @param {import('../../../loader/store/tile.js').NewVersion[]} versions
   * @param {{stored?: string, onFailure?: (failure: {id: string, code: string, reason: string}) => void}} [options]
   */
  async write (versions, { stored, onFailure } = {}) {
    return this.#writes.call({ versions, stored, onFailure }, versions.length)
  }

  async extend (extensions) {
    if (!extensions.length) return { extended: new Map(), changed: [] }
    return this.#extensions.call(extensions, extensions.length)
  }

  async drain () {
    await Promise.all([this.#writes, this.#extensions, this.#docs].map(queue => queue.drain()))
  }
}

/** Calls that are sent together, each with its own answer. @extends {Batches<any>} */
class CallQueue extends Batches {
  /**
   * @param {(calls: any[]) => Promise<any[]>} send returns one answer for each call
   * @param {Partial<typeof queueDefaults>} [options]
   */
  constructor (send, options) {
    super(async calls => {
      try {
        const answers = await send(calls.map(({ call }) => call))
        calls.forEach(({ resolve }, index) => resolve(answers[index]))
      } catch (error) {
        for (const { reject } of calls) reject(copyError(error))
      }
    }, { ...queueDefaults, ...options })
  }

  call (call, weight) {
    return new Promise((resolve, reject) => { this.add({ call, resolve, reject }, weight) })
  }
}

/** Makes one write for each second in which tiles were fetched. */
async function writeAll (store, calls, signal) {
  const bySecond = new Map()
  for (const call of calls) bySecond.set(call.stored, [...bySecond.get(call.stored) ?? [], call])
  for (const [stored, group] of bySecond) {
    const listeners = new Map(group.flatMap(({ versions, onFailure }) =>
      versions.map(({ layer, z, x, y }) => [`${layer}:${z}:${x}:${y}`, onFailure])))
    const versions = group.flatMap(call => call.versions).sort((a, b) => a.id < b.id ? -1 : 1)
    const onFailure = failure => listeners.get(failure.id)?.(failure)
    await store.write(versions, { stored, concurrency: 1, signal, onFailure })
  }
  return calls.map(() => undefined)
}
