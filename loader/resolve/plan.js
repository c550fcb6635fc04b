// What is to be done about one tile whose documents have several living leaves. Pure: the same leaves, the same plan,
// wherever it is made.
//
// A leaf is ended only when what it says stands elsewhere, and where that is, is ordered, so that no two plans, made in two
// places of what either knew, can end two copies of one version in favour of each other:
//   - in favour of a leaf of the same document that says the same and comes before it (compareLeaves)
//   - heads in favour of the past, never the other way: a copy of the head in the past is left alone. A load may have put it
//     there and be about to overwrite the head, here or on another master whose head has not come yet
//   - a past version in favour of an earlier place, never of a later one
import { TilecouchError, addSeconds, compareIds, isExactTime } from '../../core/index.js'
import { best, compareLeaves } from './content.js'

/**
 * @typedef {import('./content.js').Leaf} Leaf
 *
 * @typedef {object} Copy a past version that is to stand before others go
 * @property {Leaf} from
 * @property {string} time
 * @property {boolean} contested whether it is another time than its own
 *
 * @typedef {object} Plan
 * @property {Copy[]} copies
 * @property {{leaf: Leaf, needs?: Copy}[]} ends leaves that go, when that copy stands
 * @property {{leaf: Leaf, over: string, needs?: Copy}} [promote] a past version that is to be the head, over that revision
 *
 * @typedef {{key: string, needs?: Copy}} Held which version has a place, and the copy that brings it there
 * @typedef {{key: string, from: Leaf, below: string, leaves: Leaf[]}} Falling a version that lost its places
 */

/**
 * @param {Leaf[]} heads living leaves of the head
 * @param {Leaf[]} pasts living leaves of its past versions
 * @returns {Plan}
 */
export function planTile (heads, pasts) {
  const top = heads.length ? best(heads) : undefined
  const newest = top && best([top, ...pasts])
  const promoted = newest && newest !== top && newest.key !== top.key ? newest : undefined
  const head = promoted ?? top
  const losers = heads.filter(leaf => leaf !== top || promoted)

  /** Time -> leaves that stand there or want to. @type {Map<string, {past: Leaf[], come: Leaf[]}>} */
  const places = new Map()
  const placeAt = time => {
    const place = places.get(time) ?? { past: [], come: [] }
    places.set(time, place)
    return place
  }
  for (const leaf of pasts) placeAt(leaf.time).past.push(leaf)
  for (const leaf of losers) placeAt(leaf.time).come.push(leaf)

  /** @type {Plan} */
  const plan = { copies: [], ends: [] }
  /** @type {Map<string, Held>} */
  const held = new Map()
  /** @type {Map<string, Falling>} */
  const falling = new Map()
  for (const [time, { past, come }] of places) {
    const holder = head?.time === time ? head : best([...past, ...come])
    const stays = past.filter(({ key }) => key === holder.key)
    const kept = stays.length ? best(stays) : undefined
    for (const leaf of stays) if (leaf !== kept) plan.ends.push({ leaf })
    const arrived = come.filter(({ key }) => key === holder.key)
    const needs = arrived.length && !kept && holder !== head ? copy(plan, best(arrived), time) : undefined
    for (const leaf of arrived) plan.ends.push({ leaf, needs })
    held.set(time, { key: holder.key, needs })
    for (const leaf of [...past, ...come]) if (leaf.key !== holder.key) fall(falling, leaf)
  }
  if (head && !held.has(head.time)) held.set(head.time, { key: head.key })
  land([...falling.values()], held, plan)
  if (promoted) {
    // the newest head is overwritten instead of ended
    const [{ leaf: { rev }, needs }] = plan.ends.splice(plan.ends.findIndex(({ leaf }) => leaf === top), 1)
    plan.promote = { leaf: promoted, over: rev, needs }
  }
  return plan
}

/** @param {Plan} plan @param {Leaf} from @param {string} time @returns {Copy} */
function copy (plan, from, time) {
  const made = { from, time, contested: time !== from.own }
  plan.copies.push(made)
  return made
}

/** A version whose place another one has: it goes below the lowest place that it lost. */
function fall (falling, leaf) {
  const known = falling.get(leaf.key)
  if (!known) return falling.set(leaf.key, { key: leaf.key, from: leaf, below: leaf.time, leaves: [leaf] })
  known.leaves.push(leaf)
  known.from = best([known.from, leaf])
  if (leaf.time < known.below) known.below = leaf.time
}

/** @param {Falling[]} falling @param {Map<string, Held>} held @param {Plan} plan */
function land (falling, held, plan) {
  falling.sort((a, b) => compareIds(b.from.own, a.from.own) || compareLeaves(b.from, a.from))
  for (const { key, from, below, leaves } of falling) {
    const [, there] = [...held].find(([time, holder]) => holder.key === key && time < below) ?? []
    const needs = there ? there.needs : copy(plan, from, freeBefore(below, held, from))
    if (needs) held.set(needs.time, { key, needs })
    for (const leaf of leaves) plan.ends.push({ leaf, needs })
  }
}

function freeBefore (time, held, { id }) {
  let free = addSeconds(time, -1)
  while (held.has(free)) free = addSeconds(free, -1)
  if (!isExactTime(free)) throw new TilecouchError('BAD_TIME', { value: `${id} before ${time}` })
  return free
}
