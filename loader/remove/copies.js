// Ends copies of heads in the past, without a load ever losing a version by it.
//
// A load that overwrites a head copies it to the past first, and takes a copy that stands there already for its own. Were a
// copy just deleted between its two steps, the load would overwrite the head, and the version would be nowhere. So:
//
//   1. what is about to happen is noted (journal.js)
//   2. the copy is deleted
//   3. the head is written again, unchanged, at the revision that was looked at: a load that relied on the copy meets a conflict
//      there, reads the head anew and copies it anew
//   4. should a load have been quicker, the copy is put back
//
// Whoever is killed in between leaves the note, and finishLeft does the rest.
import { imageAnew, isSameVersion } from '../../core/store/documents.js'
import { parentOf } from '../../core/mirror/index.js'
import { encodeId } from '../store/address.js'
import { fieldsOf } from '../resolve/content.js'
import { readLeaves } from '../resolve/leaves.js'
import { removeDefaults } from './defaults.js'
import { endLeaves } from './documents.js'
import { Journal } from './journal.js'

/**
 * @typedef {object} Pair a head and its copy
 * @property {string} id of the head
 * @property {any} head
 * @property {any} copy
 *
 * @typedef {object} Ending
 * @property {Set<string>} ended heads whose copy is gone
 * @property {Set<string>} changed heads that somebody else wrote meanwhile: their copies stand
 * @property {Set<string>} absent heads that have no copy
 * @property {Map<string, string>} gone copies that were deleted -> the revision that says so
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {Iterable<string>} ids of heads
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<{ended: number, changed: number}>}
 */
export async function endCopies (store, ids, { signal } = {}) {
  const { couch } = store
  await finishLeft(couch, signal)
  const journal = new Journal(couch)
  const all = [...new Set(ids)]
  const sum = { ended: 0, changed: 0 }
  for (let at = 0; at < all.length; at += removeDefaults.batch) {
    const { ended, changed } = await endSome(couch, all.slice(at, at + removeDefaults.batch), journal, signal)
    sum.ended += ended.size
    sum.changed += changed.size
  }
  await journal.clear()
  return sum
}

/**
 * What a batch began is not stopped in its middle: the signal is heard before it.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string[]} ids of heads @param {Journal} journal @param {AbortSignal} [signal]
 * @returns {Promise<Ending>}
 */
export async function endSome (couch, ids, journal, signal) {
  const ending = /** @type {Ending} */ ({ ended: new Set(), changed: new Set(), absent: new Set(), gone: new Map() })
  const pairs = await readPairs(couch, ids, ending, signal)
  if (!pairs.length) return ending
  await journal.note(new Map(pairs.map(({ id, head, copy }) => [id, { time: head.time, copy: copy._rev, head: head._rev }])), signal)
  const { gone } = await endLeaves(couch, pairs.map(({ copy }) => ({ id: copy._id, rev: copy._rev })))
  for (const { id, copy } of pairs) if (!gone.has(copy._id)) ending.changed.add(id)
  const lost = await renew(couch, pairs.filter(({ copy }) => gone.has(copy._id)), ending)
  await putBack(couch, lost)
  for (const { copy } of lost) gone.delete(copy._id)
  return { ...ending, gone }
}

/** Heads with the copy that stands beside them. */
async function readPairs (couch, ids, { absent, changed }, signal) {
  const heads = await readLeaves(couch, ids, signal)
  const headOf = id => heads.get(id)?.living ?? []
  const wanted = ids.filter(id => headOf(id).length === 1)
  const copies = await readLeaves(couch, wanted.map(id => `${id}@${headOf(id)[0].time}`), signal)
  const pairs = /** @type {Pair[]} */ ([])
  for (const id of ids) {
    const [head, ...others] = headOf(id)
    const [copy, ...more] = head ? copies.get(`${id}@${head.time}`)?.living ?? [] : []
    if (!head || (!others.length && !copy)) absent.add(id)
    else if (others.length || more.length || !isSameVersion(head, copy)) changed.add(id) // `tilecouch resolve` and `check` know what to do of these
    else pairs.push({ id, head, copy })
  }
  return pairs
}

/**
 * Writes heads again as they are, whatever else of them changes meanwhile.
 * @param {import('../store/couch.js').Couch} couch @param {Pair[]} pairs @param {Pick<Ending, 'ended' | 'changed'>} ending
 * @returns {Promise<Pair[]>} those that hold another version now
 */
async function renew (couch, pairs, { ended, changed }) {
  const lost = []
  let todo = pairs
  for (let round = 0; todo.length; round++) {
    const docs = todo.map(({ head: { _revisions, _conflicts, ...doc } }) => doc) // attachments stay where they are: the documents hold stubs
    const answers = new Map((await couch.bulk(JSON.stringify({ docs }))).map(answer => [answer.id, answer]))
    const isWritten = ({ id }) => { const { rev, error } = answers.get(id) ?? {}; return rev && !error }
    for (const { id } of todo.filter(isWritten)) ended.add(id)
    const again = todo.filter(pair => !isWritten(pair))
    const heads = await readLeaves(couch, again.map(({ id }) => id))
    todo = []
    for (const pair of again) {
      const [head] = heads.get(pair.id)?.living ?? []
      if (!head) ended.add(pair.id) // removed meanwhile: nobody can overwrite it
      else if (round + 1 < removeDefaults.rounds && isSameVersion(head, pair.copy)) todo.push({ ...pair, head })
      else {
        changed.add(pair.id)
        lost.push(pair)
      }
    }
  }
  return lost
}

/** @param {import('../store/couch.js').Couch} couch @param {Pair[]} pairs */
async function putBack (couch, pairs) {
  for (const { id, head, copy } of pairs) {
    // as long as no compaction has taken them, the revisions that went can be read
    const kept = await readRevision(couch, copy._id, copy._rev) ?? await readRevision(couch, id, head._rev)
    if (!kept || !isSameVersion(kept, copy)) continue
    const doc = { _id: copy._id, ...fieldsOf(kept), current: false, ...imageAnew(kept) }
    await couch.send([doc]) // that something stands there is as good: a load has put it there anew
  }
}

const readRevision = (couch, id, rev) => couch.find({ path: encodeId(id), qs: { rev, attachments: true } })

/**
 * Finishes what runs that were killed have begun. What they noted is believed as far as the store says the same.
 * @param {import('../store/couch.js').Couch} couch
 * @param {AbortSignal} [signal]
 */
export async function finishLeft (couch, signal) {
  const journal = new Journal(couch)
  const left = await journal.left(signal)
  if (!left.length) return
  for (const { notes } of left) await finish(couch, notes, journal, signal)
  await journal.clear()
  await journal.forget(left.map(({ key }) => key))
}

/** @param {Map<string, import('./journal.js').Note>} notes @param {Journal} journal */
async function finish (couch, notes, journal, signal) {
  const heads = await readLeaves(couch, [...notes.keys()], signal)
  const copies = await readLeaves(couch, [...notes].map(([id, { time }]) => `${id}@${time}`), signal)
  const [standing, deleted, lost] = [/** @type {string[]} */ ([]), /** @type {Pair[]} */ ([]), /** @type {Pair[]} */ ([])]
  for (const [id, note] of notes) {
    const copyId = `${id}@${note.time}`
    const [head] = heads.get(id)?.living ?? []
    const { living = [], ended = [] } = copies.get(copyId) ?? {}
    if (!head || head.time < note.time) continue // removed, or fallen further
    if (living.length) standing.push(id)
    else if (note.head && await isEndOf(couch, copyId, ended, note.copy)) {
      const was = head.time === note.time ? head : await readRevision(couch, id, note.head)
      if (was?.time === note.time) (was === head ? deleted : lost).push({ id, head: { ...head, _rev: was._rev }, copy: { ...was, _id: copyId, _rev: note.copy } })
    }
  }
  await putBack(couch, [...lost, ...await renew(couch, deleted, { ended: new Set(), changed: new Set() })])
  await endSome(couch, standing, journal, signal)
}

/** Whether a document was deleted at that very revision, and not later, for another reason. */
async function isEndOf (couch, id, ended, rev) {
  for (const { _rev } of ended) {
    const doc = await couch.find({ path: encodeId(id), qs: { rev: _rev, revs: true } })
    if (doc && parentOf(doc) === rev) return true
  }
  return false
}
