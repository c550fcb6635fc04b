// Settles tiles: makes heads and past versions what all statements about a tile together say, whatever the order in which they
// came. A statement is a time, a content and the run that said it. They come from the manifests of editions, from the versions
// that are stored (each speaks for itself), and from what is being written.
//
// `planTile` is pure and says what to write next. `settleTiles` reads, plans, writes and reads again, until nothing is left to
// do. It may be killed anywhere: whoever settles the tile next goes on.
import { TilecouchError } from '../errors.js'
import { TILE_ATTACHMENT, compareIds, headId, parseTileId } from '../ids.js'
import { beganAt, runAt } from '../runs.js'
import { addSeconds, isExactTime } from '../times.js'
import { GONE, contentOf } from './blocks.js'
import { imageAnew, shownBy } from './documents.js'
import { readTileLeaves } from './leaves.js'
import { isRefusal } from '../couch/answers.js'

const ROUNDS = 40 // of reading and writing before a tile is given up as contended: one whose past is long may need a dozen

/**
 * @typedef {[time: string, run: string]} Seen a single write that found the version unchanged
 *
 * @typedef {object} Version
 * @property {string} time
 * @property {string} content as `contentOf` says it
 * @property {string} run
 * @property {Seen[]} seen
 * @property {string} [contested] the time that it was loaded for, which a greater run has
 * @property {string} [id] of its document; none while it is not stored
 * @property {string} [rev]
 * @property {any} [doc]
 * @property {() => any} [documentOf] its fields and bytes, while it is not stored
 *
 * @typedef {Version & {inManifest: boolean, documentOf: () => any}} Incoming a version on its way into the store. inManifest: a manifest says
 * the same. documentOf: its fields and bytes
 *
 * @typedef {{time: string, content: string, run: string}} Statement
 *
 * @typedef {object} Known what others say of a tile
 * @property {Statement[]} statements of manifests
 * @property {(time: string, run: string, version?: Version) => boolean} isRemoved version: that says so, when it is no manifest
 *
 * @typedef {{time: string, content: string, run: string, inManifest: boolean, seen: Seen[], contested?: string}} Wanted contested: the
 * time that it was loaded for, which a greater run has
 * @typedef {{id: string, rev?: string, want?: Wanted, from?: Version, end?: Version}} Write want: what is to stand there, with the bytes
 * `from`; end: what goes
 * @typedef {{writes: Write[], unknown: Statement[]}} Plan unknown: statements whose bytes are nowhere
 */

/** The single writes that a stored document names. @param {any} doc @returns {Seen[]} */
export const seenIn = ({ seen }) => Array.isArray(seen) ? seen.filter(one => Array.isArray(one) && isExactTime(one[0]) && typeof one[1] === 'string') : []

/** A stored document as a version; fields that no program of ours writes are passed over. @param {any} doc without bytes @returns {Version} */
export function versionIn (doc) {
  const checked = doc.origin?.checked
  return {
    id: doc._id,
    rev: doc._rev,
    doc,
    time: doc.time,
    content: contentOf(shownBy(doc)),
    run: typeof doc.run === 'string' ? doc.run : runAt(doc.stored),
    ...(isExactTime(doc.contested) && { contested: doc.contested }),
    // an upstream that was asked and had nothing new has said the same again
    seen: [...seenIn(doc), ...(isExactTime(checked) && checked > doc.time ? [/** @type {Seen} */ ([checked, runAt(checked)])] : [])]
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
export function planTile (id, heads, pasts, { statements, isRemoved }, incoming = []) {
  pasts = [...pasts].sort(firstOf)
  const all = [...heads, ...pasts]
  const sources = [...all, ...incoming]
  const byTime = gather(statements, [...all, ...incoming], isRemoved)
  const isStated = version => byTime.get(version.time)?.content === version.content
  const { wanted, unknown } = walk(byTime, all, sources, isStated, isRemoved)

  const top = wanted.at(-1)
  const [head, ...others] = heads
  const inPast = want => pasts.some(version => isSame(version, want))
  const put = (want, at, rev) => ({ id: at, ...(rev && { rev }), want, from: sourceOf(want, sources) })
  const placeOf = want => `${id}@${want.time}`
  const place = (want, over = pasts.find(({ time }) => time === want.time)) => {
    // whatever needs the bytes or a word of a leaf that goes comes first
    const first = over && over.content !== want.content && wanted.find(other =>
      !heads.some(version => isSame(version, other)) && other.time !== want.time && !pasts.some(({ time }) => time === other.time) &&
      (other.content === over.content || over.seen.some(([at]) => at === other.time)))
    if (first) return first === top && !head ? put(top, id) : place(first)
    return put(want, placeOf(want), over?.rev)
  }
  const writes = () => {
    // 1. what a leaf of the head holds stands in the past before that leaf goes
    for (const leaf of heads) {
      if (!top || (leaf === head && isSame(leaf, top))) continue
      const needs = wanted.slice(0, -1).filter(want => want.content === leaf.content || leaf.seen.some(([at]) => at === want.time)).filter(want => !inPast(want))
      if (needs.length) return [place(/** @type {Wanted} */ (needs.at(-1)))]
      if (leaf !== head && isSame(leaf, top) && !isSame(head, top)) return [put(top, id, head.rev)]
    }
    // 2. the head is the newest: before it falls back, what was between goes, unless its bytes are needed
    const isMet = want => inPast(want) || heads.some(version => isSame(version, want))
    const above = !top ? [] : pasts.filter(({ time, content, seen }) => time > top.time &&
      !wanted.some(want => !isMet(want) && (want.content === content || seen.some(([at]) => at === want.time))))
    if (above.length) return above.map(version => ({ id: /** @type {string} */ (version.id), rev: version.rev, end: version }))
    if (top && !(head && isSame(head, top))) return [put(top, id, head?.rev)]
    // 3. the past: what is new destroys nothing; else from new to old, so that no time changes twice
    const missing = wanted.slice(0, -1).filter(want => !inPast(want)).reverse()
    const fresh = missing.filter(({ time }) => !pasts.some(version => version.time === time))
    if (fresh.length) return fresh.map(want => put(want, placeOf(want)))
    if (missing.length) return [place(missing[0])]
    // 4. last, what nobody says any more goes, and leaves of which another says the same
    const stays = wanted.map(want => pasts.find(version => isSame(version, want)) ?? pasts.find(({ time, content, contested }) => time === want.time && content === want.content && contested === want.contested))
    // of two leaves that differ in the type of their image alone, `check --fix` is about to end the one that is wrong
    const isMended = version => stays.some(other => other && other.id === version.id && other.content === version.content && typeOf(other) !== typeOf(version))
    const ends = [...others, ...pasts].filter(version => !stays.includes(version) && !isMended(version))
    // the head goes last: a tile has its head, or nothing at all
    if (head && !top && !ends.length) ends.push(head)
    return ends.map(version => ({ id: /** @type {string} */ (version.id), rev: version.rev, end: version }))
  }
  return { writes: writes(), unknown }
}

/** Time -> what was said of it. Of two for one time the greater run counts. */
function gather (statements, versions, isRemoved) {
  /** @type {Map<string, {content: string, run: string, inManifest: boolean, contested?: string}>} */
  const byTime = new Map()
  const say = (time, content, run, inManifest, contested, version) => {
    if (isRemoved(contested ?? time, run, version)) return
    const before = byTime.get(time)
    const isLater = !before || run > before.run || (run === before.run && inManifest)
    // what belongs there stays rather than what had to move there, though it shows the same
    const belongs = before?.content !== content ? contested : !before?.contested || !contested ? undefined : before.contested < contested ? before.contested : contested
    if (isLater) byTime.set(time, { content, run, inManifest, contested: belongs })
    else if (before?.content === content) before.contested = belongs
  }
  for (const { time, content, run } of statements) say(time, content, run, true)
  for (const version of versions) {
    const { time, content, run, seen, contested, inManifest = false } = version
    say(time, content, run, inManifest, contested, version)
    for (const [at, by] of seen) say(at, content, by, false, undefined, version)
  }
  return byTime
}

/** The versions that must be: where what is said differs from what was shown before. What already stands may stay, though it repeats. */
function walk (byTime, all, sources, isStated, isRemoved) {
  const known = new Set([GONE, ...sources.map(({ content }) => content)])
  /** @type {Wanted[]} */
  const wanted = []
  /** @type {Statement[]} */
  const unknown = []
  let shown = GONE
  for (const time of [...byTime.keys()].sort(compareIds)) {
    const { content, run, inManifest, contested } = byTime.get(time)
    // a single write that found a version unchanged is told by the one that is shown then, whichever it told it to
    const last = wanted.at(-1)
    const isSeen = sources.some(version => version.content === content && version.seen.some(([at, by]) => at === time && by === run))
    if (content === shown && (inManifest || (isSeen && last)) && !all.some(version => version.time === time && isStated(version))) {
      if (!inManifest && last && !last.seen.some(([at, by]) => at === time && by === run)) last.seen.push([time, run])
      continue
    }
    if (!known.has(content)) {
      unknown.push({ time, content, run })
      continue
    }
    const seen = sources.filter(version => version.time === time && version.content === content).flatMap(version => version.seen)
    const each = [...new Map(seen.map(one => [`${one}`, one])).values()].filter(([at, by]) => !isRemoved(at, by))
    wanted.push({ time, content, run, inManifest, seen: each.sort(([a], [b]) => compareIds(a, b)), ...(contested && { contested }) })
    shown = content
  }
  return { wanted: [...wanted, ...displaced(byTime, all, isRemoved)].sort((a, b) => compareIds(a.time, b.time)), unknown }
}

/** Versions that gave way to a greater run of the very time: no image is lost, it goes to the first free second before. */
function displaced (byTime, all, isRemoved) {
  const taken = new Set(byTime.keys())
  /** @type {Wanted[]} */
  const wanted = []
  for (const version of [...all].sort((a, b) => compareIds(b.time, a.time) || firstOf(a, b))) {
    const { time, content, run, seen } = version
    const own = ownTime(version)
    const holder = byTime.get(time)
    if ((holder?.content === content && holder.contested === version.contested) || isRemoved(own, run, version)) continue
    const stands = other => other.content === content && other.time < time && ownTime(other) === own
    if (all.some(other => byTime.get(other.time)?.content === content && stands(other)) || wanted.some(stands)) continue
    let free = addSeconds(time, -1)
    while (taken.has(free)) free = addSeconds(free, -1)
    if (!isExactTime(free)) continue // there is no second left: it stays where it is
    taken.add(free)
    wanted.push({ time: free, content, run, inManifest: false, seen, contested: own })
  }
  return wanted
}

/** The time that a version was loaded for. @param {Version | Wanted} version */
const ownTime = ({ contested, time }) => contested ?? time

/** Whether a stored version says all that is wanted. Which run byTime it matters where no manifest does. @param {Version} version @param {Wanted} want */
const isSame = (version, { time, content, run, inManifest, seen, contested }) => version.time === time && version.content === content && version.contested === contested && (inManifest || version.run === run) &&
  seen.every(one => version.seen.some(other => `${other}` === `${one}`))

/** What a version is made of: itself where it stands or comes from, else anything with the same bytes. */
const sourceOf = ({ time, content, run, contested }, sources) => {
  const same = sources.filter(version => version.content === content)
  return same.find(version => version.time === time && version.run === run && version.contested === contested) ?? same.find(version => version.time === time && version.run === run) ?? same.find(version => version.time === time) ?? same[0]
}

/** @param {Version} version */
const typeOf = ({ doc }) => doc?._attachments?.[TILE_ATTACHMENT]?.content_type

/** Leaves of one document, those of greater runs first: whoever settles what, one ends only for one before it. */
function firstOf (a, b) {
  const rank = ({ time, content, seen, rev }) => JSON.stringify([time, content, seen, rev])
  return compareIds(b.run, a.run) || b.seen.length - a.seen.length || compareIds(rank(a), rank(b))
}

/**
 * @typedef {object} TileAccess to the database
 * @property {import('../couch/client.js').CouchClient} couch
 * @property {(docs: any[], signal?: AbortSignal) => Promise<{id: string, ok?: boolean, rev?: string, error?: string, reason?: string}[]>} send new revisions
 * @property {(asked: {id: string, rev: string}[], signal?: AbortSignal) => Promise<any[]>} fetch those very revisions, with their bytes
 * @property {(docs: {doc: any, over: string}[], signal?: AbortSignal) => Promise<void>} [replace] past versions that are to stand instead of the
 * revision `over`; without it they are left to `tilecouch check --fix`
 *
 * @typedef {object} Settled what became of a tile
 * @property {Statement[]} unknown statements whose bytes are nowhere
 * @property {TilecouchError} [error]
 * @property {any} [odd] a document of it that is no valid tile: then nothing of it is touched
 * @property {Version[]} before what stood there, oldest first; the head last
 * @property {(Write & {done: 'put' | 'ended'})[]} done
 */

/**
 * @param {TileAccess} access
 * @param {string[]} ids of heads
 * @param {object} options
 * @param {(ids: string[]) => Promise<(id: string) => Known>} options.knownOf what is byTime of some tiles: asked anew in every round
 * @param {(id: string) => Incoming[]} [options.incomingOf]
 * @param {(id: string, versions: Version[], known: Known) => TilecouchError | undefined} [options.refuse] looked at before anything is written
 * @param {boolean} [options.dryRun] says what would be written
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Map<string, Settled>>}
 */
export async function settleTiles (access, ids, { knownOf, incomingOf = () => [], refuse = () => undefined, dryRun = false, signal }) {
  const result = new Map(ids.map(id => [id, /** @type {Settled} */ ({ unknown: [], before: [], done: [] })]))
  let pending = ids
  for (let round = 0; pending.length; round++) {
    const known = await knownOf(pending)
    const tiles = await readTileLeaves(access.couch, pending, signal)
    /** @type {Write[]} */
    const writes = []
    const busy = new Set()
    for (const { id, heads, pasts } of tiles) {
      const own = /** @type {Settled} */ (result.get(id))
      own.odd = [...heads, ...pasts].find(doc => !isTile(doc))
      if (own.odd) {
        own.error = new TilecouchError('REFUSED', { id, reason: `${own.odd._id} is no valid tile` })
        continue
      }
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
    for (const [id, error] of await writeAll(access, writes, result, signal)) {
      busy.delete(id)
      const own = /** @type {Settled} */ (result.get(id))
      own.error = error
    }
    pending = [...busy]
  }
  return result
}

/** Whether a document says what it is: other programs write here, too. */
function isTile (doc) {
  const { layer, z, x, y, time } = parseTileId(doc._id)
  const isRight = doc.layer === layer && doc.z === z && doc.x === x && doc.y === y && doc.current === (time === undefined) && (time === undefined || doc.time === time)
  return isRight && doc.type === 'tile' && isExactTime(doc.time) && Boolean(doc._attachments?.[TILE_ATTACHMENT]) !== (doc.gone === true)
}

/** What would be written, step by step. @param {string} id @param {Version[]} heads @param {Version[]} pasts @param {Known} known */
function rehearse (id, heads, pasts, known) {
  /** @type {Settled['done']} */
  const done = []
  for (let round = 0; round < ROUNDS; round++) {
    const { writes } = planTile(id, heads, pasts, known)
    if (!writes.length) break
    for (const write of writes) {
      const { id: at, rev, want, end } = write
      done.push({ ...write, done: end ? 'ended' : 'put' })
      const isHead = at === id
      const others = (isHead ? heads : pasts).filter(version => version.id !== at || version.rev !== rev)
      const left = end ? others : [{ .../** @type {Wanted} */ (want), id: at, rev: `${ROUNDS + round}-rehearsed` }, ...others]
      if (isHead) heads = left
      else pasts = left
    }
  }
  return done
}

/** @param {TileAccess} access @param {Write[]} writes @returns {Promise<Map<string, TilecouchError>>} tiles that cannot go on */
async function writeAll (access, writes, result, signal) {
  const failed = new Map()
  const stored = writes.flatMap(({ from }) => from?.rev ? [{ id: /** @type {string} */ (from.id), rev: from.rev }] : [])
  const asked = [...new Map(stored.map(one => [`${one.id} ${one.rev}`, one])).values()]
  const docs = new Map((asked.length ? await access.fetch(asked, signal) : []).map(doc => [`${doc._id} ${doc._rev}`, doc]))
  const [sent, over] = [/** @type {Map<string, {doc: any, write: Write}>} */ (new Map()), /** @type {{doc: any, over: string, write: Write}[]} */ ([])]
  for (const write of writes) {
    const { id, rev, end, want, from } = write
    if (end) {
      // one leaf of a document at a time
      if (!sent.has(id)) sent.set(id, { doc: { _id: id, _rev: rev, _deleted: true }, write })
      continue
    }
    const source = from?.rev ? docs.get(`${from.id} ${from.rev}`) : from?.documentOf?.()
    if (from && !source) continue // somebody wrote it meanwhile: read again
    const doc = documentOf(id, /** @type {Wanted} */ (want), source)
    if (id.includes('@') && rev) over.push({ doc, over: rev, write })
    else sent.set(id, { doc: { ...doc, ...(rev && { _rev: rev }) }, write })
  }
  if (over.length) {
    if (access.replace) await access.replace(over, signal)
    else for (const { write } of over) failed.set(headId(write.id), new TilecouchError('CONTENDED', { id: write.id, attempts: 1 }))
  }
  if (!sent.size) return failed
  const answers = new Map((await access.send([...sent.values()].map(({ doc }) => doc).sort((a, b) => compareIds(a._id, b._id)), signal)).map(answer => [answer.id, answer]))
  for (const [id, { write }] of sent) {
    const { rev, error, reason } = answers.get(id) ?? { error: 'no answer' }
    if (rev && !error) result.get(headId(id)).done.push({ ...write, done: write.end ? 'ended' : 'put' })
    else if (isRefusal(error)) failed.set(headId(id), new TilecouchError('REFUSED', { id, reason: reason || error }))
    // a conflict, or a shard in trouble: read again
  }
  return failed
}

/** A wanted version as a document. @param {string} id @param {Wanted} want @param {any} [source] a document with the same bytes */
function documentOf (id, { time, content, run, seen, contested }, source) {
  const isHead = !id.includes('@')
  const { layer, z, x, y } = parseTileId(id)
  const { _id, _rev, _revisions, _conflicts, _attachments, seen: own, contested: was, origin, gone, ...fields } = source ?? {}
  const isOwn = source?.time === time || Boolean(contested)
  // what somebody saw later is told by `origin.checked` where an upstream was asked
  const isHere = isOwn || (isHead && origin?.checked === time)
  const told = isOwn && origin?.checked ? seen.filter(([at]) => at !== origin.checked) : seen
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
    ...(told.length && { seen: told }),
    ...(contested && { contested }),
    ...(content === GONE ? { gone: true } : imageAnew(source))
  }
}

