// Reads all areas on the device as one store. Areas may overlap and be of different ages.
import {
  compareIds, endOf, isTileId, layerId, parseTileId, soundOf, styleId, tileId, toSeconds, versionId
} from '../../core/index.js'
import { cached } from '../../core/cache.js'
import { generation } from '../../core/mirror/index.js'
import { Semaphore } from '../../core/promises.js'
import { styleFileOn, styleOn } from './area-styles.js'
import { DatabaseReader } from './database-reader.js'

const HEAD_ATTEMPTS = 3 // reads of a head, which a refresh may replace between two reads

/**
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {import('./database-reader.js').HeldVersion} HeldVersion
 * @typedef {{blob: Blob, version: HeldVersion}} Image
 * @typedef {object} Database
 * @property {any} db a PouchDB
 * @property {any} area
 * @property {(z: number, x: number, y: number) => boolean} holds
 * @property {boolean} isComplete
 * @property {boolean | string} hasHistory
 */

export class Device {
  #offline
  #statistics = new DeviceStatistics()

  /** @param {{ready: Promise<any>, databases: (layer?: string) => Database[]}} offline */
  constructor (offline) {
    this.#offline = offline
  }

  /** The databases of a layer, or all. @param {string} [layer] @returns {Promise<Database[]>} */
  async databases (layer) {
    await Promise.resolve(this.#offline.ready).catch(() => {}) // the page handles an error of `ready`
    return this.#offline.databases(layer) ?? []
  }

  /** The documents of all layers on the device. @returns {Promise<any[]>} */
  async layers () {
    const answers = await this.#askEach(undefined, reader => reader.withPrefix('layer:'))
    const docs = soundOf(answers.flat(), 'layer')
    const names = [...new Set(docs.map(({ layer }) => layer))].sort()
    return names.map(name => newestDocument(docs.filter(({ layer }) => layer === name)))
  }

  /** The layer's document. @param {string} layer @returns {Promise<any>} undefined without one */
  async layer (layer) {
    const id = layerId(layer)
    const docs = await this.#askEach(layer, async reader => (await reader.docs([id])).get(id))
    return newestDocument(soundOf(docs, 'layer'))
  }

  /**
   * The style of a layer: a stored one if the device has one of that time, else the default one. Its addresses in the
   * store begin with `couch://`: `couch://osm@2024` is the TileJSON of a layer, `couch://osm@2024/{z}/{x}/{y}.pbf` are
   * its tiles, `couch://styles/osm@TIME/NAME` are files (see styleFile).
   * @param {string} layer @param {string} [time] as written; without it the newest
   * @param {{theme?: import('../../core/style.js').Theme}} [options] of the default style
   * @returns {Promise<{style: import('../../core/style.js').Style, time?: string} | undefined>} time: of a stored
   *   style; nothing if the device has neither
   */
  async style (layer, time, { theme } = {}) {
    const until = time === undefined ? undefined : endOf(time)
    const styles = await this.#askEach(layer, reader => styleOn(reader, layer, until))
    const kept = latestOf(styles)
    const { styleAt } = await import('../../core/style.js') // pages that only show images do not load it
    const doc = kept ? { ...kept, _attachments: kept.files } : await this.layer(layer)
    const style = doc && styleAt(doc, { base: 'couch://', time, theme })
    return style && { style, ...(kept && { time: kept.time }) }
  }

  /**
   * A file of a stored style.
   * @param {string} layer @param {string} time exactly that of the style
   * @param {string} name `sprite@2x.png`, `glyphs/Noto Sans Regular/0-255.pbf`; of a list of fonts the first one counts
   * @returns {Promise<Blob | undefined>} nothing if the device does not have it, such as glyphs that no label needs
   */
  async styleFile (layer, time, name) {
    const id = styleId(layer, time)
    const file = name.replace(/^(glyphs\/[^/,]*),[^/]*/, '$1')
    const [blob] = await this.#askEach(layer, reader => styleFileOn(reader, id, file))
    return blob
  }

  /** Editions of a layer, newest first. @param {string} layer @returns {Promise<any[]>} */
  async editions (layer) {
    const answers = await this.#askEach(layer, reader => reader.withPrefix(`edition:${layer}@`))
    const docs = soundOf(answers.flat(), 'edition').reverse() // the last refreshed area wins
    return [...new Map(docs.map(doc => [doc._id, doc])).values()].sort((a, b) => a._id < b._id ? 1 : -1)
  }

  /**
   * The versions on the device of every tile in these columns, in the form of CouchSource.versions.
   * @param {string} layer @param {Column[]} columns
   * @returns {Promise<HeldVersion[][]>} ascending by row, then time
   */
  async versions (layer, columns) {
    const answers = await this.#askEach(layer, (reader, { holds }) => Promise.all(columns.map(column => (
      rowsOf(column).some(y => holds(column.z, column.x, y)) ? reader.columnVersions(layer, column) : []
    ))))
    return columns.map((column, index) => mergeVersions(answers.map(lists => lists[index])))
  }

  /**
   * The image of a version. Since it was listed, the version may have moved from the head document to a past document.
   * In an area that was not refreshed, it is still in the head document.
   * @param {import('../source/couch-source.js').Version} version
   * @returns {Promise<Blob | undefined>}
   */
  async tile (version) {
    const { layer, z, x, y, time, rev, current } = version
    const databases = await this.#databasesAt(layer, z, x, y)
    const [head, past] = [tileId(layer, z, x, y), versionId(layer, z, x, y, time)]
    const isSame = image => image && image.version.time === time && hasImageOf(image.version, version)
    const lookups = [
      reader => reader.image(current ? head : past, rev),
      reader => reader.image(past),
      reader => reader.image(head)
    ]
    for (const lookup of lookups) {
      for (const { db } of databases) {
        const image = await lookup(DatabaseReader.of(db)).catch(() => undefined)
        if (isSame(image)) return image.blob
      }
    }
  }

  /** The newest image of a place. @returns {Promise<Image | undefined>} */
  async head (layer, z, x, y) {
    const databases = await this.#databasesAt(layer, z, x, y)
    const id = tileId(layer, z, x, y)
    if (databases.length === 1) return DatabaseReader.of(databases[0].db).image(id).catch(() => undefined)
    for (let attempt = 0; attempt < HEAD_ATTEMPTS; attempt++) {
      const [versions] = await this.versions(layer, [{ z, x, y0: y, y1: y }])
      const version = versions.findLast(({ current }) => current)
      if (!version || version.gone) return undefined
      const blob = await this.tile(version)
      if (blob) return { blob, version }
    }
  }

  /**
   * Which of these versions the device has, in the same revision.
   * @param {string} layer @param {import('../source/couch-source.js').Version[]} versions
   * @returns {Promise<boolean[]>}
   */
  async holds (layer, versions) {
    const ids = versions.map(idOf)
    const answers = await this.#askEach(layer, reader => reader.revs([...new Set(ids)]))
    return versions.map(({ rev }, index) => answers.some(revs => revs.get(ids[index]) === rev))
  }

  /** First and last time of a layer, as far as the device knows; null when it has no tiles. @param {string} layer */
  async extent (layer) {
    const extents = await this.#askEach(layer, (reader, { db }) => this.#statistics.times(db, reader, layer))
    const times = extents.flatMap(({ first, last }) => first && last ? [first, last] : []).sort()
    return times.length ? { first: times[0], last: times[times.length - 1] } : null
  }

  /** Figures of a layer on the device, by zoom. @param {string} layer */
  async stats (layer) {
    return this.#statistics.stats(layer, (await this.databases(layer)).map(({ db }) => DatabaseReader.of(db)))
  }

  async #databasesAt (layer, z, x, y) {
    return (await this.databases(layer)).filter(({ holds }) => holds(z, x, y))
  }

  /**
   * Asks every database of a layer, or all databases. Leaves out those that fail or have no answer.
   * @template T
   * @param {string | undefined} layer
   * @param {(reader: DatabaseReader, database: Database) => Promise<T | undefined>} query
   * @returns {Promise<T[]>}
   */
  async #askEach (layer, query) {
    const answers = (await this.databases(layer)).map(async database => {
      try {
        return await query(DatabaseReader.of(database.db), database)
      } catch {
        return undefined
      }
    })
    return /** @type {T[]} */ ((await Promise.all(answers)).filter(answer => answer !== undefined))
  }
}

/** The document with the most revisions. @param {any[]} docs of one layer @returns {any} undefined without documents */
const newestDocument = ([first, ...otherDocs]) =>
  otherDocs.reduce((best, doc) => generation(doc._rev) > generation(best._rev) ? doc : best, first)

/**
 * @template {{time: string}} T
 * @param {(T | undefined)[]} items
 * @returns {T | undefined} the first item with the latest time
 */
const latestOf = items =>
  items.reduce((best, item) => item && (!best || item.time > best.time) ? item : best, undefined)

/**
 * Merges the versions that several databases have of a column, so that each tile has each time once. A past version
 * replaces a head with the same time and image: an area that was not refreshed still has it as head. If the images
 * differ, the version was removed and loaded again, and the area that was refreshed last is right.
 * @param {HeldVersion[][]} parts of the databases, the last refreshed first
 */
function mergeVersions (parts) {
  if (parts.length === 1) return parts[0].sort(byRowAndTime)
  /** @type {Map<string, HeldVersion>} */
  const versionsByKey = new Map()
  for (const version of parts.flat()) {
    const key = `${version.y} ${version.time}`
    const chosen = versionsByKey.get(key)
    if (!chosen || (chosen.current && !version.current && hasImageOf(version, chosen))) versionsByKey.set(key, version)
  }
  return [...versionsByKey.values()].sort(byRowAndTime)
}

/**
 * Whether two versions of one time have the same image, as far as digests or sizes tell.
 * @param {HeldVersion} version @param {HeldVersion} other
 */
const hasImageOf = ({ digest, bytes }, other) => digest && other.digest
  ? digest === other.digest
  : other.bytes === undefined || bytes === other.bytes

const byRowAndTime = (a, b) => a.y - b.y || compareIds(a.time, b.time)

/** @param {Column} column */
const rowsOf = ({ y0, y1 }) => Array.from({ length: y1 - y0 + 1 }, (_, index) => y0 + index)

/** @param {import('../source/couch-source.js').Version} version */
const idOf = ({ layer, z, x, y, time, current }) => current ? tileId(layer, z, x, y) : versionId(layer, z, x, y, time)

/** @typedef {{first?: string, last?: string}} Times */

export class DeviceStatistics {
  /**
   * @type {WeakMap<object, Map<string, {since: number | string, times: Times, reads: Semaphore}>>} database -> layer
   *   -> how far it was read
   */
  #timesRead = new WeakMap()
  /** @type {Map<string, {places: string, stats: Awaited<ReturnType<typeof countTiles>>}>} */
  #last = new Map()

  /**
   * First and last time of a layer in a database, editions included: they may reach beyond the area. Continues after
   * the last read and ignores deletions.
   * @param {object} db @param {import('./database-reader.js').DatabaseReader} reader @param {string} layer
   * @returns {Promise<Times>}
   */
  times (db, reader, layer) {
    const layers = cached(this.#timesRead, db, () => new Map())
    /** @type {{since: number | string, times: Times, reads: Semaphore}} */
    const progress = cached(layers, layer, () => ({ since: 0, times: {}, reads: new Semaphore(1) }))
    return progress.reads.run(async () => {
      for await (const { docs, since } of reader.since(progress.since)) {
        for (const doc of docs) extend(progress.times, timeOf(doc, layer))
        progress.since = since
      }
      return { ...progress.times }
    })
  }

  /**
   * @param {string} layer
   * @param {import('./database-reader.js').DatabaseReader[]} readers overlapping tiles are counted once
   */
  async stats (layer, readers) {
    const places = JSON.stringify(await Promise.all(readers.map(reader => reader.sequence().catch(() => 'closed'))))
    const last = this.#last.get(layer)
    if (last?.places === places) return last.stats
    const stats = await countTiles(layer, readers)
    this.#last.set(layer, { places, stats })
    return stats
  }
}

/** Sums the figures of a layer in the form of the view by_zoom. */
async function countTiles (layer, readers) {
  const stats = {
    tiles: 0, versions: 0, bytes: 0, first: Infinity, last: -Infinity,
    zooms: /** @type {{z: number, tiles: number, x0: number, x1: number, y0: number, y1: number}[]} */ ([])
  }
  const countedKeys = new Set()
  const zooms = new Map()
  for (const reader of readers) {
    try {
      for await (const versions of reader.allVersions(layer)) {
        for (const { z, x, y, time, bytes, gone, current } of versions) {
          const key = `${z}/${x}/${y}${current ? '' : time}`
          if (countedKeys.has(key)) continue
          countedKeys.add(key)
          stats.versions++
          stats.bytes += bytes
          stats.first = Math.min(stats.first, toSeconds(time))
          stats.last = Math.max(stats.last, toSeconds(time))
          if (!current || gone) continue
          stats.tiles++
          const { tiles, x0, x1, y0, y1 } = zooms.get(z) ?? { tiles: 0, x0: x, x1: x, y0: y, y1: y }
          const [left, right, top, bottom] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)]
          zooms.set(z, { z, tiles: tiles + 1, x0: left, x1: right, y0: top, y1: bottom })
        }
      }
    } catch {
      // the database was closed or removed during the read
    }
  }
  stats.zooms = [...zooms.values()].sort((a, b) => a.z - b.z)
  return stats
}

function timeOf (doc, layer) {
  if (doc?.layer !== layer || doc._deleted) return undefined
  if (doc.type === 'edition') return doc.time
  return isTileId(doc._id) ? parseTileId(doc._id).time ?? doc.time : undefined
}

function extend (times, time) {
  if (typeof time !== 'string') return
  if (!times.first || time < times.first) times.first = time
  if (!times.last || time > times.last) times.last = time
}
