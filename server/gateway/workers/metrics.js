// The numbers of all workers in one answer.
import { AggregatorRegistry, Registry } from 'prom-client'
import { register, workerMetricTable } from '../metrics.js'
import { mirrorMetricTable } from '../mirror-metrics.js'

const TIMEOUT = 3000 // ms a worker may take: one that hangs must not delay the others

export class WorkerMetrics {
  #last = new Map() // worker -> what it counted when it was last asked
  #ended = [] // counters of workers that have ended: the sums must never decrease
  #ofParent = new Registry()

  /**
   * @param {() => {ready: number, restarts: number}} counts of the parent
   * @param {() => any} [mirror] of an edge: its report
   */
  constructor (counts, mirror) {
    register(this.#ofParent, workerMetricTable, counts)
    if (mirror) register(this.#ofParent, mirrorMetricTable, mirror)
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
    const answers = await Promise.all(workers.map(ask))
    // of a worker that ended meanwhile, `remove` has kept the last numbers
    workers.forEach((worker, at) => { if (answers[at] && this.#last.has(worker)) this.#last.set(worker, answers[at]) })
    return aggregate([...this.#last.values(), this.#ended, await this.#ofParent.getMetricsAsJSON()]).metrics()
  }
}

/** What a worker has counted; null: it does not answer. An answer that comes too late may be taken for the next one. */
function ask (worker) {
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
