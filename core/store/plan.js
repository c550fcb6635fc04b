// Plans the next writes to a tile, so that its head and past versions match all statements about it. This file does
// not read or write: settle.js executes a plan, reads the tile again, and plans again, until no write is left.
//
// A statement is a time, a content and the run that made it. It is in the manifest of an edition, in a stored version,
// or in an incoming version. Example: an edition of 2020 says A, one of 2021 confirms A, one of 2022 says B. Two
// versions are required, A of 2020 and B of 2022. B is the head and A is in the past.
import { TILE_ATTACHMENT, compareIds } from '../ids.js'
import { runAt } from '../runs.js'
import { addSeconds, isExactTime } from '../times.js'
import { GONE, contentOf } from './blocks.js'
import { shownBy } from './documents.js'
import { keptStatements } from './limits.js'

/**
 * @typedef {[time: string, run: string]} Seen a single write that found the version unchanged
 *
 * @typedef {object} Version
 * @property {string} time
 * @property {string} content as `contentOf` writes it
 * @property {string} run
 * @property {Seen[]} seen
 * @property {string} [contested] the time that it was loaded for, now taken by a greater run
 * @property {string} [id] of its document; undefined if it is not stored
 * @property {string} [rev]
 * @property {any} [doc]
 * @property {() => any} [documentOf] its fields and bytes, if it is not stored
 *
 * @typedef {Version & {inManifest: boolean, documentOf: () => any}} Incoming a version on its way into the store.
 * inManifest: a manifest has or will have its statement
 *
 * @typedef {{time: string, content: string, run: string}} Statement
 *
 * @typedef {object} TileFacts
 * @property {Statement[]} statements of manifests
 * @property {(time: string, run: string, version?: Version) => boolean} isRemoved version: makes the statement
 * @property {import('./limits.js').Span[]} [dropped] times that the store does not keep
 *
 * @typedef {object} RequiredVersion a version that must be stored
 * @property {string} time
 * @property {string} content
 * @property {string} run
 * @property {boolean} inManifest
 * @property {Seen[]} seen
 * @property {string} [contested]
 *
 * @typedef {object} Write
 * @property {string} id
 * @property {string} [rev] revision that is overwritten or ended
 * @property {RequiredVersion} [version] the version that is written
 * @property {Version} [from] has its bytes
 * @property {Version} [end] the version that is deleted
 *
 * @typedef {{writes: Write[], unknown: Statement[]}} Plan unknown: statements whose bytes no version has
 */

/** The single writes that a stored document names. @param {any} doc @returns {Seen[]} */
export const seenIn = ({ seen }) => Array.isArray(seen) ? seen.filter(isSeen) : []

const isSeen = entry => Array.isArray(entry) && isExactTime(entry[0]) && typeof entry[1] === 'string'

/** A stored document, with or without bytes, as a version. Fields of the wrong type are ignored. @returns {Version} */
export function versionIn (doc) {
  const checked = doc.origin?.checked
  // a check of the upstream that found nothing new counts as a single write that found no change
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
 * Plans the next writes of a tile: those of the first step that has any.
 * @param {string} id of its head
 * @param {Version[]} heads living leaves, CouchDB's winner first
 * @param {Version[]} pasts living leaves
 * @param {TileFacts} facts
 * @param {Incoming[]} [incoming]
 * @returns {Plan}
 */
export function planTile (id, heads, pasts, facts, incoming = []) {
  const tile = new PlannedTile(id, heads, pasts, facts, incoming)
  for (const step of STEPS) {
    const writes = step(tile)
    if (writes.length) return { writes, unknown: tile.unknown }
  }
  return { writes: [], unknown: tile.unknown }
}

/** The stored versions of a tile, and the versions that must be stored. */
class PlannedTile {
  /** Statements whose bytes no version has. @type {Statement[]} */
  unknown
  /** Versions that must be stored, oldest first. @type {RequiredVersion[]} */
  required

  /**
   * @param {string} id @param {Version[]} heads @param {Version[]} pasts @param {TileFacts} facts
   * @param {Incoming[]} incoming
   */
  constructor (id, heads, pasts, { statements, isRemoved, dropped = [] }, incoming) {
    this.id = id
    this.heads = heads
    this.pasts = [...pasts].sort(compareLeaves)
    this.stored = [...heads, ...this.pasts]
    this.sources = [...this.stored, ...incoming]
    const statementsHere = statementsByTime(statements, this.sources, isRemoved)
    const byTime = keptStatements(statementsHere, this.sources, dropped)
    const { required, unknown } = requiredVersions(byTime, this.stored, this.sources, isRemoved)
    this.required = required
    this.unknown = unknown
  }

  /** The winning leaf of the head document. */
  get head () {
    return this.heads.at(0)
  }

  /** The version that must be the head. */
  get newest () {
    return this.required.at(-1)
  }

  /** The versions that must be in the past, oldest first. */
  get older () {
    return this.required.slice(0, -1)
  }

  isInPast (version) {
    return this.pasts.some(past => isSame(past, version))
  }

  isInHead (version) {
    return this.heads.some(head => isSame(head, version))
  }

  /** The past version of a time, with any content. */
  pastOf (time) {
    return this.pasts.find(past => past.time === time)
  }

  /** @param {string} [rev] revision that is overwritten @returns {Write} */
  writeHead (version, rev) {
    return this.#write(version, this.id, rev)
  }

  /** @param {string} [rev] revision that is overwritten @returns {Write} */
  writePast (version, rev) {
    return this.#write(version, `${this.id}@${version.time}`, rev)
  }

  #write (version, id, rev) {
    return { id, ...(rev && { rev }), version, from: sourceOf(version, this.sources) }
  }

  /**
   * Plans a past version. If it replaces a past version that another one needs, the other one is written first.
   * Example: the past version of 2020 shows A and must show B. If A must be stored for 2019 and has no other copy, A is
   * written for 2019 first.
   * @returns {Write}
   */
  replacePast (version) {
    const replaced = this.pastOf(version.time)
    const isDependent = other => other.time !== version.time && !this.isInHead(other) && !this.pastOf(other.time) &&
      needs(other, replaced)
    const dependent = replaced && replaced.content !== version.content ? this.required.find(isDependent) : undefined
    if (!dependent) return this.writePast(version, replaced?.rev)
    return dependent === this.newest && !this.head ? this.writeHead(dependent) : this.replacePast(dependent)
  }
}

/** Each step returns the writes that it still needs. A step is used if the earlier ones return none. */
const STEPS = [saveHeads, endLaterPasts, writeNewest, addPasts, replacePasts, endOthers]

/**
 * Copies the content of a leaf of the head to the past before the leaf is overwritten or ended. Example: the head shows
 * A of 2020 and must show B of 2022: A is written for 2020 first.
 */
function saveHeads (tile) {
  const { heads, head, newest, older } = tile
  if (!newest) return []
  for (const leaf of heads) {
    const isNewest = isSame(leaf, newest)
    if (leaf === head && isNewest) continue
    const dependent = older.findLast(version => needs(version, leaf) && !tile.isInPast(version))
    if (dependent) return [tile.replacePast(dependent)]
    // a leaf that lost the conflict has the newest version: CouchDB's winner gets it
    if (isNewest && !isSame(head, newest)) return [tile.writeHead(newest, head.rev)]
  }
  return []
}

/**
 * Ends past versions that are later than the newest required version, before that becomes the head: a head is never
 * older than a past version. Past versions whose bytes or confirmations are still needed stay for now.
 */
function endLaterPasts (tile) {
  const { pasts, newest, required } = tile
  if (!newest) return []
  const isStored = version => tile.isInPast(version) || tile.isInHead(version)
  const isNeeded = past => required.some(version => !isStored(version) && needs(version, past))
  return pasts.filter(past => past.time > newest.time && !isNeeded(past)).map(end)
}

/** Makes the newest version the head. */
function writeNewest (tile) {
  const { head, newest } = tile
  if (!newest || (head && isSame(head, newest))) return []
  return [tile.writeHead(newest, head?.rev)]
}

/** Adds past versions of times that have none. These overwrite nothing, so all are written together. */
function addPasts (tile) {
  return missingPasts(tile).filter(({ time }) => !tile.pastOf(time)).map(version => tile.writePast(version))
}

/** Replaces one past version that has another content. From new to old, so that no time changes twice. */
function replacePasts (tile) {
  const [version] = missingPasts(tile)
  return version ? [tile.replacePast(version)] : []
}

/** Newest first. */
const missingPasts = tile => tile.older.filter(version => !tile.isInPast(version)).reverse()

/**
 * Ends versions that no statement supports, and leaves that repeat another leaf. The head is ended last: a tile with
 * a past always has a head.
 */
function endOthers ({ heads, pasts, head, newest, required }) {
  const isAlike = (a, b) => a.time === b.time && a.content === b.content && a.contested === b.contested
  const kept = required.map(version =>
    pasts.find(past => isSame(past, version)) ?? pasts.find(past => isAlike(past, version)))
  // if the images of two leaves differ only in their type, `check --fix` ends the wrong one
  const isForCheck = version => kept.some(other =>
    other && other.id === version.id && other.content === version.content && typeOf(other) !== typeOf(version))
  const ended = [...heads.slice(1), ...pasts].filter(version => !kept.includes(version) && !isForCheck(version))
  if (head && !newest && !ended.length) ended.push(head)
  return ended.map(end)
}

/** @param {Version} version @returns {Write} */
const end = version => ({ id: /** @type {string} */ (version.id), rev: version.rev, end: version })

/** Whether a version needs the bytes or a confirmation of a stored one. */
const needs = (version, stored) =>
  version.content === stored.content || stored.seen.some(([time]) => time === version.time)

/** Time -> the statement of the greatest run, which counts. */
function statementsByTime (statements, versions, isRemoved) {
  /** @type {Map<string, {content: string, run: string, inManifest: boolean, contested?: string}>} */
  const byTime = new Map()
  const add = (time, content, run, inManifest, contested, version) => {
    if (isRemoved(contested ?? time, run, version)) return
    const previous = byTime.get(time)
    const isLater = !previous || run > previous.run || (run === previous.run && inManifest)
    // a version that was loaded for this time is preferred to one with the same content that was moved here
    const original = previous?.content !== content ? contested : earlierOf(previous?.contested, contested)
    if (isLater) byTime.set(time, { content, run, inManifest, contested: original })
    else if (previous?.content === content) previous.contested = original
  }
  for (const { time, content, run } of statements) add(time, content, run, true)
  for (const version of versions) {
    const { time, content, run, seen, contested, inManifest = false } = version
    add(time, content, run, inManifest, contested, version)
    for (const [seenAt, seenBy] of seen) add(seenAt, content, seenBy, false, undefined, version)
  }
  return byTime
}

function earlierOf (a, b) {
  if (!a || !b) return undefined
  return a < b ? a : b
}

/**
 * Returns a version for each statement whose content differs from the one before. A stored version may stay although
 * it repeats the content.
 */
function requiredVersions (byTime, stored, sources, isRemoved) {
  const isStored = (time, content) => stored.some(version => version.time === time && version.content === content)
  const available = new Set([GONE, ...sources.map(({ content }) => content)])
  /** @type {RequiredVersion[]} */
  const required = []
  /** @type {Statement[]} */
  const unknown = []
  let shownContent = GONE
  for (const time of [...byTime.keys()].sort(compareIds)) {
    const { content, run, inManifest, contested } = byTime.get(time)
    const last = required.at(-1)
    // a single write that found no change is noted in the version that is shown at its time, whichever one it met
    const isThisWrite = ([seenAt, seenBy]) => seenAt === time && seenBy === run
    const isConfirmed = sources.some(version => version.content === content && version.seen.some(isThisWrite))
    const isRepeated = content === shownContent && (inManifest || (last && isConfirmed))
    if (isRepeated && !isStored(time, content)) {
      if (!inManifest && last && !last.seen.some(isThisWrite)) last.seen.push([time, run])
    } else if (available.has(content)) {
      const seen = confirmationsOf(time, content, sources, isRemoved)
      required.push({ time, content, run, inManifest, seen, ...(contested && { contested }) })
      shownContent = content
    } else {
      unknown.push({ time, content, run })
    }
  }
  required.push(...displacedVersions(byTime, stored, isRemoved))
  return { required: required.sort((a, b) => compareIds(a.time, b.time)), unknown }
}

/** The single writes that found a version unchanged, each once. @returns {Seen[]} */
function confirmationsOf (time, content, sources, isRemoved) {
  const versions = sources.filter(version => version.time === time && version.content === content)
  const distinct = new Map(versions.flatMap(({ seen }) => seen).map(entry => [`${entry}`, entry]))
  const isValid = ([seenAt, seenBy]) => !isRemoved(seenAt, seenBy)
  return [...distinct.values()].filter(isValid).sort(([a], [b]) => compareIds(a, b))
}

/** Versions whose time a greater run has taken. To keep their images, they move to the first free second before. */
function displacedVersions (byTime, stored, isRemoved) {
  const taken = new Set(byTime.keys())
  /** @type {RequiredVersion[]} */
  const moved = []
  for (const version of [...stored].sort((a, b) => compareIds(b.time, a.time) || compareLeaves(a, b))) {
    const { time, content, run, seen } = version
    const loadedFor = loadTime(version)
    const holder = byTime.get(time)
    const isHolder = holder?.content === content && holder.contested === version.contested
    if (isHolder || isRemoved(loadedFor, run, version)) continue
    const hasMoved = other => other.content === content && other.time < time && loadTime(other) === loadedFor
    const isStoredElsewhere = stored.some(other => byTime.get(other.time)?.content === content && hasMoved(other))
    if (isStoredElsewhere || moved.some(hasMoved)) continue
    let free = addSeconds(time, -1)
    while (taken.has(free)) free = addSeconds(free, -1)
    if (!isExactTime(free)) continue // no free second is left: the version stays
    taken.add(free)
    moved.push({ time: free, content, run, inManifest: false, seen, contested: loadedFor })
  }
  return moved
}

/** The time that a version was loaded for. */
const loadTime = ({ contested, time }) => contested ?? time

/** Whether a stored version is a required one. Its run counts unless a manifest makes the statement. */
const isSame = (version, required) =>
  version.time === required.time && version.content === required.content && version.contested === required.contested &&
  (required.inManifest || version.run === required.run) &&
  required.seen.every(entry => version.seen.some(other => `${other}` === `${entry}`))

/** The source of the bytes of a version: the version itself, if stored or incoming, or one of the same content. */
function sourceOf ({ time, content, run, contested }, sources) {
  const sameContent = sources.filter(version => version.content === content)
  const ofTime = sameContent.filter(version => version.time === time)
  const ofRun = ofTime.filter(version => version.run === run)
  return ofRun.find(version => version.contested === contested) ?? ofRun[0] ?? ofTime[0] ?? sameContent[0]
}

const typeOf = version => version.doc?._attachments?.[TILE_ATTACHMENT]?.content_type

/** The order of leaves of one document: greater runs first, so that all writers end the same leaves. */
function compareLeaves (a, b) {
  const rank = ({ time, content, seen, rev }) => JSON.stringify([time, content, seen, rev])
  return compareIds(b.run, a.run) || b.seen.length - a.seen.length || compareIds(rank(a), rank(b))
}
