// Adds up the metrics of all workers for /metrics. The parent of the workers uses it.
import { AggregatorRegistry, Registry } from 'prom-client'
import { register, workerMetricTable } from '../metrics.js'
import { mirrorMetricTable } from '../mirror-metrics.js'
import { ask } from './ask.js'

const TIMEOUT = 3000 // ms for a worker to answer: a hanging worker must not delay the others

export class WorkerMetrics {
  #last = new Map() // worker -> its metrics when they were last read
  #ended = [] // counters of workers that have ended: the sums must never decrease
  #parentRegistry = new Registry()

  /**
   * @param {() => {ready: number, restarts: number}} counts of the parent
   * @param {() => any} [mirror] of an edge: its report
   */
  constructor (counts, mirror) {
    register(this.#parentRegistry, workerMetricTable, counts)
    if (mirror) register(this.#parentRegistry, mirrorMetricTable, mirror)
  }

  /** @param {import('node:cluster').Worker} worker */
  add (worker) {
    this.#last.set(worker, [])
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
    const answers = await Promise.all(workers.map(worker => ask(worker, 'count', TIMEOUT)))
    // for a worker that ended meanwhile, `remove` has kept the last numbers
    workers.forEach((worker, index) => {
      if (answers[index] && this.#last.has(worker)) this.#last.set(worker, answers[index])
    })
    return aggregate([...this.#last.values(), this.#ended, await this.#parentRegistry.getMetricsAsJSON()]).metrics()
  }
}

const aggregate = metrics => AggregatorRegistry.aggregate(metrics)
