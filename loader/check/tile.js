// One tile document by itself: what the validation of the store demands, seen from outside, for stores that were filled
// before it was deployed, by other programs or by replication.
import { TILE_ATTACHMENT, isAhead, isExactTime, parseTileId, asOf } from '../../core/index.js'
import { leafOf, tombstone } from '../store/revisions.js'

/**
 * @param {any} doc
 * @returns {{address?: import('../../core/ids.js').VersionAddress, problems: import('../verify/decode.js').Problems}} address: none when it is no tile
 */
export function checkDocument (doc) {
  let address
  try {
    address = parseTileId(doc._id)
  } catch (error) {
    return { problems: [['bad-id', error.details?.why]] }
  }
  if (doc.type !== 'tile') return { problems: [['not-a-tile', `type ${JSON.stringify(doc.type)}`]] }
  /** @type {import('../verify/decode.js').Problems} */
  const problems = []
  const add = (is, code, why) => { if (is) problems.push([code, why]) }

  const wrong = ['layer', 'z', 'x', 'y'].filter(field => doc[field] !== address[field])
  add(wrong.length, 'fields-disagree', wrong.map(field => `${field} ${JSON.stringify(doc[field])}`).join(', '))
  const isPast = address.time !== undefined
  add(doc.current !== !isPast, 'wrong-current', `current ${JSON.stringify(doc.current)}`)
  add(!isExactTime(doc.time), 'bad-time', `time ${JSON.stringify(doc.time)}`)
  for (const field of ['stored', 'expires', 'contested']) add(doc[field] !== undefined && !isExactTime(doc[field]), 'bad-time', `${field} ${JSON.stringify(doc[field])}`)
  add(isExactTime(doc.stored) && isAhead(doc.stored), 'odd-time', `stored ${doc.stored}`)
  add(isPast && isExactTime(doc.time) && doc.time !== address.time, 'time-disagrees', `time ${doc.time}`)

  const attachments = doc._attachments ?? {}
  for (const name of Object.keys(attachments)) add(name !== TILE_ATTACHMENT, 'stray-attachment', name)
  const hasBytes = Object.hasOwn(attachments, TILE_ATTACHMENT)
  add(doc.gone === true && hasBytes, 'gone-with-bytes')
  add(doc.gone !== true && !hasBytes, 'no-bytes')
  add(doc._conflicts?.length, 'conflict', `${doc._rev} and ${doc._conflicts}`)
  return { address, problems }
}

// The versions of every tile, put together as the documents pass in the order of their ids. A tile's past does not follow
// its head at once: rows whose numbers go on with the same digits stand between (412, 4120, 4121, ..., 412@...). Those nest:
// the heads whose past may still come are the ones whose id begins the id that passes, no more than a row has digits.

/**
 * @typedef {{time: string, digest: string | null, current: boolean, doc: any}} TileVersion digest: null when gone
 * @typedef {{id: string, z: number, x: number, y: number, versions: TileVersion[]}} Tile versions: the head first, then the past as it stands
 */

export class Timelines {
  /** @type {Tile[]} */
  #open = []

  /**
   * Takes the next document; answers the tiles that are whole by now.
   * @param {import('../../core/ids.js').VersionAddress} address
   * @param {any} doc
   * @returns {Tile[]}
   */
  add ({ layer, z, x, y, time }, doc) {
    const id = `${layer}:${z}:${x}:${y}`
    const whole = this.#close(doc._id)
    let tile = this.#open.at(-1)
    if (tile?.id !== id) this.#open.push(tile = { id, z, x, y, versions: [] })
    tile.versions.push(versionOf(doc, time))
    return whole
  }

  /** The last tiles. */
  end () {
    return this.#close('')
  }

  #close (id) {
    const whole = []
    while (this.#open.length && !id.startsWith(this.#open[this.#open.length - 1].id)) whole.push(/** @type {Tile} */ (this.#open.pop()))
    return whole
  }
}

/** The id says which version it is: what a document says against it is another fault. @param {any} doc @param {string} [time] */
export const versionOf = (doc, time) => ({
  time: time ?? doc.time, digest: doc._attachments?.tile?.digest ?? null, current: time === undefined, doc
})

/**
 * What is wrong with the versions of one tile.
 * @param {Pick<Tile, 'versions'>} tile
 * @returns {import('../verify/decode.js').Problems}
 */
export function checkTimeline ({ versions }) {
  const head = versions.find(version => version.current)
  const past = versions.filter(version => !version.current)
  if (!versions.length) return []
  if (!head) return [['no-head', `${past.length} in the past, the newest of ${past.at(-1)?.time}`]]
  /** @type {import('../verify/decode.js').Problems} */
  const problems = []
  const [newest] = past.slice(-1)
  if (newest && newest.time > head.time) problems.push(['head-too-old', `head of ${head.time}, past of ${newest.time}`])
  const twin = past.find(({ time }) => time === head.time)
  if (twin && twin.digest !== head.digest) problems.push(['two-at-one-time', `${head.time}: ${head.digest} and ${twin.digest}`])
  const places = new Map()
  for (const { time, digest, doc } of past) {
    const key = `${doc.contested ?? time} ${digest}`
    if (time !== head.time && places.has(key)) problems.push(['version-twice', `${time} and ${places.get(key)}`])
    else places.set(key, time)
  }
  return problems
}

/**
 * What a tile shows as of a time; nothing when it does not exist then.
 * @param {Tile} tile @param {string} [time]
 */
export function shownAt ({ versions }, time) {
  const sorted = [...versions].sort((a, b) => a.time < b.time ? -1 : a.time > b.time ? 1 : +a.current - +b.current)
  return time === undefined ? sorted.at(-1) : asOf(sorted, time)
}

// What is wrong with the living leaves of one tile, and which of them say the same. Pure.

/** @typedef {{id: string, heads: any[], pasts: any[]}} State living leaves */

/** Faults of one document by itself: conflicts are not among them. @param {any} doc */
export const wrongIn = doc => checkDocument(doc).problems.filter(([code]) => code !== 'conflict')

/** Versions that stand in two places of the past: the earlier one stays, as when conflicts are resolved. @param {State} state */
export function twice ({ heads: [head], pasts }) {
  const seen = new Set()
  return pasts.map(leafOf).filter(({ time }) => time !== head?.time).sort((a, b) => a.time < b.time ? -1 : 1).flatMap(({ key, id, rev }) => {
    if (seen.has(key)) return [tombstone(id, rev)]
    seen.add(key)
    return []
  })
}

/** @param {State[]} states @returns {Set<string>} `code id` */
export function wrongWith (states) {
  const wrong = new Set()
  for (const { id, heads, pasts } of states) {
    const ids = new Map()
    for (const doc of [...heads, ...pasts]) {
      for (const [code] of wrongIn(doc)) wrong.add(`${code} ${doc._id}`)
      ids.set(doc._id, (ids.get(doc._id) ?? 0) + 1)
    }
    for (const [doc, leaves] of ids) if (leaves > 1) wrong.add(`conflict ${doc}`)
    const versions = [...heads.slice(0, 1).map(doc => versionOf(doc)), ...pasts.map(doc => versionOf(doc, doc._id.slice(id.length + 1)))]
    for (const [code] of checkTimeline({ versions })) wrong.add(`${code} ${id}`)
  }
  return wrong
}
