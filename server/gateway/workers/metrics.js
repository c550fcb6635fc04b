// The numbers of all workers in one answer, from any of them.
import { AggregatorRegistry } from 'prom-client'
import { withValues, workerMetricTable } from '../metrics.js'
import { mirrorMetricTable } from '../mirror-metrics.js'

const TIMEOUT = 3000 // ms a worker may take: one that hangs must not delay the others

export class WorkerMetrics {
  #last = new Map() // worker -> what it counted when it was last asked
  #ended = [] // counters of workers that have ended: the sums must never decrease
  #waiting = new Map()
  #asked = 0

  /**
   * @param {() => {ready: number, restarts: number}} counts of the parent
   * @param {() => any} [mirror] of an edge: its report
   */
  constructor (counts, mirror) {
    this.counts = counts
    this.mirror = mirror
  }

  /** @param {import('node:cluster').Worker} worker */
  add (worker) {
    this.#last.set(worker, [])
    worker.on('message', message => {
      if (message.type === 'counted') this.#waiting.get(message.id)?.(message.metrics)
      if (message.type === 'metrics') this.#answer(worker, message.id)
    })
  }

  /** Without an answer a worker shows its own numbers after a while. */
  async #answer (worker, id) {
    const text = await this.text().catch(() => undefined)
    if (text !== undefined && worker.isConnected()) worker.send({ type: 'answer', id, value: text })
  }

  /** @param {import('node:cluster').Worker} worker */
  remove (worker) {
    const counters = this.#last.get(worker).filter(({ type }) => type !== 'gauge')
    this.#last.delete(worker)
    const sums = /** @type {any[]} */ (aggregate([this.#ended, counters]).getMetricsAsArray())
    this.#ended = sums.map(metric => metric.get())
  }

  async text () {
    const workers = [...this.#last.keys()]
    const answers = await Promise.all(workers.map(worker => this.#ask(worker)))
    // of a worker that ended meanwhile, `remove` has kept the last numbers
    workers.forEach((worker, at) => { if (answers[at] && this.#last.has(worker)) this.#last.set(worker, answers[at]) })
    return aggregate([...this.#last.values(), this.#ended, this.#ofParent()]).metrics()
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
      const timer = setTimeout(nothing, TIMEOUT)
      this.#waiting.set(id, answer)
      worker.once('exit', nothing)
      worker.send({ type: 'count', id })
    })
  }

  #ofParent () {
    return [
      ...withValues(workerMetricTable, this.counts()),
      ...(this.mirror ? withValues(mirrorMetricTable, this.mirror()) : [])
    ]
  }
}

const aggregate = metrics => AggregatorRegistry.aggregate(metrics)
