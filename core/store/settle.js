// Settles tiles: makes heads and past versions what all statements about a tile together say, in whatever order they
// came. A statement is a time, a content and the run that made it: in the manifest of an edition, in a stored version,
// or in what is being written.
//
// `planTile` is pure and says what to write next. `settleTiles` reads, plans, writes and reads again, until nothing is
// left to do; it may be killed anywhere, and continues where the tile is settled next. `write` overwrites heads, as
// HeadWriter (head-writer.js) does where the head alone decides.
import { TilecouchError } from '../errors.js'
import { TILE_ATTACHMENT, compareIds, headId, parseTileId } from '../ids.js'
import { beganAt, runAt } from '../runs.js'
import { addSeconds, isExactTime } from '../times.js'
import { GONE, contentOf } from './blocks.js'
import { imageAnew, shownBy } from './documents.js'
import { readTileLeaves } from './leaves.js'
import { keptStatements } from './limits.js'
import { isRefusal } from '../couch/answers.js'

const ROUNDS = 40 // of reading and writing before a tile is given up as contended: a long past may need a dozen

/**
 * @typedef {[time: string, run: string]} Seen a single write that found the version unchanged
 *
 * @typedef {object} Version
 * @property {string} time
 * @property {string} content as `contentOf` writes it
 * @property {string} run
 * @property {Seen[]} seen
 * @property {string} [contested] the time that it was loaded for, which a greater run has
 * @property {string} [id] of its document; none while it is not stored
 * @property {string} [rev]
 * @property {any} [doc]
 * @property {() => any} [documentOf] its fields and bytes, while it is not stored
 *
 * @typedef {Version & {inManifest: boolean, documentOf: () => any}} Incoming a version on its way into the store.
 * inManifest: a manifest says the same
 *
 * @typedef {{time: string, content: string, run: string}} Statement
 *
 * @typedef {object} Known
 * @property {Statement[]} statements of manifests
 * @property {(time: string, run: string, version?: Version) => boolean} isRemoved version: what makes the statement
 * @property {import('./limits.js').Span[]} [dropped] times that the store does not keep
 *
 * @typedef {object} Wanted a version that must be stored
 * @property {string} time
 * @property {string} content
 * @property {string} run
 * @property {boolean} inManifest
 * @property {Seen[]} seen
 * @property {string} [contested]
 *
 * @typedef {object} Write
 * @property {string} id
 * @property {string} [rev] that is overwritten or ended
 * @property {Wanted} [want] what is written
 * @property {Version} [from] has the bytes of `want`
 * @property {Version} [end] what is deleted
 *
 * @typedef {{writes: Write[], unknown: Statement[]}} Plan unknown: statements whose bytes are nowhere
 */

/** The single writes that a stored document names. @param {any} doc @returns {Seen[]} */
export const seenIn = ({ seen }) => Array.isArray(seen) ? seen.filter(isSeen) : []

const isSeen = one => Array.isArray(one) && isExactTime(one[0]) && typeof one[1] === 'string'

/** A stored document, with or without bytes, as a version. Fields of the wrong type are ignored. @returns {Version} */
export function versionIn (doc) {
  const checked = doc.origin?.checked
  // the upstream was asked again and had nothing new: the same as a single write that found no change
  const isChecked = isExactTime(checked) && checked > doc.time
  return {
    id: doc._id,
    rev: doc._rev,
    doc,
    time: doc.time,
    content: contentOf(shownBy(doc)),
    run: typeof doc.run === 'string' ? doc.run : runAt(doc.stored),
    ...(isExactTime(doc.contested) && { contested: doc.contested }),
    seen: isChecked ? [...seenIn(doc), [checked, runAt(checked)]] : seenIn(doc)
  }
}

/**
 * What a tile needs next.
 * @param {string} id of its head
 * @param {Version[]} heads living leaves, CouchDB's winner first
 * @param {Version[]} pasts living leaves
 * @param {Known} known
 * @param {Incoming[]} [incoming]
 * @returns {Plan}
 */
export function planTile (id, heads, pasts, { statements, isRemoved, dropped = [] }, incoming = []) {
  pasts = [...pasts].sort(firstOf)
  const all = [...heads, ...pasts]
  const sources = [...all, ...incoming]
  const byTime = keptStatements(statementsByTime(statements, sources, isRemoved), sources, dropped)
  const { wanted, unknown } = wantedVersions(byTime, all, sources, isRemoved)
  const top = wanted.at(-1)
  const [head, ...others] = heads
  const inPast = want => pasts.some(version => isSame(version, want))
  const isStored = want => inPast(want) || heads.some(version => isSame(version, want))
  const hasSeen = (version, time) => version.seen.some(([at]) => at === time)
  const end = version => ({ id: version.id, rev: version.rev, end: version })
  const put = (want, at, rev) => ({ id: at, ...(rev && { rev }), want, from: sourceOf(want, sources) })
  const pastId = want => `${id}@${want.time}`
  const putInPast = (want, over = pasts.find(({ time }) => time === want.time)) => {
    // first whatever needs the bytes or a `seen` of the leaf that is replaced
    const first = over && over.content !== want.content && wanted.find(other =>
      !heads.some(version => isSame(version, other)) && other.time !== want.time &&
      !pasts.some(({ time }) => time === other.time) &&
      (other.content === over.content || hasSeen(over, other.time)))
    if (first) return first === top && !head ? put(top, id) : putInPast(first)
    return put(want, pastId(want), over?.rev)
  }
  const writes = () => {
    // 1. what a leaf of the head has is copied to the past before that leaf goes
    for (const leaf of heads) {
      if (!top || (leaf === head && isSame(leaf, top))) continue
      const needsLeaf = want => (want.content === leaf.content || hasSeen(leaf, want.time)) && !inPast(want)
      const needy = wanted.slice(0, -1).findLast(needsLeaf)
      if (needy) return [putInPast(needy)]
      if (leaf !== head && isSame(leaf, top) && !isSame(head, top)) return [put(top, id, head.rev)]
    }
    // 2. the head is the newest: before it falls back, later past versions go, unless their bytes are needed
    const above = !top ? [] : pasts.filter(version => version.time > top.time && !wanted.some(want =>
      !isStored(want) && (want.content === version.content || hasSeen(version, want.time))))
    if (above.length) return above.map(end)
    if (top && !(head && isSame(head, top))) return [put(top, id, head?.rev)]
    // 3. the past: new times destroy nothing; else from new to old, so that no time changes twice
    const missing = wanted.slice(0, -1).filter(want => !inPast(want)).reverse()
    const fresh = missing.filter(({ time }) => !pasts.some(version => version.time === time))
    if (fresh.length) return fresh.map(want => put(want, pastId(want)))
    if (missing.length) return [putInPast(missing[0])]
    // 4. last, deletions: versions that no statement supports, and leaves that repeat another
    const isLike = (a, b) => a.time === b.time && a.content === b.content && a.contested === b.contested
    const stays = wanted.map(want =>
      pasts.find(version => isSame(version, want)) ?? pasts.find(version => isLike(version, want)))
    // of two leaves whose images differ in their type alone, `check --fix` ends the wrong one
    const isMended = version => stays.some(other => other && other.id === version.id &&
      other.content === version.content && typeOf(other) !== typeOf(version))
    const ends = [...others, ...pasts].filter(version => !stays.includes(version) && !isMended(version))
    // the head goes last: a tile has its head, or nothing at all
    if (head && !top && !ends.length) ends.push(head)
    return ends.map(end)
  }
  return { writes: writes(), unknown }
}

/** Time -> the statement that counts: that of the greatest run. */
function statementsByTime (statements, versions, isRemoved) {
  /** @type {Map<string, {content: string, run: string, inManifest: boolean, contested?: string}>} */
  const byTime = new Map()
  const add = (time, content, run, inManifest, contested, version) => {
    if (isRemoved(contested ?? time, run, version)) return
    const before = byTime.get(time)
    const isLater = !before || run > before.run || (run === before.run && inManifest)
    // a version that was loaded for this time is preferred to one that had to move here, though both show the same
    const original = before?.content !== content ? contested : earlierOf(before?.contested, contested)
    if (isLater) byTime.set(time, { content, run, inManifest, contested: original })
    else if (before?.content === content) before.contested = original
  }
  for (const { time, content, run } of statements) add(time, content, run, true)
  for (const version of versions) {
    const { time, content, run, seen, contested, inManifest = false } = version
    add(time, content, run, inManifest, contested, version)
    for (const [at, by] of seen) add(at, content, by, false, undefined, version)
  }
  return byTime
}

const earlierOf = (a, b) => !a || !b ? undefined : a < b ? a : b

/** One where the content changes from one statement to the next. A stored version may stay although it repeats. */
function wantedVersions (byTime, all, sources, isRemoved) {
  const isStated = version => byTime.get(version.time)?.content === version.content
  const known = new Set([GONE, ...sources.map(({ content }) => content)])
  /** @type {Wanted[]} */
  const wanted = []
  /** @type {Statement[]} */
  const unknown = []
  let shown = GONE
  for (const time of [...byTime.keys()].sort(compareIds)) {
    const { content, run, inManifest, contested } = byTime.get(time)
    // a single write that found a version unchanged is noted with the version that is shown then, whichever it met
    const last = wanted.at(-1)
    const isThis = ([at, by]) => at === time && by === run
    const isSeenBy = version => version.content === content && version.seen.some(isThis)
    const isRepeated = content === shown && (inManifest || (last && sources.some(isSeenBy)))
    if (isRepeated && !all.some(version => version.time === time && isStated(version))) {
      if (!inManifest && last && !last.seen.some(isThis)) last.seen.push([time, run])
      continue
    }
    if (!known.has(content)) {
      unknown.push({ time, content, run })
      continue
    }
    const same = sources.filter(version => version.time === time && version.content === content)
    const distinct = new Map(same.flatMap(({ seen }) => seen).map(one => [`${one}`, one]))
    const seen = [...distinct.values()].filter(([at, by]) => !isRemoved(at, by)).sort(([a], [b]) => compareIds(a, b))
    wanted.push({ time, content, run, inManifest, seen, ...(contested && { contested }) })
    shown = content
  }
  const sorted = [...wanted, ...displaced(byTime, all, isRemoved)].sort((a, b) => compareIds(a.time, b.time))
  return { wanted: sorted, unknown }
}

/** Versions whose time a greater run has taken: no image is lost, it moves to the first free second before. */
function displaced (byTime, all, isRemoved) {
  const taken = new Set(byTime.keys())
  /** @type {Wanted[]} */
  const wanted = []
  for (const version of [...all].sort((a, b) => compareIds(b.time, a.time) || firstOf(a, b))) {
    const { time, content, run, seen } = version
    const own = ownTime(version)
    const holder = byTime.get(time)
    const isHolder = holder?.content === content && holder.contested === version.contested
    if (isHolder || isRemoved(own, run, version)) continue
    const hasMoved = other => other.content === content && other.time < time && ownTime(other) === own
    const isThere = all.some(other => byTime.get(other.time)?.content === content && hasMoved(other))
    if (isThere || wanted.some(hasMoved)) continue
    let free = addSeconds(time, -1)
    while (taken.has(free)) free = addSeconds(free, -1)
    if (!isExactTime(free)) continue // no second is left: it stays where it is
    taken.add(free)
    wanted.push({ time: free, content, run, inManifest: false, seen, contested: own })
  }
  return wanted
}

/** The time that a version was loaded for. */
const ownTime = ({ contested, time }) => contested ?? time

/** Whether a stored version is the wanted one. Its run matters where no manifest makes the statement. */
const isSame = (version, want) =>
  version.time === want.time && version.content === want.content && version.contested === want.contested &&
  (want.inManifest || version.run === want.run) &&
  want.seen.every(one => version.seen.some(other => `${other}` === `${one}`))

/** What has the bytes of a version: itself where it is stored or incoming, else anything with the same content. */
function sourceOf ({ time, content, run, contested }, sources) {
  const same = sources.filter(version => version.content === content)
  const ofTime = same.filter(version => version.time === time)
  const ofRun = ofTime.filter(version => version.run === run)
  return ofRun.find(version => version.contested === contested) ?? ofRun[0] ?? ofTime[0] ?? same[0]
}

const typeOf = version => version.doc?._attachments?.[TILE_ATTACHMENT]?.content_type

/** Order of the leaves of one document: greater runs first, so that all writers end the same ones. */
function firstOf (a, b) {
  const rank = ({ time, content, seen, rev }) => JSON.stringify([time, content, seen, rev])
  return compareIds(b.run, a.run) || b.seen.length - a.seen.length || compareIds(rank(a), rank(b))
}

/**
 * @typedef {object} TileAccess how settleTiles reads and writes
 * @property {import('../couch/client.js').CouchClient} couch
 * @property {(docs: any[], signal?: AbortSignal) => Promise<import('../couch/client.js').Written[]>} send new revisions
 * @property {(asked: {id: string, rev: string}[], signal?: AbortSignal) => Promise<any[]>} fetch revisions with bytes
 * @property {(docs: {doc: any, over: string}[], signal?: AbortSignal) => Promise<void>} [replace] writes past versions
 * instead of the revision `over`; without it that is left to `tilecouch check --fix`
 *
 * @typedef {object} Settled what became of a tile
 * @property {Statement[]} unknown statements whose bytes are nowhere
 * @property {TilecouchError} [error]
 * @property {any} [odd] a document of it that is no valid tile: then nothing of it is touched
 * @property {Version[]} before what was stored, oldest first; the head last
 * @property {(Write & {done: 'put' | 'ended'})[]} done
 */

/**
 * @param {TileAccess} access
 * @param {string[]} ids of heads
 * @param {object} options
 * @param {(ids: string[]) => Promise<(id: string) => Known>} options.knownOf called in every round
 * @param {(id: string) => Incoming[]} [options.incomingOf]
 * @param {(id: string, versions: Version[], known: Known) => TilecouchError | undefined} [options.refuse] called before
 *   anything is written
 * @param {boolean} [options.dryRun] reports what would be written
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Map<string, Settled>>}
 */
export async function settleTiles (access, ids, options) {
  const { knownOf, incomingOf = () => [], refuse = () => undefined, dryRun = false, signal } = options
  const result = new Map(ids.map(id => [id, /** @type {Settled} */ ({ unknown: [], before: [], done: [] })]))
  for (let [pending, round] = [ids, 0]; pending.length; round++) {
    const known = await knownOf(pending)
    const tiles = await readTileLeaves(access.couch, pending, signal)
    /** @type {Write[]} */
    const writes = []
    const busy = new Set()
    for (const { id, heads, pasts } of tiles) {
      const own = /** @type {Settled} */ (result.get(id))
      own.odd = [...heads, ...pasts].find(doc => !isTile(doc))
      if (own.odd) own.error = new TilecouchError('REFUSED', { id, reason: `${own.odd._id} is no valid tile` })
      if (own.odd) continue
      const [living, old] = [heads.map(versionIn), pasts.map(versionIn)]
      if (!round) {
        own.before = [...old, ...living]
        own.error = refuse(id, own.before, known(id))
        if (own.error) continue
      }
      const plan = planTile(id, living, old, known(id), incomingOf(id))
      own.unknown = plan.unknown
      if (!plan.writes.length) continue
      if (round === ROUNDS) own.error = new TilecouchError('CONTENDED', { id, attempts: ROUNDS })
      else if (dryRun) own.done = rehearse(id, living, old, known(id))
      else {
        busy.add(id)
        writes.push(...plan.writes)
      }
    }
    if (!writes.length) return result
    for (const [id, error] of await write(access, writes, result, signal)) {
      busy.delete(id)
      Object.assign(result.get(id) ?? {}, { error })
    }
    pending = [...busy]
  }
  return result
}

/** Whether a document is a valid tile: other programs write here, too. */
function isTile (doc) {
  const { layer, z, x, y, time } = parseTileId(doc._id)
  const isHead = time === undefined
  return doc.type === 'tile' && doc.layer === layer && doc.z === z && doc.x === x && doc.y === y &&
    doc.current === isHead && (isHead || doc.time === time) && isExactTime(doc.time) &&
    Boolean(doc._attachments?.[TILE_ATTACHMENT]) !== (doc.gone === true)
}

/** What would be written, step by step. */
function rehearse (id, heads, pasts, known) {
  /** @type {Settled['done']} */
  const done = []
  for (let round = 0; round < ROUNDS; round++) {
    const { writes } = planTile(id, heads, pasts, known)
    if (!writes.length) break
    for (const step of writes) {
      const { id: at, rev, want, end } = step
      done.push({ ...step, done: end ? 'ended' : 'put' })
      const isHead = at === id
      const others = (isHead ? heads : pasts).filter(version => version.id !== at || version.rev !== rev)
      const left = end ? others : [{ ...want, id: at, rev: `${ROUNDS + round}-rehearsed` }, ...others]
      if (isHead) heads = left
      else pasts = left
    }
  }
  return done
}

/** Overwrites heads, writes past versions, deletes. @returns {Promise<Map<string, TilecouchError>>} of failed tiles */
async function write (access, writes, result, signal) {
  const failed = new Map()
  const stored = writes.flatMap(({ from }) => from?.rev ? [{ id: from.id, rev: from.rev }] : [])
  const asked = [...new Map(stored.map(one => [`${one.id} ${one.rev}`, one])).values()]
  const fetched = asked.length ? await access.fetch(asked, signal) : []
  const docs = new Map(fetched.map(doc => [`${doc._id} ${doc._rev}`, doc]))
  /** @type {Map<string, {doc: any, step: Write}>} */
  const sent = new Map()
  /** @type {{doc: any, over: string}[]} */
  const over = []
  for (const step of writes) {
    const { id, rev, end, want, from } = step
    if (end) {
      // one leaf of a document at a time
      if (!sent.has(id)) sent.set(id, { doc: { _id: id, _rev: rev, _deleted: true }, step })
      continue
    }
    const source = from?.rev ? docs.get(`${from.id} ${from.rev}`) : from?.documentOf?.()
    if (from && !source) continue // somebody wrote it meanwhile: read again
    const doc = documentOf(id, want, source)
    if (id.includes('@') && rev) over.push({ doc, over: rev })
    else sent.set(id, { doc: { ...doc, ...(rev && { _rev: rev }) }, step })
  }
  const contended = id => failed.set(headId(id), new TilecouchError('CONTENDED', { id, attempts: 1 }))
  if (over.length && access.replace) await access.replace(over, signal)
  else for (const { doc } of over) contended(doc._id)
  if (!sent.size) return failed
  const sorted = [...sent.values()].map(({ doc }) => doc).sort((a, b) => compareIds(a._id, b._id))
  const answers = new Map((await access.send(sorted, signal)).map(answer => [answer.id, answer]))
  for (const [id, { step }] of sent) {
    const { rev, error, reason } = answers.get(id) ?? { error: 'no answer' }
    if (rev && !error) result.get(headId(id)).done.push({ ...step, done: step.end ? 'ended' : 'put' })
    else if (isRefusal(error)) failed.set(headId(id), new TilecouchError('REFUSED', { id, reason: reason || error }))
    // a conflict, or a shard in trouble: read again
  }
  return failed
}

/** A wanted version as a document. source: a document with the same bytes */
function documentOf (id, want, source) {
  const { time, content, run, seen, contested } = want
  const isHead = !id.includes('@')
  const { layer, z, x, y } = parseTileId(id)
  const {
    _id, _rev, _revisions, _conflicts, _attachments, seen: own, contested: was, origin, gone, ...fields
  } = source ?? {}
  const isOwn = source?.time === time || Boolean(contested)
  const isHere = isOwn || (isHead && origin?.checked === time)
  // that an upstream was asked later is in `origin.checked`
  const others = isOwn && origin?.checked ? seen.filter(([at]) => at !== origin.checked) : seen
  return {
    ...(isHere && fields),
    _id: id,
    type: 'tile',
    layer,
    z,
    x,
    y,
    current: isHead,
    time,
    stored: isHere && fields.stored ? fields.stored : beganAt(run),
    ...(run && { run }),
    ...(isHere && origin && { origin }),
    ...(others.length && { seen: others }),
    ...(contested && { contested }),
    ...(content === GONE ? { gone: true } : imageAnew(source))
  }
}
