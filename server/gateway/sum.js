// The numbers of all workers as one, so that it does not matter which of them is asked, or how many there are.
import { AggregatorRegistry } from 'prom-client'
import { crewMetricTable } from './metrics.js'
import { mirrorMetrics } from './mirror-metrics.js'

const PATIENCE = 3000 // ms a worker may take; one that hangs must not hide the others

export class Sum {
  #last = new Map() // worker -> what it counted when it was last asked
  #retired = [] // what those counted that are gone: counters never go back
  #waiting = new Map()
  #asked = 0

  /** @param {() => {ready: number, restarts: number}} crew @param {() => any} [mirror] of an edge: its report */
  constructor (crew, mirror) {
    this.crew = crew
    this.mirror = mirror
  }

  /** @param {import('node:cluster').Worker} worker */
  add (worker) {
    this.#last.set(worker, [])
    worker.on('message', message => {
      if (message.type === 'counted') this.#waiting.get(message.id)?.(message.metrics)
      if (message.type === 'gather') this.#tell(worker, message.id)
    })
  }

  /** A worker that hears nothing answers for itself after a while. */
  async #tell (worker, id) {
    const text = await this.text().catch(() => undefined)
    if (text !== undefined && worker.isConnected()) worker.send({ type: 'told', id, value: text })
  }

  /** @param {import('node:cluster').Worker} worker */
  remove (worker) {
    const counters = this.#last.get(worker).filter(({ type }) => type !== 'gauge')
    this.#last.delete(worker)
    this.#retired = aggregate([this.#retired, counters]).getMetricsAsArray().map(metric => /** @type {any} */ (metric).get())
  }

  /** @returns {Promise<string>} */
  async text () {
    const workers = [...this.#last.keys()]
    const answers = await Promise.all(workers.map(worker => this.#ask(worker)))
    // one that died meanwhile has left its last numbers behind
    workers.forEach((worker, at) => { if (answers[at] && this.#last.has(worker)) this.#last.set(worker, answers[at]) })
    return aggregate([...this.#last.values(), this.#retired, this.#own()]).metrics()
  }

  #ask (worker) {
    if (!worker.isConnected()) return null
    return new Promise(resolve => {
      const id = this.#asked++
      const answer = metrics => {
        clearTimeout(timer)
        this.#waiting.delete(id)
        worker.off('exit', nothing)
        resolve(metrics)
      }
      const nothing = () => answer(null)
      const timer = setTimeout(nothing, PATIENCE)
      this.#waiting.set(id, answer)
      worker.once('exit', nothing)
      worker.send({ type: 'count', id })
    })
  }

  #own () {
    const values = this.crew()
    return [
      ...Object.entries(crewMetricTable).map(([key, { name, help, type }]) => ({ name, help, type, aggregator: 'sum', values: [{ labels: {}, value: values[key] }] })),
      ...(this.mirror ? mirrorMetrics(this.mirror()) : [])
    ]
  }
}

const aggregate = metrics => AggregatorRegistry.aggregate(metrics)
