// A store in memory on which several programs run at once, one request at a time, in a seeded random order. Each
// program may be killed before any request. lives.test.js uses it.
import { MemoryCouch } from '../resolve/memory-couch.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { TilecouchError, compareIds } from '../../core/index.js'

class Killed extends TilecouchError {
  constructor () { super('ABORTED') }
}

/** Schedules the requests of several programs, one at a time. */
export class Turns {
  /** @type {{process: any, go: (value?: any) => void, stop: (error: Error) => void}[]} */
  #waiting = []

  /** @param {() => number} rnd */
  constructor (rnd) {
    this.rnd = rnd
  }

  /** @param {any} process */
  wait (process) {
    if (process.dead) return Promise.reject(new Killed())
    return new Promise((resolve, reject) => { this.#waiting.push({ process, go: resolve, stop: reject }) })
  }

  /**
   * Runs programs until all have ended. A killed program is run again from its beginning.
   * @param {((process: any) => Promise<any>)[]} programs @param {number} kills of each program at most
   */
  async run (programs, kills = 0) {
    let running = 0
    const failures = []
    const start = (program, left) => {
      const process = { dead: false, left }
      running++
      program(process).then(() => { running-- }, error => {
        running--
        if (process.dead) start(program, process.left - 1)
        else failures.push(error)
      })
    }
    for (const program of programs) start(program, kills)
    for (let idle = 0; running && idle < 2000;) {
      await new Promise(resolve => { setImmediate(resolve) })
      if (!this.#waiting.length) {
        idle++ // something waits for a timer
        continue
      }
      idle = 0
      for (let steps = this.rnd() < 0.3 ? 12 : 1, lastProcess; steps && this.#waiting.length; steps--) {
        const index = lastProcess ? this.#waiting.findIndex(({ process }) => process === lastProcess)
          : Math.floor(this.rnd() * this.#waiting.length)
        if (index < 0) break
        const [{ process, go, stop }] = this.#waiting.splice(index, 1)
        lastProcess = process
        if (process.left > 0 && this.rnd() < 0.03) {
          process.dead = true
          stop(new Killed())
          for (const waiter of this.#waiting.filter(entry => entry.process === process)) waiter.stop(new Killed())
          this.#waiting = this.#waiting.filter(waiter => waiter.process !== process)
          break
        }
        go()
        await new Promise(resolve => { setImmediate(resolve) })
      }
    }
    if (failures.length) throw failures[0]
    if (running) throw new Error('a program never ends')
  }
}

/** Adds requests for single documents, the change feed and a view to a database in memory. */
export class Database extends MemoryCouch {
  seq = 0
  /** @type {Map<string, number>} */
  changed = new Map()

  async request (request) {
    const { method = 'GET', path, qs = {}, body } = request
    if (path === '') return { doc_count: this.docs_.size, update_seq: this.seq, instance_start_time: this.name }
    if (path === '_changes') {
      const rows = [...this.changed].filter(([, seq]) => seq > +qs.since).sort(([, a], [, b]) => a - b)
      return {
        results: rows.map(([id, seq]) => ({ id, seq, changes: [{ rev: this.leavesAt(id)[0].rev }] })),
        last_seq: this.seq
      }
    }
    if (method === 'PUT' && !path.startsWith('_local/')) {
      const [
        answer
      ] = await this.request(
        { method: 'POST', path: '_bulk_docs', body: {
          docs: [{ ...JSON.parse(JSON.stringify(body)), _id: decodeURIComponent(path) }]
        } }
      )
      if (answer?.error) {
        throw new TilecouchError('COUCHDB_ERROR',
          { status: answer.error === 'conflict' ? 409 : 403, reason: answer.reason })
      }
      return answer
    }
    if (path === '_design/versions/_view/by_time/queries') {
      return { results: body.queries.map(query => ({ rows: this.#byTime(query) })) }
    }
    const leavesBefore = path === '_bulk_docs' ? this.#leaves() : undefined
    const answer = await super.request(request)
    if (leavesBefore) for (const [id, leaves] of this.#leaves()) if (leavesBefore.get(id) !== leaves) {
      this.changed.set(id, ++this.seq)
    }
    return answer
  }

  #byTime ({ startkey: [layer, time], startkey_docid: after = '', limit }) {
    const docs = this.ids.flatMap(id => this.living(id).slice(0, 1)).map(({ doc }) => doc)
    return docs.filter(doc => doc.type === 'tile' && doc.layer === layer && doc.time === time && doc._id >= after)
      .map(({ _id: id, z }) => ({ id, key: [layer, time, z], value: 1 })).slice(0, limit)
  }

  take (other, ids) {
    const leavesBefore = this.#leaves()
    super.take(other, ids)
    for (const [id, leaves] of this.#leaves()) if (leavesBefore.get(id) !== leaves) this.changed.set(id, ++this.seq)
  }

  #leaves () {
    return new Map([...this.docs_.keys()].map(id => [id, this.leavesAt(id).map(({ rev }) => rev).join()]))
  }
}

/** The connection of one program to a database. Each request waits for its turn. */
class View extends Couch {
  /** @param {Database} database @param {Turns} turns @param {any} process */
  constructor (database, turns, process) {
    super(database.url, { retries: 0 })
    this.database = database
    this.turns = turns
    this.process = process
  }

  async request (request) {
    await this.turns.wait(this.process)
    return this.database.request(request)
  }
}

/** @param {Database} database @param {Turns} turns @param {any} process */
export const storeOf = (database, turns, process) => new Store(new View(database, turns, process))

/**
 * The digest that a reader gets for a tile as of a time, from its head and past versions.
 * @param {Database} database
 * @param {string} id
 * @param {string} time
 */
export function shown (database, id, time) {
  const docs = [id, ...database.ids.filter(versionId => versionId.startsWith(`${id}@`))].flatMap(
    versionId => database.living(versionId).slice(0, 1)
  ).map(({ doc }) => doc)
  const head = docs.find(({ _id }) => _id === id)
  const past = docs.filter(doc => doc !== head && doc.time <= time).sort((a, b) => compareIds(a.time, b.time)).at(-1)
  const version = head && head.time <= time ? head : past
  return version?._attachments?.tile?.digest ?? null
}
