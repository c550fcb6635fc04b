// Checks a whole store: every layer, also those that have no document, and what belongs to none. Nothing is written unless it
// is to be repaired; then what has one right answer is mended, and of the rest it is said what a person can do.
import { TilecouchError, checkLayer } from '../core/index.js'
import { LayerStatements } from '../core/store/statements.js'
import { Designs } from './check/designs.js'
import { mendLayer } from './check/layers.js'
import { checkMark, mark } from './check/mark.js'
import { Mender, Outcome } from './check/mender.js'
import { sections } from './check/sections.js'
import { peerOf } from './mirror/peer.js'
import { resolveDefaults } from './resolve/index.js'
import { Papers } from './resolve/papers.js'
import { Settler } from './resolve/settler.js'
import { encodeId } from '../core/couch/client.js'
import { BY_TILE } from './store/reader.js'
import { Report } from './verify/report.js'
import { verifyLayer } from './verify/store/index.js'
import { unsettled } from './verify/store/manifests.js'

/**
 * @typedef {import('./verify/report.js').Finding} Finding
 *
 * @typedef {object} CheckOptions
 * @property {string[]} [layers] only these, and nothing of the store as a whole
 * @property {boolean} [repair] mends what has one right answer
 * @property {import('./store/index.js').Store} [from] a mirror: bytes that are damaged are taken from there
 * @property {boolean} [decode] decodes every tile; otherwise only its frame is looked at
 * @property {AbortSignal} [signal]
 * @property {(done: {layer: string, tiles: number, bytes: number, faults: number, warnings: number}) => void} [onProgress] tiles, bytes: of all layers so far
 * @property {(finding: Finding) => void} [onFinding] told of everything that is found
 *
 * @typedef {object} LayerChecked
 * @property {string} layer
 * @property {number} tiles
 * @property {number} versions
 * @property {number} bytes
 * @property {number} faults
 * @property {number} warnings
 *
 * @typedef {object} CheckReport
 * @property {string} store
 * @property {LayerChecked[]} layers
 * @property {number} tiles
 * @property {number} versions
 * @property {number} bytes
 * @property {number} faults that were found
 * @property {number} warnings
 * @property {Record<string, number>} kinds code -> how often
 * @property {Record<string, Finding>} examples code -> the first of it
 * @property {Finding[]} first the first hundred
 * @property {Repaired} [repair] when asked for
 *
 * @typedef {object} Repaired
 * @property {Record<string, number>} repaired code -> how many of those were mended
 * @property {Record<string, number>} remaining code -> how many were not
 * @property {number} faults among the remaining
 * @property {number} warnings
 * @property {(Finding & {reason?: string})[]} named the first hundred of the remaining
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {CheckOptions} [options]
 * @returns {Promise<CheckReport>}
 */
export async function check (store, options = {}) {
  options.layers?.forEach(checkLayer)
  const walk = new StoreCheck(store, options)
  try {
    await walk.run()
    return walk.summary
  } catch (error) {
    if (error instanceof TilecouchError) Object.assign(error, { summary: walk.summary })
    throw error
  }
}

class StoreCheck {
  #layers = /** @type {LayerChecked[]} */ ([])
  #outcome = new Outcome()
  /** @type {Mender | undefined} */
  #mender
  #documents = new Set() // names of layers that have a document
  #tiles = new Set() // names of layers that have tiles
  #editions = /** @type {Map<string, {count: number, first: string}>} */ (new Map())

  /** @param {import('./store/index.js').Store} store @param {CheckOptions} options */
  constructor (store, { layers, repair = false, from, decode, signal, onProgress, onFinding }) {
    this.store = store
    this.couch = store.couch
    this.layers = layers
    this.decode = decode
    this.signal = signal
    this.onProgress = onProgress
    this.#mender = repair ? new Mender(store, { signal, from, tally: this.#outcome }) : undefined
    this.report = new Report({
      onFault: finding => {
        onFinding?.(finding)
        this.#mender?.note(finding)
      }
    })
  }

  /** @returns {CheckReport} */
  get summary () {
    const { faults, warnings, kinds, examples, first } = this.report
    const { repaired, remaining, faults: left, warnings: leftWarnings, named } = this.#outcome
    const sum = field => this.#layers.reduce((total, layer) => total + layer[field], 0)
    return {
      store: this.store.url, layers: this.#layers, tiles: sum('tiles'), versions: sum('versions'), bytes: sum('bytes'), faults, warnings, kinds, examples, first,
      ...(this.#mender && { repair: { repaired, remaining, faults: left, warnings: leftWarnings, named } })
    }
  }

  async run () {
    const designs = new Designs(this.store, this.signal)
    if (this.layers) for (const layer of new Set(this.layers)) await this.#layer(layer)
    else await this.#whole(designs)
    if (!this.#mender) return
    await this.#repair(this.#mender, designs)
    this.#mender.end()
  }

  /** @param {Designs} designs */
  async #whole (designs) {
    const ids = []
    await checkMark(this.couch, this.report)
    for await (const section of sections(this.couch, this.signal)) {
      if ('layer' in section) {
        this.#tiles.add(section.layer)
        await this.#layer(section.layer)
        continue
      }
      for (const layer of section.layers) this.#documents.add(layer)
      for (const { layer, id } of section.editions) this.#editions.set(layer, { count: (this.#editions.get(layer)?.count ?? 0) + 1, first: id })
      for (const id of section.foreign) this.report.add('foreign-document', id)
      ids.push(...section.designs)
    }
    for (const layer of this.#documents) if (!this.#tiles.has(layer)) await this.#layer(layer)
    for (const [layer, { count, first }] of this.#editions) {
      if (!this.#documents.has(layer) && !this.#tiles.has(layer)) this.report.add('stray-edition', first, `${count} of the layer ${layer}`)
    }
    await this.#strangersInIndex()
    await designs.check(this.report, ids)
  }

  /** @param {string} layer */
  async #layer (layer) {
    const { report } = this
    const before = { faults: report.faults, warnings: report.warnings, tiles: 0, bytes: 0 }
    for (const { tiles, bytes } of this.#layers) Object.assign(before, { tiles: before.tiles + tiles, bytes: before.bytes + bytes })
    const found = await verifyLayer(this.store, layer, {
      decode: this.decode,
      signal: this.signal,
      report,
      between: async () => this.#mender?.relieve(),
      onProgress: ({ tiles, bytes }) => this.onProgress?.({ layer, tiles: before.tiles + tiles, bytes: before.bytes + bytes, faults: report.faults, warnings: report.warnings })
    })
    this.#layers.push({
      layer, tiles: found.tiles, versions: found.checked.documents, bytes: found.bytes, faults: report.faults - before.faults, warnings: report.warnings - before.warnings
    })
    if (!this.#mender) return
    await this.#mender.mendTiles()
    await this.#mender.mendAll(['not-settled'], () => this.#settle(layer))
    await mendLayer(this.store, layer, found, this.#mender)
  }

  /** @param {string} layer @returns {Promise<boolean>} whether every tile is as was said now */
  async #settle (layer) {
    const say = (id, why) => this.#outcome.say(id, why)
    await new Settler(this.store, { signal: this.signal, onSettled: () => {}, onLeft: say, onRefused: say, onUnknown: () => {} }).run([layer])
    for await (const { how } of unsettled(this.couch, new LayerStatements(this.couch, layer, this.signal), this.signal)) if (how) return false
    return true
  }

  /** Layers that the index has and no document. */
  async #strangersInIndex () {
    try {
      for (const { key: [layer], value } of await this.couch.view(BY_TILE, { group_level: 1 }, this.signal)) {
        if (!this.#tiles.has(layer)) this.report.add('index-too-long', String(layer), `${value} in the index, no documents`)
      }
    } catch (error) {
      if (error.code !== 'INDEX_MISSING') throw error
    }
  }

  /** What belongs to no layer. @param {Mender} mender @param {Designs} designs */
  async #repair (mender, designs) {
    const where = found => found.map(finding => finding.where)
    await mender.mendAll(['no-mark', 'bad-mark'], () => mark(this.couch))
    await this.#conflicts(mender, designs)
    await mender.mendAll(['no-design', 'no-validation'], found => designs.bring(where(found)))
    await mender.mendAll(['left-staging'], found => designs.endStaging(where(found)))
    await mender.mendAll(['not-in-index', 'index-too-long'], () => designs.rebuild(['_design/versions']))
    await mender.mendAll(['wrong-sums'], () => designs.rebuild(['_design/sizes', '_design/versions']))
  }

  /** Of layers, editions, the mark and design documents; those of tiles are in order already. */
  async #conflicts (mender, designs) {
    const found = mender.take('conflict')
    if (!found) return
    const parts = { tally: { merged: 0, ended: 0 }, limits: resolveDefaults, signal: this.signal, onLeft: (id, why) => this.#outcome.say(id, why), onRefused: (id, why) => this.#outcome.say(id, why) }
    const papers = found.some.filter(({ where }) => Papers.has(where))
    await new Papers(this.couch, peerOf(this.couch), /** @type {any} */ (parts)).resolve(papers.map(({ where }) => where))
    for (const finding of found.some) {
      const { where } = finding
      const said = where.startsWith('_design/') ? await designs.endConflicts([where]) : undefined
      const doc = await this.couch.find({ path: encodeId(where), qs: { conflicts: true } })
      doc?._conflicts?.length ? this.#outcome.left(finding, typeof said === 'string' ? said : undefined) : this.#outcome.mended(finding)
    }
  }
}
