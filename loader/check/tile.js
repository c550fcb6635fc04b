// Checks tiles: one document, the versions of one tile, and all of its living leaves. It finds documents that the
// validation function refuses: other programs and replication can fill a store without it.
import { TILE_ATTACHMENT, asOf, compareIds, isAhead, isExactTime, parseTileId } from '../../core/index.js'
import { shownBy } from '../../core/store/documents.js'
import { wrongRuns, wrongTimes } from '../../core/tile-rules.js'
import { tombstone } from '../store/revisions.js'
import { problemsOf } from './files/decode.js'

/**
 * @param {any} doc
 * @returns {{address?: import('../../core/ids.js').VersionAddress, problems: import('./files/decode.js').Problems}}
 * address: missing if the document is no tile
 */
export function checkDocument (doc) {
  let address
  try {
    address = parseTileId(doc._id)
  } catch (error) {
    return { problems: [['bad-id', error.details?.why]] }
  }
  const fieldsText = (...fields) => fields.map(field => `${field} ${JSON.stringify(doc[field])}`).join(', ')
  if (doc.type !== 'tile') return { problems: [['not-a-tile', fieldsText('type')]] }
  const wrongFields = ['layer', 'z', 'x', 'y'].filter(field => doc[field] !== address[field])
  const isPast = address.time !== undefined
  const attachmentNames = Object.keys(doc._attachments ?? {})
  const hasBytes = attachmentNames.includes(TILE_ATTACHMENT)
  const problems = problemsOf([
    [wrongFields.length, 'fields-disagree', fieldsText(...wrongFields)],
    [doc.current !== !isPast, 'wrong-current', fieldsText('current')],
    [!isExactTime(doc.time), 'bad-time', fieldsText('time')],
    ...wrongTimes(doc, isExactTime).map(field => [true, 'bad-time', fieldsText(field)]),
    ...wrongRuns(doc, isExactTime).map(field => [true, 'bad-run', fieldsText(field)]),
    [isExactTime(doc.stored) && isAhead(doc.stored), 'odd-time', `stored ${doc.stored}`],
    [isPast && isExactTime(doc.time) && doc.time !== address.time, 'time-disagrees', `time ${doc.time}`],
    ...attachmentNames.filter(name => name !== TILE_ATTACHMENT).map(name => [true, 'stray-attachment', name]),
    [doc.gone === true && hasBytes, 'gone-with-bytes'],
    [doc.gone !== true && !hasBytes, 'no-bytes'],
    [doc._conflicts?.length, 'conflict', `${doc._rev} and ${doc._conflicts}`]
  ])
  return { address, problems }
}

/**
 * @typedef {{time: string, digest: string | null, current: boolean, doc: any}} TileVersion digest: null when gone
 * @typedef {{id: string, z: number, x: number, y: number, versions: TileVersion[]}} Tile versions: the head first, then
 * the past
 */

/**
 * Groups documents by tile, in the order of their ids. The past of a tile does not follow its head at once: rows that
 * begin with the same digits are in between (412, 4120, 4121, ..., 412@...). A tile stays open while its id is a prefix
 * of the current id. There are at most as many open tiles as a row has digits.
 */
export class Timelines {
  /** @type {Tile[]} */
  #open = []

  /**
   * Takes the next document.
   * @param {import('../../core/ids.js').VersionAddress} address
   * @param {any} doc
   * @returns {Tile[]} tiles that are complete now
   */
  add ({ layer, z, x, y, time }, doc) {
    const id = `${layer}:${z}:${x}:${y}`
    const complete = this.#close(doc._id)
    let tile = this.#open.at(-1)
    if (tile?.id !== id) this.#open.push(tile = { id, z, x, y, versions: [] })
    tile.versions.push(versionOf(doc, time))
    return complete
  }

  /** Returns the last tiles. */
  end () {
    return this.#close('')
  }

  #close (id) {
    const lastOpen = this.#open.findLastIndex(tile => id.startsWith(tile.id))
    return this.#open.splice(lastOpen + 1).reverse()
  }
}

/** @param {any} doc @param {string} [time] from its id, which takes precedence over its field */
export const versionOf = (doc, time) => ({
  time: time ?? doc.time, digest: shownBy(doc), current: time === undefined, doc
})

/**
 * Finds faults of the versions of one tile.
 * @param {Pick<Tile, 'versions'>} tile
 * @returns {import('./files/decode.js').Problems}
 */
export function checkTimeline ({ versions }) {
  const head = versions.find(version => version.current)
  const past = versions.filter(version => !version.current)
  const newest = past.at(-1)
  if (!versions.length) return []
  if (!head) return [['no-head', `${past.length} in the past, the newest of ${newest?.time}`]]
  /** @type {import('./files/decode.js').Problems} */
  const problems = []
  if (newest && newest.time > head.time) problems.push(['head-too-old', `head of ${head.time}, past of ${newest.time}`])
  const twin = past.find(({ time }) => time === head.time)
  if (twin && twin.digest !== head.digest) {
    problems.push(['two-at-one-time', `${head.time}: ${head.digest} and ${twin.digest}`])
  }
  for (const { later, first } of findTwins(head, past)) {
    problems.push(['version-twice', `${later.time} and ${first.time}`])
  }
  return problems
}

/**
 * Finds versions that are in the past twice. A copy of the head is none: a load that was killed leaves it.
 * @param {TileVersion | undefined} head @param {TileVersion[]} past in the order of their times
 * @returns {{first: TileVersion, later: TileVersion}[]}
 */
function findTwins (head, past) {
  const firstByKey = new Map()
  const twins = []
  for (const version of past) {
    if (version.time === head?.time) continue
    const key = `${version.doc.contested ?? version.time} ${version.digest}`
    if (firstByKey.has(key)) twins.push({ first: firstByKey.get(key), later: version })
    else firstByKey.set(key, version)
  }
  return twins
}

/** Returns the version that a tile shows as of a time, if any. @param {Tile} tile @param {string} time */
export function shownAt ({ versions }, time) {
  const sorted = [...versions].sort((a, b) => compareIds(a.time, b.time) || +a.current - +b.current)
  return asOf(sorted, time)
}

/** @typedef {{id: string, heads: any[], pasts: any[]}} Leaves living leaves of a tile */

/** Returns the faults of one document, without conflicts. @param {any} doc */
export const faultsOf = doc => checkDocument(doc).problems.filter(([code]) => code !== 'conflict')

/** Returns deletions of versions that are in the past twice. The earlier document stays. @param {Leaves} leaves */
export function endTwins ({ heads: [head], pasts }) {
  const past = pasts.map(doc => versionOf(doc, doc.time))
  return findTwins(head, past).map(({ later: { doc } }) => tombstone(doc._id, doc._rev))
}

/** @param {Leaves[]} tiles @returns {Set<string>} faults, as `code id` */
export function faultsIn (tiles) {
  const faults = new Set()
  for (const { id, heads, pasts } of tiles) {
    const counts = new Map()
    for (const doc of [...heads, ...pasts]) {
      for (const [code] of faultsOf(doc)) faults.add(`${code} ${doc._id}`)
      counts.set(doc._id, (counts.get(doc._id) ?? 0) + 1)
    }
    for (const [docId, leaves] of counts) if (leaves > 1) faults.add(`conflict ${docId}`)
    const past = pasts.map(doc => versionOf(doc, doc._id.slice(id.length + 1)))
    for (const [code] of checkTimeline({ versions: [...heads.slice(0, 1).map(doc => versionOf(doc)), ...past] })) {
      faults.add(`${code} ${id}`)
    }
  }
  return faults
}
