// CouchDB's built-in reducers, one group at a time: step takes a row, end gives the value.
import { HttpError } from '../errors.js'

const invalid = (name, value) => new HttpError(500, 'invalid_value', `non-numeric ${name} input: ${JSON.stringify(value)}`)

function addTo (total, value) {
  if (typeof value === 'number' && typeof total === 'number') return total + value
  if (Array.isArray(value) || Array.isArray(total)) {
    const a = Array.isArray(total) ? total : [total]
    const b = Array.isArray(value) ? value : [value]
    return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => addTo(a[i] ?? 0, b[i] ?? 0))
  }
  if (typeof value === 'object' && value !== null && (total === 0 || typeof total === 'object')) {
    const sums = { ...(total || {}) }
    for (const [name, item] of Object.entries(value)) sums[name] = addTo(sums[name] ?? 0, item)
    return sums
  }
  throw new HttpError(500, 'builtin_reduce_error', `The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed with other data structures. Objects can be arbitrarily nested, provided that the values for all fields are themselves numbers, arrays of numbers, or objects. The value was ${JSON.stringify(value)}`)
}

const isStats = value => ['sum', 'count', 'min', 'max', 'sumsqr'].every(name => typeof value?.[name] === 'number')

function statsOf (value) {
  if (typeof value === 'number') return { sum: value, count: 1, min: value, max: value, sumsqr: value * value }
  if (isStats(value)) return { sum: value.sum, count: value.count, min: value.min, max: value.max, sumsqr: value.sumsqr }
  throw invalid('_stats', value)
}

const merge = (a, b) => ({ sum: a.sum + b.sum, count: a.count + b.count, min: Math.min(a.min, b.min), max: Math.max(a.max, b.max), sumsqr: a.sumsqr + b.sumsqr })

function addStats (total, value) {
  if (!Array.isArray(value)) {
    if (Array.isArray(total)) throw invalid('_stats', value)
    return total === null ? statsOf(value) : merge(total, statsOf(value))
  }
  if (total === null) return value.map(statsOf)
  if (!Array.isArray(total) || total.length !== value.length) throw invalid('_stats', value)
  return total.map((stats, i) => merge(stats, statsOf(value[i])))
}

const builtIn = {
  _count: () => ({ value: 0, step () { this.value++ } }),
  _sum: () => ({ value: /** @type {any} */ (0), step (row) { this.value = addTo(this.value, row.v) } }),
  _stats: () => ({ value: /** @type {any} */ (null), step (row) { this.value = addStats(this.value, row.v) } })
}

export const isBuiltIn = reduce => Object.hasOwn(builtIn, reduce)

/**
 * @param {string} reduce a built-in name or the source of a function
 * @param {import('../design/runtime.js').DesignRuntime} runtime
 * @returns {() => {step: (row: any) => void, end: () => any}} end may answer a promise
 */
export function reducer (reduce, runtime) {
  if (isBuiltIn(reduce)) {
    return () => {
      const state = builtIn[reduce]()
      return { step: row => state.step(row), end: () => state.value }
    }
  }
  return () => {
    const keys = []
    const values = []
    return {
      step (row) {
        keys.push([row.k, row.i])
        values.push(row.v)
      },
      end: () => runtime.call('reduce', { source: reduce, keys, values })
    }
  }
}
