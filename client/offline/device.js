// What is on the device, whatever the network does: the areas that were taken along, and before them what was made here.
// Areas may overlap and be of different ages; read together they are one store.
import { layerId, soundOf, tileId, versionId } from '../../core/index.js'
import { generation } from '../../core/mirror/index.js'
import { Census } from './census.js'
import { Reader, versionOf } from './reader.js'

const LOOKS = 3 // at a head that has become another one between two questions, while its area is refreshed

/**
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {import('./reader.js').HeldVersion} HeldVersion
 * @typedef {{z: number, x: number, y: number}} Tile
 * @typedef {{blob: Blob, version: HeldVersion}} Image
 * @typedef {object} Database
 * @property {any} db a PouchDB
 * @property {any} [area] none: what was made on this device
 * @property {(z: number, x: number, y: number) => boolean} holds
 * @property {boolean} isComplete
 * @property {boolean | string} hasHistory
 */

export class Device {
  #offline
  #census = new Census()

  /** @param {{ready: Promise<any>, databases: (layer?: string) => Database[]}} offline */
  constructor (offline) {
    this.#offline = offline
  }

  /**
   * The databases of a layer, or all: first the one of what was made here.
   * @param {string} [layer] @returns {Promise<Database[]>}
   */
  async databases (layer) {
    await Promise.resolve(this.#offline.ready).catch(() => {}) // who opened it hears of it
    return this.#offline.databases(layer) ?? []
  }

  /** The documents of every layer of which anything is there. @returns {Promise<any[]>} */
  async layers () {
    const databases = await this.databases()
    const found = await this.#each(databases, reader => reader.beginning('layer:'))
    const docs = found.flatMap((list, at) => soundOf(list ?? [], 'layer').map(doc => ({ doc, area: databases[at].area })))
    const names = [...new Set(docs.map(({ doc }) => doc.layer))].sort()
    return names.map(name => newest(docs.filter(({ doc }) => doc.layer === name)))
  }

  /** The layer's document. @param {string} layer @returns {Promise<any>} undefined where there is none */
  async layer (layer) {
    const id = layerId(layer)
    const databases = await this.databases(layer)
    const found = await this.#each(databases, async reader => (await reader.docs([id])).get(id))
    return newest(found.flatMap((doc, at) => soundOf([doc], 'layer').map(() => ({ doc, area: databases[at].area }))))
  }

  /** Editions of a layer, newest first. @param {string} layer @returns {Promise<any[]>} */
  async editions (layer) {
    const found = await this.#each(await this.databases(layer), reader => reader.beginning(`edition:${layer}@`))
    const docs = soundOf(found.flatMap(list => list ?? []), 'edition').reverse() // what was made here is said last
    return [...new Map(docs.map(doc => [doc._id, doc])).values()].sort((a, b) => a._id < b._id ? 1 : -1)
  }

  /**
   * The versions of every tile in these columns that are there, as CouchSource.versions gives them.
   * @param {string} layer @param {Column[]} columns
   * @param {(database: Database) => boolean} [wanted] of all databases
   * @returns {Promise<HeldVersion[][]>} ascending by row, then time
   */
  async versions (layer, columns, wanted = () => true) {
    const databases = (await this.databases(layer)).filter(wanted)
    const found = await this.#each(databases, (reader, { holds }) => Promise.all(columns.map(column => (
      rowsOf(column).some(y => holds(column.z, column.x, y)) ? reader.column(layer, column) : []
    ))))
    return columns.map((column, at) => together(found.map((answers, database) => ({ versions: answers?.[at] ?? [], isMade: !databases[database].area }))))
  }

  /**
   * The image of a version. Its document may have become another since it was named: a head that went to the past, or,
   * in an area that was not refreshed, one that has not gone there yet.
   * @param {import('../source/couch-source.js').Version} version
   * @returns {Promise<Blob | undefined>}
   */
  async tile (version) {
    const { layer, z, x, y, time, rev, current } = version
    const databases = await this.#holding(layer, z, x, y)
    const [head, past] = [tileId(layer, z, x, y), versionId(layer, z, x, y, time)]
    const isSame = found => found && found.version.time === time && hasImageOf(found.version, version)
    const looks = [
      reader => reader.image(current ? head : past, rev),
      reader => reader.image(past),
      reader => reader.image(head)
    ]
    for (const look of looks) {
      for (const { db } of databases) {
        const found = await look(Reader.of(db)).catch(() => undefined)
        if (isSame(found)) return found.blob
      }
    }
  }

  /**
   * The newest image of a place.
   * @returns {Promise<Image | undefined>}
   */
  async head (layer, z, x, y) {
    const databases = await this.#holding(layer, z, x, y)
    const id = tileId(layer, z, x, y)
    if (databases.length === 1) return Reader.of(databases[0].db).image(id).catch(() => undefined)
    for (let attempt = 0; attempt < LOOKS; attempt++) {
      const [version] = await this.heads(layer, [{ z, x, y }])
      if (!version || version.gone) return undefined
      const blob = await this.tile(version)
      if (blob) return { blob, version }
    }
  }

  /**
   * What the heads of tiles are, without their images.
   * @param {string} layer @param {Tile[]} tiles
   * @returns {Promise<(HeldVersion | undefined)[]>}
   */
  async heads (layer, tiles) {
    const ids = tiles.map(({ z, x, y }) => tileId(layer, z, x, y))
    const databases = await this.databases(layer)
    const found = await this.#each(databases, (reader, { holds }) => reader.docs(ids.filter((id, at) => holds(tiles[at].z, tiles[at].x, tiles[at].y))))
    return ids.map(id => found.reduce((/** @type {HeldVersion | undefined} */ best, docs) => {
      const version = versionOf(docs?.get(id))
      return version && (!best || version.time > best.time) ? version : best
    }, undefined))
  }

  /** Whether the newest image of a place is there. */
  async has (layer, z, x, y) {
    const [version] = await this.heads(layer, [{ z, x, y }])
    return Boolean(version && !version.gone)
  }

  /**
   * Which of these versions are there as they are named.
   * @param {string} layer @param {import('../source/couch-source.js').Version[]} versions
   * @returns {Promise<boolean[]>}
   */
  async holds (layer, versions) {
    const ids = versions.map(idOf)
    const found = await this.#each(await this.databases(layer), reader => reader.revs([...new Set(ids)]))
    return versions.map(({ rev }, at) => found.some(revs => revs?.get(ids[at]) === rev))
  }

  /** First and last time of a layer, as far as the device knows; null when it has no tiles. @param {string} layer */
  async extent (layer) {
    const found = await this.#each(await this.databases(layer), (reader, { db }) => this.#census.times(db, reader, layer))
    const times = found.flatMap(ends => ends?.first && ends.last ? [ends.first, ends.last] : []).sort()
    return times.length ? { first: times[0], last: times[times.length - 1] } : null
  }

  /** What there is of a layer, zoom by zoom. @param {string} layer */
  async stats (layer) {
    return this.#census.stats(layer, (await this.databases(layer)).map(({ db }) => Reader.of(db)))
  }

  async #holding (layer, z, x, y) {
    return (await this.databases(layer)).filter(({ holds }) => holds(z, x, y))
  }

  /**
   * Asks every database; of one that is closed, removed or broken there is nothing.
   * @template T
   * @param {Database[]} databases @param {(reader: Reader, database: Database) => Promise<T>} question
   * @returns {Promise<(T | undefined)[]>}
   */
  #each (databases, question) {
    return Promise.all(databases.map(async database => {
      try {
        return await question(Reader.of(database.db), database)
      } catch {
        return undefined
      }
    }))
  }
}

/** What was made here knows of tiles that the areas do not; of the others, what was changed most often. */
function newest (found) {
  const [first, ...others] = found
  if (!first || !first.area) return first?.doc
  return others.reduce((best, { doc }) => generation(doc._rev) > generation(best._rev) ? doc : best, first.doc)
}

/**
 * The versions that several databases have of a column, each time of a tile once: as it was made here, else as the past
 * tells it, unless it is the newest. A head that is the newest in an area may have gone to the past since. Where their images
 * differ, the time was taken out and filled again, and the area that was refreshed last is right.
 * @param {{versions: HeldVersion[], isMade: boolean}[]} parts in the order in which they are believed
 */
function together (parts) {
  if (parts.length === 1) return parts[0].versions.sort(byRowAndTime)
  /** @type {Map<string, {version: HeldVersion, isMade: boolean}>} */
  const chosen = new Map()
  for (const { versions, isMade } of parts) {
    for (const version of versions) {
      const key = `${version.y} ${version.time}`
      const other = chosen.get(key)
      if (!other || (!other.isMade && other.version.current && !version.current && hasImageOf(version, other.version))) chosen.set(key, { version, isMade })
    }
  }
  return [...chosen.values()].map(({ version }) => version).sort(byRowAndTime)
}

/** Whether two versions of one time have the same image, as far as they say. @param {HeldVersion} one @param {HeldVersion} other */
const hasImageOf = ({ digest, bytes }, other) => digest && other.digest ? digest === other.digest : other.bytes === undefined || bytes === other.bytes

const byRowAndTime = (a, b) => a.y - b.y || (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)

/** @param {Column} column */
const rowsOf = ({ y0, y1 }) => Array.from({ length: y1 - y0 + 1 }, (_, at) => y0 + at)

/** @param {import('../source/couch-source.js').Version} version */
const idOf = ({ layer, z, x, y, time, current }) => current ? tileId(layer, z, x, y) : versionId(layer, z, x, y, time)
