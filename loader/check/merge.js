// Merges the conflicting revisions of small documents into one: layers, editions and the mark of the store. Documents
// that never change, such as styles and blocks, keep one of their revisions.
import { STORE_ID, compareIds, faultIn, settingsOf } from '../../core/index.js'
import { union } from '../../core/store/extent.js'
import { faultInRecord, styleKinds } from '../../core/store/records.js'
import { winnerFirst } from '../../core/mirror/index.js'
import { canonical } from '../../core/values.js'
import { peerOf } from '../store/peer.js'
import { pruneMarks } from '../maintain/prune/mark.js'
import { fieldsOf, readLeavesByState, tombstone, written } from '../store/revisions.js'

// undefined if one of them is
const ofBoth = (join, a, b) => a === undefined || b === undefined ? undefined : join(a, b)
// of two values; the other one if one is undefined
const greater = (a, b) => b === undefined || a > b ? a : b
const trueFirst = (a, b) => Number(Boolean(b)) - Number(Boolean(a))
const missingLast = (a, b) => compareIds(a ?? '~', b ?? '~')
const canonicalFields = doc => canonical(fieldsOf(doc))

/** @type {Record<string, {order: (a: any, b: any) => number, merge: (first: any, others: any[]) => any}>} */
const kinds = {
  // The widest bounds and zooms of all revisions; a revision without them has no limits. A field that only one revision
  // has stays, except a policy that deletes history: somebody may have removed it.
  layer: {
    order: winnerFirst,
    merge: (first, others) => others.reduce((doc, other) => Object.fromEntries(Object.entries({
      ...other,
      ...doc,
      retention: doc.retention,
      bounds: ofBoth(union, doc.bounds, other.bounds),
      minzoom: ofBoth(Math.min, doc.minzoom, other.minzoom),
      maxzoom: ofBoth(Math.max, doc.maxzoom, other.maxzoom),
      ...pruneMarks(doc, other)
    }).filter(([, value]) => value !== undefined)), first)
  },
  // the revision of the load that got further; a title stays, since a person wrote it
  edition: {
    order: (a, b) => trueFirst(a.finished, b.finished) || trueFirst(a.complete, b.complete) ||
      (b.tiles ?? 0) - (a.tiles ?? 0) || compareIds(b.finished ?? '', a.finished ?? '') ||
      compareIds(canonicalFields(b), canonicalFields(a)) || winnerFirst(a, b),
    merge (first, others) {
      const title = [first, ...others].find(doc => doc.title)?.title
      return title === undefined ? first : { ...first, title }
    }
  },
  // the revision of the older store; a setting that only another revision has stays
  store: {
    order: (a, b) => missingLast(a.created, b.created) || missingLast(a.uuid, b.uuid) || winnerFirst(a, b),
    merge (first, others) {
      const [published] = [first, ...others].map(doc => doc.published).filter(Boolean).sort()
      const schema = others.reduce((greatest, other) => greater(greatest, other.schema), first.schema)
      const settings = Object.assign({}, ...others.map(settingsOf).reverse())
      return { ...settings, ...first, schema, ...(published && { published }) }
    }
  }
}

// Two masters that store the same content write different revisions of it: at another moment, or by another program.
// If the content differs, the revision that was stored later wins, as with two loads for one time.
const storedLater = (a, b) => compareIds(b.stored ?? '', a.stored ?? '') || winnerFirst(a, b)

const NEVER_CHANGES = new Set(['style', 'manifest', 'block', 'removed'])

const kindOf = id => id === STORE_ID ? 'store' : /^(layer|edition|style|manifest|block|removed):/.exec(id)?.[1]

/** Whether a document can be merged. @param {string} id */
export const isMergeable = id => kindOf(id) !== undefined

function faultOf (doc) {
  if (doc._id === STORE_ID) return undefined
  if (doc.type === 'style') return faultIn(doc, styleKinds)
  return NEVER_CHANGES.has(doc.type) ? faultInRecord(doc) : faultIn(doc)
}

/**
 * @param {any[]} leaves two or more living leaves of one document
 * @returns {{write?: any, ends: any[]} | undefined} undefined if a leaf is not ours, or not valid
 */
export function planMerge (leaves) {
  const [{ _id: id }] = leaves
  const kind = /** @type {string} */ (kindOf(id))
  if (NEVER_CHANGES.has(kind)) return planChoice(leaves, kind)
  if (leaves.some(doc => doc.type !== kind || doc._attachments || faultOf(doc))) return undefined
  const [first, ...others] = [...leaves].sort(kinds[kind].order)
  const fields = kinds[kind].merge(fieldsOf(first), others.map(fieldsOf))
  return {
    ...(canonical(fields) !== canonicalFields(first) && { write: written({ _id: id, ...fields }, first._rev) }),
    ends: others.map(({ _rev }) => tombstone(id, _rev))
  }
}

/** Keeps one valid revision as it is, and ends the others. */
function planChoice (leaves, kind) {
  const valid = leaves.filter(doc => doc.type === kind && !faultOf(doc)).sort(storedLater)
  if (!valid.length) return undefined
  const others = leaves.filter(doc => doc !== valid[0])
  return { ends: others.map(({ _id: id, _rev: rev }) => tombstone(id, rev)) }
}

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string[]} ids
 * @param {object} options
 * @param {{merged: number, ended: number}} options.tally
 * @param {boolean} [options.dryRun]
 * @param {AbortSignal} [options.signal]
 * @param {(what: 'left' | 'refused', id: string, reason: string) => void} options.note
 */
export async function mergeDocuments (couch, ids, { tally, dryRun, signal, note }) {
  const peer = peerOf(couch)
  const send = async docs => {
    const refused = await peer.write(docs, signal)
    for (const { id, error, reason } of refused) note('refused', id, reason || error)
    return !refused.length
  }
  for (const [id, { living }] of await readLeavesByState(couch, ids, signal)) {
    if (living.length < 2) continue
    const plan = planMerge(living)
    if (!plan) {
      const fault = living.map(faultOf).find(Boolean)
      note('left', id, fault ?? 'not all of its leaves are of a tile store, or one has a logo')
      continue
    }
    // the merged document is written before the others are deleted
    const { write, ends } = plan
    if (!dryRun && !((!write || await send([write])) && await send(ends))) continue
    tally.merged++
    tally.ended += ends.length
  }
}
