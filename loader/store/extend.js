// Extends heads that their upstream has confirmed: only `expires` and `origin` change. After a conflict the head stays
// as it is: another program wrote it meanwhile.
import { isDeepStrictEqual } from 'node:util'
import { chunks } from '../../core/lists.js'
import { isExactTime, parseTileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'

const CHUNK = 500 // heads a request

/**
 * @typedef {object} Extension
 * @property {string} id of a head
 * @property {string} [rev] the revision that was read; any revision unless given
 * @property {string | null} [expires] exact time; null: removes it; unchanged unless given
 * @property {Record<string, any>} [origin] unchanged unless given
 *
 * @typedef {object} ExtendSummary
 * @property {Map<string, string>} extended id -> the revision it has now
 * @property {string[]} changed ids of heads that another program wrote or removed meanwhile: they stay as they are
 */

/**
 * @param {import('./couch.js').Couch} couch
 * @param {Extension[]} extensions
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<ExtendSummary>}
 */
export async function extendHeads (couch, extensions, { signal } = {}) {
  for (const { id, expires } of extensions) {
    const { time } = parseTileId(id)
    if (time !== undefined) throw new TilecouchError('BAD_ID', { value: id, why: 'a past version never changes' })
    if (expires && !isExactTime(expires)) throw new TilecouchError('BAD_TIME', { value: expires })
  }
  const summary = { extended: new Map(), changed: [] }
  for (const chunk of chunks(extensions, CHUNK)) {
    await extendChunk(couch, chunk, summary, signal)
  }
  return summary
}

async function extendChunk (couch, extensions, { extended, changed }, signal) {
  const rows = await couch.docs(extensions.map(({ id }) => id), { signal })
  const docs = []
  extensions.forEach((extension, index) => {
    const stored = rows[index].doc
    const { id } = extension
    if (!stored || (extension.rev && stored._rev !== extension.rev)) return changed.push(id)
    const doc = extendedDoc(stored, extension)
    if (isDeepStrictEqual(doc, stored)) extended.set(id, stored._rev)
    else docs.push(doc)
  })
  // the attachments stay: the documents have stubs
  for (const [id, rev] of await couch.writeAll(docs, signal)) {
    if (rev) extended.set(id, rev)
    else changed.push(id) // also if an earlier try was stored without an answer
  }
}

function extendedDoc (stored, { expires, origin }) {
  const { _revisions, _conflicts, ...doc } = stored
  if (expires) doc.expires = expires
  else if (expires === null) delete doc.expires
  if (origin) doc.origin = origin
  return doc
}
