// Adds up the metrics of all workers for /metrics. The parent of the workers uses it.
import { AggregatorRegistry, Registry } from 'prom-client'
import { register, workerMetricTable } from '../metrics.js'
import { mirrorMetricTable } from '../mirror-metrics.js'

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
    const answers = await Promise.all(workers.map(requestMetrics))
    // for a worker that ended meanwhile, `remove` has kept the last numbers
    workers.forEach((worker, index) => {
      if (answers[index] && this.#last.has(worker)) this.#last.set(worker, answers[index])
    })
    return aggregate([...this.#last.values(), this.#ended, await this.#parentRegistry.getMetricsAsJSON()]).metrics()
  }
}

/** Reads the metrics of a worker; null: it does not answer. A late answer may be taken for the next one. */
function requestMetrics (worker) {
  if (!worker.isConnected()) return null
  return new Promise(resolve => {
    const end = metrics => {
      clearTimeout(timer)
      worker.off('exit', fail).off('message', take)
      resolve(metrics)
    }
    const fail = () => end(null)
    const take = ({ type, metrics }) => { if (type === 'counted') end(metrics) }
    const timer = setTimeout(fail, TIMEOUT)
    worker.on('message', take).once('exit', fail)
    worker.send({ type: 'count' })
  })
}

const aggregate = metrics => AggregatorRegistry.aggregate(metrics)
