// Whether the two versions of a tile differ. Another version may hold the same bytes, as when something changed and changed
// back: where sizes are equal the digests decide, which are looked up in batches, a few of them in flight.
import { pMapIterable } from 'p-map'
import { digestsOf } from '../store/digests.js'

export const compareDefaults = {
  batch: 500, // tiles whose digests are asked for together
  pairs: 5000, // tiles in a batch at most, those that need no digest included
  concurrency: 3 // batches in flight
}

/**
 * @typedef {'added' | 'removed' | 'changed' | 'same' | 'missing'} Kind missing: one of its versions was listed, and then nowhere
 * @typedef {import('./pairs.js').Pair & {change: Kind}} Change
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {AsyncIterable<import('./pairs.js').Pair>} pairs
 * @param {{signal?: AbortSignal}} options
 * @returns {AsyncGenerator<Change>} in the order of the pairs
 */
export async function * changesOf (store, pairs, { signal }) {
  const { concurrency } = compareDefaults
  for await (const compared of pMapIterable(batches(pairs), batch => compare(store, batch, signal), { concurrency })) yield * compared
}

async function * batches (pairs) {
  let batch = []
  let open = 0
  for await (const pair of pairs) {
    batch.push(pair)
    if (!verdict(pair)) open++
    if (open < compareDefaults.batch && batch.length < compareDefaults.pairs) continue
    yield batch
    batch = []
    open = 0
  }
  if (batch.length) yield batch
}

/** What can be told without any digest. */
function verdict ({ from, to }) {
  if (!from) return 'added'
  if (!to) return 'removed'
  if (from === to || (from.id !== undefined && from.id === to.id && from.time === to.time)) return 'same'
  return from.size === to.size ? undefined : 'changed'
}

async function compare (store, pairs, signal) {
  const open = pairs.filter(pair => !verdict(pair))
  const digests = await digestsOf(store, open.flatMap(({ from, to }) => [from, to]), signal)
  return pairs.map(pair => ({ ...pair, change: verdict(pair) ?? judge(digests.get(pair.from), digests.get(pair.to)) }))
}

const judge = (before, after) => before === undefined || after === undefined ? 'missing' : before === after ? 'same' : 'changed'
