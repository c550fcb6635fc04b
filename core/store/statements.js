// Reads the statements of the editions of a layer from their manifests, without removed ones. Blocks are read when they
// are needed, and a limited number stays in memory.
import { chunks } from '../lists.js'
import { areaFrom, selectorOf } from '../area.js'
import { cached } from '../cache.js'
import { TilecouchError } from '../errors.js'
import { blockId, byLayer, compareIds, layerId, limitsId, manifestId, parseTileId } from '../ids.js'
import { Semaphore, sharePromise, shared } from '../promises.js'
import { Block, GONE, placeOfTile } from './blocks.js'
import { Limits } from './limits.js'
import { faultInRecord } from './records.js'

const KEPT = 1000 // blocks in memory, of 32 kB each
const PAGE = 1000 // ids per request
const DOCS = 50 // blocks per request

/**
 * @typedef {import('./plan.js').Statement} Statement
 *
 * @typedef {object} Manifest the statements of one finished load
 * @property {string} id
 * @property {string} layer
 * @property {string} time
 * @property {string} run
 * @property {boolean} complete all other tiles of its area and zooms are gone
 * @property {number} tiles number of tiles that it has statements for
 * @property {string} root hash of all blocks
 * @property {{boxes: any[], polygon?: object}} [area]
 * @property {{min: number, max: number}} [zooms]
 * @property {Record<string, string[]>} [blocks] place -> names of its blocks
 * @property {string[]} [parts] the first place of each part, if one document cannot hold all blocks
 *
 * @typedef {object} Removal
 * @property {string} id
 * @property {string} run
 * @property {string} [since] first time
 * @property {string} [until] last time
 * @property {{boxes: any[], polygon?: object}} [area]
 * @property {{min: number, max: number}} [zooms]
 * @property {string[]} [tiles] ids of heads
 * @property {string[]} [runs] only statements of these runs
 * @property {string} [finished]
 */

export const isOfTime = ({ since = '', until = '~' }, time) => time >= since && time <= until

/** Whether a removal withdraws statements of a run for a time. `touches` decides for which tiles. */
export const takesOut = (removal, time, run) =>
  run < removal.run && (!removal.runs || removal.runs.includes(run)) && isOfTime(removal, time)

export class LayerStatements {
  /** @type {(Manifest & {selects: (z: number, x: number, y: number) => boolean})[]} oldest first */
  manifests = []
  /** @type {(Removal & {touches: (id: string, z: number, x: number, y: number) => boolean})[]} */
  removals = []
  /** The limits of the layer in the store. */
  limits = new Limits(undefined)
  /** Ids and revisions of the documents that were read. @type {Map<string, string>} */
  records = new Map()
  /** Id -> fault of a manifest, a removal or limits, which is ignored. @type {Map<string, string>} */
  faults = new Map()
  /** @type {Map<string, Promise<Block | undefined>>} by id */
  #blocks = new Map()
  /** @type {Map<string, Promise<Record<string, string[]> | undefined>>} by id of a part */
  #parts = new Map()
  #refreshes = new Semaphore(1)

  constructor (couch, layer, signal) {
    this.couch = couch
    this.layer = layer
    this.signal = signal
  }

  /** Reads all records, once. */
  open = shared(() => this.#readRecords())

  /** Reads records that changed. @returns {Promise<boolean>} whether any record changed */
  async refresh () {
    await this.open()
    const before = this.records
    await this.#refreshes.run(() => this.#readRecords())
    return before.size !== this.records.size || [...before].some(([id, rev]) => this.records.get(id) !== rev)
  }

  /** Notes in the limits of a mirrored layer that the layer is also written here. */
  async claim () {
    const change = stored => stored && !stored.own ? { ...stored, own: true } : undefined
    await this.couch.update(limitsId(this.layer), change)
    await this.refresh()
  }

  async #readRecords () {
    const { layer } = this
    const limitIds = [layerId(layer), limitsId(layer)]
    const records = await this.#listRevisions([`manifest:${layer}@`, `removed:${layer}:`], limitIds)
    if (limitIds.some(id => records.get(id) !== this.records.get(id))) {
      const [described, limits] = await this.couch.docs(limitIds, { signal: this.signal })
      this.limits = new Limits(limits.doc, described.doc)
      const fault = limits.doc && faultInRecord(limits.doc)
      if (fault) this.faults.set(limits.id, fault)
      else this.faults.delete(limits.id)
    }
    /** @type {Map<string, any>} */
    const byId = new Map([...this.manifests, ...this.removals].map(record => [record.id, record]))
    const isNew = ([id, rev]) => this.records.get(id) !== rev && !isPart(id) && !limitIds.includes(id)
    const changedIds = [...records].filter(isNew).map(([id]) => id)
    for (const chunk of chunks(changedIds, DOCS)) {
      for (const { id, doc } of await this.couch.docs(chunk, { signal: this.signal })) {
        byId.delete(id)
        this.faults.delete(id)
        if (!doc) {
          records.delete(id) // deleted since it was listed
          continue
        }
        const fault = faultInRecord(doc)
        if (fault) this.faults.set(id, fault)
        else if (id.startsWith('manifest:')) byId.set(id, manifestOf(doc))
        else byId.set(id, removalOf(doc))
      }
    }
    for (const [id, rev] of this.records) {
      if (records.get(id) === rev) continue
      if (!records.has(id)) {
        byId.delete(id)
        this.faults.delete(id)
      }
      this.#parts.delete(id)
    }
    const allRecords = /** @type {any[]} */ ([...byId.values()])
    this.manifests = allRecords.filter(({ id }) => id.startsWith('manifest:')).sort((a, b) => compareIds(a.id, b.id))
    this.removals = allRecords.filter(({ id }) => id.startsWith('removed:'))
    this.records = records
  }

  /** Lists ids with these prefixes, and other ids, with their revisions. @returns {Promise<Map<string, string>>} */
  async #listRevisions (prefixes, ids) {
    const revisions = new Map()
    const prefixRanges = prefixes.map(prefix => ({ startkey: prefix, endkey: `${prefix}~`, limit: PAGE }))
    let ranges = [...prefixRanges, ...ids.map(id => ({ startkey: id, endkey: id, limit: PAGE }))]
    while (ranges.length) {
      const answers = await this.couch.ranges(ranges, this.signal)
      for (const { id, value } of answers.flat()) revisions.set(id, value?.rev ?? '')
      const nextRange = (range, rows) => rows.length < PAGE ? [] : [{ ...range, startkey: `${rows[PAGE - 1].id} ` }]
      ranges = ranges.flatMap((range, index) => nextRange(range, answers[index]))
    }
    return revisions
  }

  /** The newest time of all editions. */
  get latest () {
    return this.manifests.reduce((latest, { time }) => time > latest ? time : latest, '')
  }

  /** The greatest run of all records. */
  get lastRun () {
    return [...this.manifests, ...this.removals].reduce((last, { run }) => run > last ? run : last, '')
  }

  /** The runs of all manifests. */
  get runs () {
    return new Set(this.manifests.map(({ run }) => run))
  }

  /** Whether a removal has not ended: heads may still show versions that it withdraws. */
  get isBeingRemoved () {
    return this.removals.some(({ finished }) => !finished)
  }

  /** Whether a removal of a tile has not ended. @param {{id: string, z: number, x: number, y: number}} tile */
  isTileBeingRemoved ({ id, z, x, y }) {
    return this.removals.some(({ finished, touches }) => !finished && touches(id, z, x, y))
  }

  /** Whether no removal withdraws statements of a run for a time. @param {{time: string, run: string}} statements */
  isWhole ({ time, run }) {
    return !this.removals.some(removal => takesOut(removal, time, run))
  }

  /** @param {string} id of a head */
  isRemoved (id, time, run) {
    const { z, x, y } = this.removals.length ? parseTileId(id) : { z: 0, x: 0, y: 0 }
    return this.removals.some(removal => takesOut(removal, time, run) && removal.touches(id, z, x, y))
  }

  /** Whether all statements of a run for a time are withdrawn. @param {string} time @param {string} run */
  isRunRemoved (time, run) {
    return this.removals.some(removal =>
      takesOut(removal, time, run) && !removal.tiles && !removal.area && !removal.zooms)
  }

  /**
   * The statements and removals that concern tiles.
   * @param {string[]} ids of heads
   * @param {{isFresh?: boolean}} [options] isFresh: read records that changed since the last reading
   * @returns {Promise<(id: string) => import('./plan.js').TileFacts>}
   */
  async readFacts (ids, { isFresh = false } = {}) {
    await (isFresh ? this.refresh() : this.open())
    const places = new Map()
    for (const id of ids) {
      const { z, x, y } = parseTileId(id)
      const place = placeOfTile(z, x, y)
      if (!places.has(place)) places.set(place, await this.#blocksAt(place))
    }
    return id => {
      const { z, x, y } = parseTileId(id)
      const dropped = this.limits.droppedAt(z, x, y)
      const isRemoved = (time, run) => this.isRemoved(id, time, run)
      // statements for a tile outside the mirrored part are ignored: this store may lack their bytes
      if (!dropped) return { statements: [], isRemoved }
      const statements = []
      for (const { manifest, blocks } of places.get(placeOfTile(z, x, y))) {
        const { time, run } = manifest
        const content = contentIn(blocks, x, y)
        const isGone = content === undefined && manifest.complete && blocks.isWhole && manifest.selects(z, x, y)
        if (content !== undefined || isGone) statements.push({ time, content: content ?? GONE, run })
      }
      return { statements, isRemoved, dropped }
    }
  }

  /** The blocks of each manifest at a place. @returns {Promise<{manifest: Manifest, blocks: Blocks}[]>} */
  async #blocksAt (place) {
    const namesByManifest = []
    for (const manifest of this.manifests) {
      const names = await this.namesAt(manifest, place)
      if (names) namesByManifest.push({ manifest, names })
    }
    const allNames = new Set(namesByManifest.flatMap(({ names }) => names))
    const ids = [...allNames].map(name => blockId(this.layer, place, name))
    const blocks = new Map(await this.#loadBlocks(ids))
    return namesByManifest.map(({ manifest, names }) => {
      const blocksByName = names.map(name => blocks.get(blockId(this.layer, place, name)))
      const loadedBlocks = blocksByName.filter(block => block !== undefined)
      // a block that is not replicated yet does not mean "gone"
      return { manifest, blocks: Object.assign(loadedBlocks, { isWhole: loadedBlocks.length === blocksByName.length }) }
    })
  }

  /**
   * Names of the blocks that a manifest has at a place.
   * @returns {Promise<string[] | undefined>} undefined if the part that lists them is not replicated yet
   */
  async namesAt (manifest, place) {
    const { blocks, parts, time, run } = manifest
    if (blocks) return blocks[place] ?? []
    const index = (parts ?? []).findLastIndex(first => compareIds(first, place) <= 0)
    if (index < 0) return []
    const id = manifestId(this.layer, time, run, index)
    const namesByPlace = await sharePromise(this.#parts, id, () => this.#readPart(id))
    if (!namesByPlace) this.#parts.delete(id)
    return namesByPlace && (namesByPlace[place] ?? [])
  }

  /** @returns {Promise<[string, Block | undefined][]>} */
  async #loadBlocks (ids) {
    const unreadIds = ids.filter(id => !this.#blocks.has(id))
    for (const batch of chunks(unreadIds, DOCS)) {
      const reading = this.couch.docs(batch, { attachments: true, signal: this.signal })
        .then(rows => new Map(rows.map(({ id, doc }) => [id, doc && blockIn(doc)])))
      for (const id of batch) sharePromise(this.#blocks, id, () => reading.then(blocksById => blocksById.get(id)))
    }
    const blocks = await Promise.all(ids.map(async id => (
      /** @type {[string, Block | undefined]} */ ([id, await this.#blocks.get(id)])
    )))
    for (const [id, block] of blocks) {
      // moved to the end: the block that was used last stays longest
      const reading = this.#blocks.get(id)
      this.#blocks.delete(id)
      if (block && reading) this.#blocks.set(id, reading)
    }
    for (const id of this.#blocks.keys()) {
      if (this.#blocks.size <= KEPT) break
      this.#blocks.delete(id)
    }
    return blocks
  }

  /** Every place where a manifest has blocks, with their names. @returns {Promise<Record<string, string[]>>} */
  async blocksOf (manifest) {
    const { blocks, parts, time, run } = manifest
    if (blocks) return blocks
    const namesByPlace = /** @type {Record<string, string[]>} */ ({})
    for (const index of (parts ?? []).keys()) {
      const id = manifestId(this.layer, time, run, index)
      const blocksOfPart = await this.#readPart(id)
      if (!blocksOfPart) throw new TilecouchError('NOT_FOUND', { reason: `the manifest ${id} is not here` })
      Object.assign(namesByPlace, blocksOfPart)
    }
    return namesByPlace
  }

  /** The blocks that a part of a manifest names, if it is here and valid. */
  async #readPart (id) {
    const [{ doc }] = await this.couch.docs([id], { signal: this.signal })
    return doc && !faultInRecord(doc) ? doc.blocks : undefined
  }

  /** Reads blocks together, before `block` returns each one. @param {{place: string, name: string}[]} blocks */
  async preload (blocks) {
    await this.#loadBlocks(blocks.map(({ place, name }) => blockId(this.layer, place, name)))
  }

  /** @returns {Promise<Block | undefined>} */
  async block (place, name) {
    const [[, block]] = await this.#loadBlocks([blockId(this.layer, place, name)])
    return block
  }
}

/** @typedef {Block[] & {isWhole: boolean}} Blocks */

/** The content of a tile, from the last block that has it. */
function contentIn (blocks, x, y) {
  for (const block of [...blocks].reverse()) {
    const content = block.get(x, y)
    if (content !== undefined) return content
  }
  return undefined
}

/** Decodes the attachment of a block, which is bytes or base64. */
function blockIn ({ _attachments: attachments }) {
  const data = attachments?.digests?.data
  const bytes = typeof data === 'string' ? Uint8Array.from(atob(data), letter => letter.charCodeAt(0)) : data
  return data && Block.decode(bytes)
}

const selectsOf = doc => selectorOf(doc.area && areaFrom(doc.area), doc.zooms)

const manifestOf = ({ _id: id, _rev, type, ...fields }) => ({ ...fields, id, selects: selectsOf(fields) })

function removalOf ({ _id: id, _rev, type, ...fields }) {
  const selects = selectsOf(fields)
  const tiles = fields.tiles && new Set(fields.tiles)
  return { ...fields, id, touches: (head, z, x, y) => (!tiles || tiles.has(head)) && selects(z, x, y) }
}

/** Whether an id belongs to a part of a manifest. @param {string} id */
export const isPart = id => id.startsWith('manifest:') && /^manifest:[^@]+@.{20}:[^:]+:\d+$/.test(id)

/** The statements of several layers, each opened on first use. */
export class StatementsByLayer {
  /** @type {Map<string, LayerStatements>} */
  #layers = new Map()

  /** @param {ConstructorParameters<typeof LayerStatements>[0]} couch @param {AbortSignal} [signal] */
  constructor (couch, signal) {
    this.couch = couch
    this.signal = signal
  }

  ofLayer (layer) {
    return cached(this.#layers, layer, () => new LayerStatements(this.couch, layer, this.signal))
  }

  /**
   * The statements and removals that concern tiles, read anew if they changed.
   * @param {string[]} ids of heads
   * @returns {Promise<(id: string) => import('./plan.js').TileFacts>}
   */
  async readFacts (ids) {
    const readers = new Map()
    for (const [layer, idsOfLayer] of byLayer(ids)) {
      const factsOf = await this.ofLayer(layer).readFacts(idsOfLayer, { isFresh: true })
      for (const id of idsOfLayer) readers.set(id, factsOf)
    }
    return id => readers.get(id)(id)
  }
}
