// What was sent goes from the device when nobody misses it: where it lies in areas, as soon as each of those has it; elsewhere
// with the end of the upload.
import { editionId } from '../../core/index.js'
import { write } from './edits-database.js'
import { hasArrived } from './edits-known.js'
import { tally } from './edits-tally.js'

const LOT = 200 // tiles looked at together

/**
 * @param {object} parts
 * @param {any} parts.db
 * @param {import('./edits-index.js').Index} parts.index
 * @param {import('./edits-drafts.js').Drafts} parts.drafts
 * @param {string} parts.layer
 * @param {import('./device.js').Database[]} parts.databases of areas
 * @param {(edition: {layer: string, time: string}) => Promise<void>} parts.forget
 * @returns {Promise<boolean>} whether anything went
 */
export async function settle ({ db, index, drafts, layer, databases, forget }) {
  await index.read()
  let went = false
  for (const doc of [...index.papers.values()]) {
    // before an upload has ended, its tiles tell how far the layer reaches
    if (doc.type !== 'edition' || doc.layer !== layer || !doc.upload?.finished) continue
    const { time } = doc
    const sent = index.versions(layer, time).filter(({ upload }) => upload?.to)
    for (let at = 0; at < sent.length; at += LOT) {
      const going = await arrived(sent.slice(at, at + LOT), layer, databases)
      if (!going.length) continue
      await drafts.drop(going.map(entry => ({ ...entry, id: entry.head, layer })), ({ upload }) => Boolean(upload?.to))
      await write(db, editionId(layer, time), stored => stored && { ...stored, upload: { ...stored.upload, left: tally(going, stored) } })
      went = true
    }
    await index.read()
    if (!index.versions(layer, time).length) await forget({ layer, time })
  }
  return went
}

/** @param {import('./edits-index.js').Entry[]} entries @param {string} layer @param {import('./device.js').Database[]} databases */
async function arrived (entries, layer, databases) {
  const staying = new Set()
  for (const database of databases) {
    const within = entries.filter(({ z, x, y }) => database.holds(z, x, y))
    const has = await hasArrived(database, within, layer)
    within.forEach((entry, at) => { if (!has[at]) staying.add(entry) })
  }
  return entries.filter(entry => !staying.has(entry))
}
