// Settles the tiles of a store: see core/store/settle.js.
import { layerId, parseTileId, soundOf } from '../../core/index.js'
import { LayerStatements } from '../../core/store/statements.js'
import { sections } from '../check/sections.js'
import { tilesSince } from '../load/others.js'
import { lostIn } from '../prune/mark.js'
import { everyTile, settleAll, sharedDoorOf, tilesOf } from '../store/settle.js'
import { checkDocument } from '../verify/store/document.js'

/**
 * @typedef {object} SettlerParts
 * @property {boolean} [dryRun]
 * @property {AbortSignal} [signal]
 * @property {(id: string, done: import('../../core/store/settle.js').Settled['done']) => void} onSettled a tile that was written
 * @property {(id: string, reason: string) => void} onLeft
 * @property {(id: string, reason: string) => void} onRefused
 * @property {(id: string, statement: {layer: string, time: string}) => void} onUnknown
 */

export class Settler {
  /** @type {Map<string, LayerStatements>} */
  #said = new Map()
  /** Layers that were met -> their documents. @type {Map<string, any>} */
  #named = new Map()
  /** Tiles of a dry run that were looked at. @type {Set<string>} */
  rehearsed = new Set()

  /** @param {import('../store/index.js').Store} store @param {SettlerParts} parts */
  constructor (store, parts) {
    this.store = store
    this.couch = store.couch
    this.door = sharedDoorOf(store.couch)
    this.parts = parts
  }

  /** @param {string[] | undefined} layers @param {string | number} [since] what has changed since that place alone */
  async run (layers, since) {
    const docs = layers ? new Map() : await this.#layers(since)
    for (const layer of layers ?? docs.keys()) await this.settle(layer, said => this.#ids(said, since), docs.get(layer))
  }

  /** Those that have a document, and those that have tiles alone: its document may not have come yet. */
  async #layers (since) {
    if (since === undefined) for await (const section of sections(this.couch, this.parts.signal)) if ('layer' in section) this.#named.set(section.layer, undefined)
    for (const doc of await this.store.layers()) this.#named.set(doc.layer, doc)
    return this.#named
  }

  /** @param {string} layer @param {(said: LayerStatements) => Iterable<string> | AsyncIterable<string>} idsOf of heads @param {any} [known] its document */
  async settle (layer, idsOf, known) {
    const { couch, door, parts: { dryRun, signal } } = this
    const said = this.#said.get(layer) ?? new LayerStatements(couch, layer)
    this.#said.set(layer, said)
    const doc = known ?? soundOf([await couch.get(layerId(layer))], 'layer')[0]
    await settleAll(couch, layer, idsOf(said), { said, door, dryRun, signal, onSettled: settled => this.#tell(settled, doc) })
  }

  async * #ids (said, since) {
    const { layer, records: before } = said
    await said.refresh()
    const news = [...said.manifests, ...said.removals].filter(({ id }) => before.get(id) !== said.records.get(id))
    const changed = since === undefined || news.some(({ id }) => id.startsWith('removed:')) ? undefined : await tilesSince(this.couch, layer, since, { signal: this.parts.signal })
    if (!changed) return yield * everyTile(this.couch, said, this.parts.signal)
    yield * changed
    for (const record of news) {
      // of what a complete edition does not name it said something, too
      if (record.complete) return yield * everyTile(this.couch, said, this.parts.signal)
      for await (const id of tilesOf(said, record)) if (!changed.has(id)) yield id
    }
  }

  /** @param {Map<string, import('../../core/store/settle.js').Settled>} settled @param {any} doc of the layer */
  #tell (settled, doc) {
    const { onSettled, onLeft, onRefused, onUnknown } = this.parts
    for (const [id, one] of settled) {
      const { done, error, odd } = one
      if (this.rehearsed.has(id)) continue
      if (odd) onLeft(odd._id, `it is no valid tile: ${checkDocument(odd).problems[0]?.filter(Boolean).join(', ')}`)
      else if (error) onRefused(id, error.message)
      else if (done.length) onSettled(id, done)
      for (const { time } of lostIn(doc, one)) onUnknown(id, { layer: parseTileId(id).layer, time })
    }
  }
}
