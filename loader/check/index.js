// Checks a store, layers of it, or a file or folder of tiles: reads everything and goes on after each fault. With `fix`
// it repairs the faults that have only one possible fix; for the others it says what a person can do.
//
//   await check(store)                                       the whole store
//   await check({ store, layer: 'osm', time: '2024-03-01' }) a layer; with a time, only its versions then are decoded
//   await check('city.mbtiles', { decode: true })            a file or folder
import { checkLayer, formatReference } from '../../core/index.js'
import { encodeId } from '../../core/couch/client.js'
import { ignoring } from '../../core/promises.js'
import { LayerStatements } from '../../core/store/statements.js'
import { TilecouchError } from '../errors.js'
import { BY_TILE } from '../store/reader.js'
import { verifyFile } from './files/index.js'
import { Report } from './files/report.js'
import { Settler } from './conflicts.js'
import { mark } from '../store/marker.js'
import { DesignDocuments } from './design-documents.js'
import { countContents, repairLayer, verifyLayer } from './layer.js'
import { unsettled } from './manifests.js'
import { isMergeable, mergeDocuments } from './merge.js'
import { RepairQueue, RepairTally } from './repairs.js'
import { checkMark } from './upgrade.js'
import { sections } from './walk.js'

/**
 * @typedef {import('./files/report.js').Finding} Finding
 * @typedef {import('../store/index.js').Store} Store
 *
 * @typedef {object} CheckOptions
 * @property {string[]} [layers] of a store: check only these, and not the store as a whole
 * @property {boolean} [fix] repair the faults that have only one possible fix; of whole layers and stores
 * @property {import('../../core/area.js').Area} [area] of a layer or file: only tiles that touch it
 * @property {import('../../core/grid.js').Zooms} [zooms] of a layer or file: only these
 * @property {'xyz' | 'tms'} [scheme] how a folder counts its rows
 * @property {string | object} [grid] of the tiles of a file (default: the grid that the file names)
 * @property {boolean} [decode] decode every tile; otherwise only its frame is looked at
 * @property {AbortSignal} [signal]
 * @property {(done: Progress) => void} [onProgress]
 * @property {(finding: Finding) => void} [onFinding] called for every finding
 * @property {import('./repairs.js').RepairLimits} [limits] of the repair
 *
 * @typedef {object} Progress
 * @property {string} [layer] that is being checked
 * @property {number} tiles read so far, in all layers; of a store also past versions
 * @property {number} bytes
 * @property {number} [total] tiles to be read, where it is known
 * @property {number} faults
 * @property {number} warnings
 *
 * @typedef {{layer: string, tiles: number, versions: number, bytes: number, faults: number, warnings: number}}
 * LayerChecked
 *
 * @typedef {object} CheckReport
 * @property {string} what was checked
 * @property {string} kind store, layer, folder, mbtiles or pmtiles
 * @property {number} tiles
 * @property {number} bytes of tiles
 * @property {number} [versions] of a store or layer
 * @property {LayerChecked[]} [layers] of a store
 * @property {Record<string, any>} [checked] of a layer or file: how much was checked
 * @property {number} faults that were found
 * @property {number} warnings
 * @property {Record<string, number>} kinds code -> how often
 * @property {Record<string, Finding>} examples code -> its first finding
 * @property {Finding[]} first the first hundred
 * @property {Repaired} [repair] with `fix`
 *
 * @typedef {object} Repaired
 * @property {Record<string, number>} repaired code -> how many were repaired
 * @property {Record<string, number>} remaining code -> how many were not
 * @property {number} faults among the remaining
 * @property {number} warnings
 * @property {(Finding & {reason?: string})[]} named the first hundred of the remaining
 */

/**
 * @param {string | Store | {store: Store, layer: string, time?: string}} subject
 * @param {CheckOptions} [options]
 * @returns {Promise<CheckReport>}
 */
export async function check (subject, options = {}) {
  const job = typeof subject === 'string' ? new FileCheck(subject, options) : new StoreCheck(subject, options)
  try {
    await job.run()
    return job.summary
  } catch (error) {
    throw error instanceof TilecouchError ? Object.assign(error, { summary: job.summary }) : error
  }
}

const findingsOf = ({ faults, warnings, kinds, examples, first }) => ({ faults, warnings, kinds, examples, first })

class FileCheck {
  #result = { kind: 'file', tiles: 0, bytes: 0, checked: /** @type {any} */ ({}) }

  /** @param {string} file @param {CheckOptions} options */
  constructor (file, { onFinding, ...options }) {
    this.file = file
    this.options = options
    this.report = new Report({ onFault: onFinding })
  }

  get summary () {
    return { what: this.file, ...this.#result, ...findingsOf(this.report) }
  }

  async run () {
    const { file, report, options } = this
    this.#result = await verifyFile(file, {
      ...options,
      report,
      onProgress: done => {
        Object.assign(this.#result, { tiles: done.tiles, bytes: done.bytes })
        options.onProgress?.({ ...done, faults: report.faults, warnings: report.warnings })
      }
    })
  }
}

class StoreCheck {
  #layers = /** @type {LayerChecked[]} */ ([])
  /** Details of the layer that was checked last. @type {Record<string, any>} */
  #checked = {}
  #current = { tiles: 0, bytes: 0 } // of the layer that is being checked
  #read = { tiles: 0, bytes: 0 } // of the layers before that
  /** @type {number | undefined} */
  #total
  #outcome = new RepairTally()
  /** @type {RepairQueue | undefined} */
  #repairs
  #hasTiles = new Set() // names of layers that have tiles

  /** @param {Store | {store: Store, layer: string, time?: string}} subject @param {CheckOptions} options */
  constructor (subject, { layers, fix = false, onProgress, onFinding, limits, ...options }) {
    this.part = 'store' in subject ? subject : undefined
    this.store = 'store' in subject ? subject.store : subject
    this.couch = this.store.couch
    this.layers = this.part ? [this.part.layer] : layers
    this.layers?.forEach(checkLayer)
    this.options = { ...options, time: this.part?.time }
    this.signal = options.signal
    this.onProgress = onProgress
    this.designs = new DesignDocuments(this.store, this.signal)
    const queueOptions = { signal: this.signal, tally: this.#outcome, limits }
    this.#repairs = fix ? new RepairQueue(this.store, queueOptions) : undefined
    this.report = new Report({
      onFault: finding => {
        onFinding?.(finding)
        this.#repairs?.note(finding)
      }
    })
  }

  /** @returns {CheckReport} */
  get summary () {
    const { repaired, remaining, faults, warnings, named } = this.#outcome
    const sum = field => this.#layers.reduce((total, layer) => total + layer[field], 0)
    const { part } = this
    return {
      ...(part
        ? { what: formatReference(part.layer, part.time), kind: 'layer', checked: this.#checked }
        : { what: this.store.url, kind: 'store', layers: this.#layers }),
      tiles: sum('tiles') + this.#current.tiles,
      versions: sum('versions'),
      bytes: sum('bytes') + this.#current.bytes,
      ...findingsOf(this.report),
      ...(this.#repairs && { repair: { repaired, remaining, faults, warnings, named } })
    }
  }

  async run () {
    const { area, time, zooms } = this.options
    if (this.onProgress && !area && time === undefined) {
      this.#total = await countContents(this.couch, { layers: this.layers, zooms, signal: this.signal })
    }
    if (this.layers) for (const layer of new Set(this.layers)) await this.#checkLayer(layer)
    else await this.#checkAll()
    if (!this.#repairs) return
    await this.#repair(this.#repairs)
    this.#repairs.end()
  }

  async #checkAll () {
    const { report } = this
    const designs = []
    const documents = new Set() // names of layers that have a document
    const editions = new Map() // layer -> ids
    await checkMark(this.couch, report)
    for await (const section of sections(this.couch, this.signal)) {
      if ('layer' in section) {
        this.#hasTiles.add(section.layer)
        await this.#checkLayer(section.layer)
        continue
      }
      for (const layer of section.layers) documents.add(layer)
      for (const { layer, id } of section.editions) editions.set(layer, [...editions.get(layer) ?? [], id])
      for (const id of section.foreign) report.add('foreign-document', id)
      designs.push(...section.designs)
    }
    for (const layer of documents) if (!this.#hasTiles.has(layer)) await this.#checkLayer(layer)
    for (const [layer, ids] of editions) {
      if (documents.has(layer) || this.#hasTiles.has(layer)) continue
      report.add('stray-edition', ids[0], `${ids.length} of the layer ${layer}`)
    }
    await this.#checkIndexedLayers()
    await this.designs.check(report, designs)
  }

  /** @param {string} layer */
  async #checkLayer (layer) {
    const { report } = this
    const summaryBefore = this.summary
    const layerCheck = await verifyLayer(this.store, layer, {
      ...this.options,
      report,
      merge: this.#repairs && (id => this.#merge(id)),
      afterPage: async () => this.#repairs?.repairIfMany(),
      onProgress: done => {
        this.#current = done
        const { faults, warnings } = report
        const [tiles, bytes] = [this.#read.tiles + done.tiles, this.#read.bytes + done.bytes]
        this.onProgress?.({ layer, tiles, bytes, total: this.#total, faults, warnings })
      }
    })
    this.#read.tiles += layerCheck.checked.contents
    this.#read.bytes += layerCheck.bytes
    this.#current = { tiles: 0, bytes: 0 }
    this.#checked = layerCheck.checked
    this.#layers.push({
      layer,
      tiles: layerCheck.tiles,
      versions: layerCheck.checked.documents,
      bytes: layerCheck.bytes,
      faults: report.faults - summaryBefore.faults,
      warnings: report.warnings - summaryBefore.warnings
    })
    if (!this.#repairs) return
    await this.#repairs.repairTiles()
    await this.#repairs.repairAll(['not-settled'], () => this.#settle(layer))
    await repairLayer(this.store, layer, layerCheck, this.#repairs)
  }

  /** @param {string} id */
  #merge (id) {
    const tally = { merged: 0, ended: 0 } // the finding is counted later, with all other conflicts
    return mergeDocuments(this.couch, [id], { tally, signal: this.signal, note: this.#noteUnsettled })
  }

  /** Finds layers that are in the index and have no documents. */
  async #checkIndexedLayers () {
    const rows = await this.couch.view(BY_TILE, { group_level: 1 }, this.signal).catch(ignoring('INDEX_MISSING'))
    for (const { key: [layer], value } of rows ?? []) {
      if (this.#hasTiles.has(layer)) continue
      this.report.add('index-too-long', String(layer), `${value} in the index, no documents`)
    }
  }

  #noteUnsettled = (kind, id, why) => {
    if (kind !== 'unknown') this.#outcome.noteReason(id, why)
  }

  /** @returns {Promise<boolean>} whether the versions of every tile follow from all statements now */
  async #settle (layer) {
    const { store, couch, signal } = this
    await new Settler(store, { signal, note: this.#noteUnsettled }).run([layer])
    const statements = new LayerStatements(couch, layer, signal)
    for await (const { why } of unsettled(couch, statements, signal)) if (why) return false
    return true
  }

  /** Repairs faults that belong to no layer. @param {RepairQueue} queue */
  async #repair (queue) {
    const { designs } = this
    const idsOf = findings => findings.map(finding => finding.where)
    await queue.repairAll(['no-mark', 'bad-mark'], () => mark(this.couch))
    await this.#repairConflicts(queue)
    await queue.repairAll(['no-design', 'no-validation'], findings => designs.deploy(idsOf(findings)))
    await queue.repairAll(['left-staging'], findings => designs.endStaging(idsOf(findings)))
    await queue.repairAll(['not-in-index', 'index-too-long', 'wrong-sums'], () => designs.rebuild(['_design/versions']))
  }

  /** Repairs conflicts of documents other than tiles. Those of tiles were resolved before. */
  async #repairConflicts (queue) {
    const conflicts = queue.take('conflict')
    if (!conflicts) return
    const ids = conflicts.some.map(({ where }) => where).filter(isMergeable)
    const tally = { merged: 0, ended: 0 }
    await mergeDocuments(this.couch, ids, { tally, signal: this.signal, note: this.#noteUnsettled })
    for (const finding of conflicts.some) {
      const { where } = finding
      const why = where.startsWith('_design/') ? await this.designs.endConflicts([where]) : undefined
      const doc = await this.couch.find({ path: encodeId(where), qs: { conflicts: true } })
      if (doc?._conflicts?.length) this.#outcome.left(finding, typeof why === 'string' ? why : undefined)
      else this.#outcome.repair(finding)
    }
    const { count, some, next } = conflicts
    if (next) this.#outcome.left(next, 'there were too many: run it again', count - some.length)
  }
}
