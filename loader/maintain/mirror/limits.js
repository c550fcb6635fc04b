// Notes in the target of a mirror which parts of its layers it keeps (core/store/limits.js). The note is written before
// the first document of a layer, so that a part never looks like the whole, and again when the limits of the source
// change. A whole mirror removes it when complete.
import { checkSound, layerId, limitsId, parseDocumentId } from '../../../core/index.js'
import { checkpointId } from '../../../core/mirror/index.js'
import { sharePromise } from '../../../core/promises.js'
import { recordKinds } from '../../../core/store/records.js'
import { isSameJson } from '../../../core/values.js'
import { peerOf } from '../../store/peer.js'
import { isUnknownType } from '../../store/styles.js'
import { fieldsOf } from '../../store/revisions.js'

const LAYERS = { startkey: 'layer:', endkey: 'layer;' }

/** The layer that a document belongs to. @param {string} id */
const layerOf = id => parseDocumentId(id)?.layer ?? /^([^:@]+):\d/.exec(id)?.[1]

export class LimitsNotes {
  /** @type {Map<string, Promise<void>>} by layer */
  #notes = new Map()
  #isComplete = false // the notes were compared with the limits of the source
  #isOld = false // an earlier tilecouch began this mirror: the layers of the target came by it

  /**
   * @param {import('../../store/couch.js').Couch} source @param {import('../../store/couch.js').Couch} target
   * @param {import('../../../core/mirror/index.js').Selection} selection
   */
  constructor (source, target, selection) {
    const { area, zooms, since, current, layers } = selection
    this.source = source
    this.target = target
    this.layers = layers
    const fields = { area: area?.toJSON(), zooms, since, current: current || undefined }
    this.part = JSON.parse(JSON.stringify(fields)) // without undefined fields
    this.key = selection.key
    this.isWhole = !Object.keys(this.part).length
  }

  /** Writes the missing notes of a partial mirror that an earlier tilecouch began without them. */
  async catchUp () {
    if (this.isWhole) return
    const peer = peerOf(this.target)
    const id = await checkpointId(peerOf(this.source), peer, this)
    const [checkpoint, begun] = await Promise.all([id, id.replace('mirror', 'begin')].map(note => peer.getLocal(note)))
    this.#isOld = checkpoint ? !checkpoint.notesLimits : Boolean(begun)
    if (!this.#isOld) return
    const [rows] = await this.target.ranges([LAYERS])
    const sourceRows = await this.source.docs(rows.map(({ id: layer }) => layer))
    await this.note(sourceRows.flatMap(({ doc }) => doc && (this.layers?.has(doc.layer) ?? true) ? [doc] : []))
  }

  /** Writes the notes for documents that will be written. @param {{_id: string}[]} docs */
  async note (docs) {
    const layers = new Set(docs.flatMap(({ _id }) => layerOf(_id) ?? []))
    await Promise.all([...layers].map(layer => sharePromise(this.#notes, layer, () => this.#writeNote(layer))))
  }

  /** Writes the notes of layers again whose limits changed in the source. @param {{id: string}[]} rows of its feed */
  async renew (rows) {
    const changed = rows.filter(({ id }) => id.startsWith('limits:') && this.#selects(id))
    if (!changed.length) return
    this.#isComplete = false
    for (const { id } of changed) this.#notes.delete(/** @type {string} */ (layerOf(id)))
    await this.note(changed.map(({ id }) => ({ _id: id })))
  }

  async #writeNote (layer) {
    const { source, target, part, isWhole } = this
    const [sourceLimits, targetLimits, targetLayer] = await Promise.all([
      source.get(limitsId(layer)), target.get(limitsId(layer)), target.get(layerId(layer))
    ])
    // a layer that is whole in the target stays whole
    if (isWhole && (!sourceLimits || (targetLayer && !targetLimits))) return
    const of = sourceLimits && { of: sourceLimits.parts, ...(sourceLimits.own && { ofOwn: true }) }
    const parts = isWhole ? sourceLimits.parts : [{ ...part, ...of }]
    const isOwn = (isWhole && sourceLimits.own) || (targetLayer && !targetLimits && !this.#isOld)
    try {
      await addParts(target, layer, { parts, own: isOwn })
    } catch (error) {
      // the target may have design documents of an earlier tilecouch
      if (error.code !== 'FORBIDDEN' || !isUnknownType(error.details.reason, 'limits')) throw error
    }
  }

  /**
   * Compares the notes with the limits of the source, which may have changed between two runs. Removes those of a whole
   * mirror. Called when the target is complete.
   */
  async complete () {
    if (this.#isComplete) return
    const { source, target, isWhole } = this
    const layerNames = (await target.ranges([LAYERS])).flat().flatMap(({ id }) => parseDocumentId(id)?.layer ?? [])
    const ids = layerNames.map(limitsId).filter(id => this.#selects(id))
    for (const { doc } of ids.length ? await target.docs(ids) : []) {
      if (!doc || !await source.get(layerId(doc.layer))) continue
      if (!isWhole || await source.get(doc._id)) await this.#writeNote(doc.layer)
      else await target.bulk([{ _id: doc._id, _rev: doc._rev, _deleted: true }])
    }
    this.#isComplete = true
  }

  /** @param {string} id of a document */
  #selects (id) {
    return this.layers?.has(/** @type {string} */ (layerOf(id))) ?? true
  }
}

/**
 * Adds parts to the limits of a layer.
 * @param {import('../../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {{parts: import('../../../core/store/limits.js').Part[], own?: any}} limits own: the layer has other tiles
 */
export const addParts = (couch, layer, { parts, own }) => couch.update(limitsId(layer), stored => {
  const storedParts = stored?.parts ?? []
  const isNew = part => !storedParts.some(storedPart => isSameJson(storedPart, part))
  const newParts = parts.filter(isNew)
  if (!newParts.length && (!own || stored?.own)) return undefined
  const fields = stored ? fieldsOf(stored) : { type: 'limits', layer }
  const limits = { ...fields, _id: limitsId(layer), ...(own && { own: true }), parts: [...storedParts, ...newParts] }
  return checkSound(limits, recordKinds) // a store without validation accepts more
})
