// Notes in the target of a mirror which parts of its layers it keeps (core/store/limits.js): before anything of a layer
// is written, so that a part is never taken for the whole. A mirror of everything removes the note when it is complete.
import { checkSound, layerId, limitsId, parseDocumentId } from '../../../core/index.js'
import { checkpointId } from '../../../core/mirror/index.js'
import { sharePromise } from '../../../core/promises.js'
import { recordKinds } from '../../../core/store/records.js'
import { peerOf } from '../../store/peer.js'
import { isUnknownType } from '../../store/styles.js'
import { canonical, fieldsOf } from '../../store/revisions.js'

const LAYERS = { startkey: 'layer:', endkey: 'layer;' }

/** The layer that a document belongs to. @param {string} id */
const layerOf = id => parseDocumentId(id)?.layer ?? /^([^:@]+):\d/.exec(id)?.[1]

export class LimitsNotes {
  /** @type {Map<string, Promise<void>>} by layer */
  #notes = new Map()
  #isOld = false // an earlier version began this mirror: what the target has of the layers came by it

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
    this.part = JSON.parse(JSON.stringify(fields)) // without what is undefined
    this.key = selection.key
    this.isWhole = !Object.keys(this.part).length
  }

  /** Before a mirror of a part continues that an earlier version has begun, without noting it. */
  async catchUp () {
    if (this.isWhole) return
    const peer = peerOf(this.target)
    const id = await checkpointId(peerOf(this.source), peer, this)
    const [checkpoint, begun] = await Promise.all([id, id.replace('mirror', 'begin')].map(one => peer.getLocal(one)))
    this.#isOld = checkpoint ? !checkpoint.notesLimits : Boolean(begun)
    if (!this.#isOld) return
    const [rows] = await this.target.ranges([{ startkey: 'layer:', endkey: 'layer;' }])
    const atSource = await this.source.docs(rows.map(({ id: layer }) => layer))
    await this.note(atSource.flatMap(({ doc }) => doc && (this.layers?.has(doc.layer) ?? true) ? [doc] : []))
  }

  /** Before these documents are written. @param {{_id: string}[]} docs */
  async note (docs) {
    const layers = new Set(docs.flatMap(({ _id }) => layerOf(_id) ?? []))
    await Promise.all([...layers].map(layer => sharePromise(this.#notes, layer, () => this.#write(layer))))
  }

  async #write (layer) {
    const { source, target, part, isWhole } = this
    const [atSource, here, described] = await Promise.all([
      limitsOf(source, layer), target.get(limitsId(layer)), target.get(layerId(layer))
    ])
    // what is whole here stays whole, whatever the source lacks
    if (isWhole && (!atSource || (described && !here))) return
    const parts = isWhole ? atSource.parts : [{ ...part, ...(atSource && { of: atSource.parts }) }]
    try {
      await addParts(target, layer, { parts, own: described && !here && !this.#isOld })
    } catch (error) {
      // the design documents there are of an earlier tilecouch
      if (error.code !== 'FORBIDDEN' || !isUnknownType(error.details.reason, 'limits')) throw error
    }
  }

  /** When the target has everything. */
  async complete () {
    const { source, target, layers, isWhole } = this
    if (!isWhole) return
    const described = (await target.ranges([LAYERS])).flat().flatMap(({ id }) => parseDocumentId(id)?.layer ?? [])
    const ids = described.filter(layer => !layers || layers.has(layer)).map(limitsId)
    for (const { doc } of ids.length ? await target.docs(ids) : []) {
      if (!doc || !await source.get(layerId(doc.layer)) || await limitsOf(source, doc.layer)) continue
      await target.bulk([{ _id: doc._id, _rev: doc._rev, _deleted: true }])
    }
  }
}

/**
 * Adds parts to the limits of a layer.
 * @param {import('../../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {{parts: import('../../../core/store/limits.js').Part[], own?: any}} limits own: the layer has more than them
 */
export const addParts = (couch, layer, { parts, own }) => couch.update(limitsId(layer), stored => {
  const before = stored?.parts ?? []
  const isNew = one => !before.some(other => canonical(other) === canonical(one))
  const news = parts.filter(isNew)
  if (!news.length && (!own || stored?.own)) return undefined
  const fields = stored ? fieldsOf(stored) : { type: 'limits', layer }
  const limits = { ...fields, _id: limitsId(layer), ...(own && { own: true }), parts: [...before, ...news] }
  return checkSound(limits, recordKinds) // a store without validation takes more
})

/** The limits of a source; a layer that was loaded there is whole. */
async function limitsOf (source, layer) {
  const doc = await source.get(limitsId(layer))
  return doc?.own ? undefined : doc
}
