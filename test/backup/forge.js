// Makes backups with right check sums and changed content, as an attacker who knows the format would.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { DOCUMENTS, HEADER, MAGIC, TRAILER, encodeBlock, encodeFooter, noCounts } from '../../loader/backup/format.js'
import { count, readFileParts } from '../../loader/backup/reader.js'
import { digestOf } from '../../loader/store/tile.js'

/** The header of a full backup. */
export const fullHeader = {
  format: 1,
  program: 'tilecouch',
  id: 'one',
  made: '2024-01-01T00:00:00Z',
  store: 's',
  database: 'd',
  name: 'tiles',
  q: 2,
  since: 0,
  base: null
}

/** Adds the image of a tile, as a backup describes it. */
export const withImage = (doc, data, fields) => ({ ...doc, _attachments: {
  tile: { content_type: 'image/png', digest: digestOf(data), length: data.length, data, ...fields }
} })

/** A sink that collects the written bytes in `parts`. @param {Buffer[]} parts */
export const memorySink = parts => ({
  name: 'memory',
  write: async bytes => { parts.push(Buffer.from(bytes)) },
  finish: async () => {},
  stop: async () => {}
})

export async function * inChunks (bytes, size) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

const identity = value => value
function withoutData ({ _attachments: images, ...doc }) {
  if (!images) return doc
  const descriptions = Object.entries(images).map(([name, { data, ...description }]) => [name, description])
  return { ...doc, _attachments: Object.fromEntries(descriptions) }
}

/**
 * Copies a backup with changes.
 * @param {string} from @param {string} to files
 * @param {any} change functions of `header`, `docs`, `page` and `trailer`; signature: bytes after the trailer; recount:
 *   the counts of the trailer are right
 */
export async function rewrite (from, to,
  { header = identity, docs = identity, page = identity, trailer = identity, signature = undefined, recount = false }) {
  const parts = [MAGIC]
  const counts = noCounts()
  for await (const part of readFileParts(from)) {
    if (part.kind !== 'trailer') counts.blocks++
    if (part.kind === 'header') parts.push(await encodeBlock(HEADER, header(part.header)))
    else if (part.kind === 'documents') {
      const newDocs = docs(part.documents.docs)
      count(counts, newDocs)
      const bytes = newDocs.flatMap(({ _attachments: images = {} }) => Object.values(images).map(({ data }) => data))
      const describedDocs = newDocs.map(withoutData)
      parts.push(await encodeBlock(DOCUMENTS, { page: page(part.documents.page), docs: describedDocs }, bytes))
    } else {
      const sha256 = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
      const changedTrailer = trailer({ ...part.trailer, sha256, ...(recount && { counts }) })
      const block = await encodeBlock(TRAILER, changedTrailer, signature ? [signature] : [])
      parts.push(block, encodeFooter(block.length))
    }
  }
  writeFileSync(to, Buffer.concat(parts))
}
