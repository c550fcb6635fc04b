// The versions of every tile, put together as the documents pass in the order of their ids. A tile's past does not follow
// its head at once: rows whose numbers go on with the same digits stand between (412, 4120, 4121, ..., 412@...). Those nest:
// the heads whose past may still come are the ones whose id begins the id that passes, no more than a row has digits.
import { asOf } from '../../../core/index.js'

/**
 * @typedef {{time: string, digest: string | null, current: boolean, doc: any}} TileVersion digest: null when gone
 * @typedef {{id: string, z: number, x: number, y: number, versions: TileVersion[]}} Tile versions: the head first, then the past as it stands
 */

export class Timelines {
  /** @type {Tile[]} */
  #open = []

  /**
   * Takes the next document; answers the tiles that are whole by now.
   * @param {import('../../../core/ids.js').VersionAddress} address
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
 * @returns {import('../decode.js').Problems}
 */
export function checkTimeline ({ versions }) {
  const head = versions.find(version => version.current)
  const past = versions.filter(version => !version.current)
  if (!versions.length) return []
  if (!head) return [['no-head', `${past.length} in the past, the newest of ${past.at(-1)?.time}`]]
  /** @type {import('../decode.js').Problems} */
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
