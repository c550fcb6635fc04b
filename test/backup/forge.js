// Backups with right check sums and changed content, as somebody makes them who knows the format.
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

/** The image of a tile, as a backup describes it. */
export const withImage = (doc, data, fields) => ({ ...doc, _attachments: {
  tile: { content_type: 'image/png', digest: digestOf(data), length: data.length, data, ...fields }
} })

/** Collects in `parts` what is written. @param {Buffer[]} parts */
export const memorySink = parts => ({
  name: 'memory',
  write: async bytes => { parts.push(Buffer.from(bytes)) },
  finish: async () => {},
  stop: async () => {}
})

export async function * inChunks (bytes, size) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const same = value => value
function withoutData ({ _attachments: images, ...doc }) {
  if (!images) return doc
  const described = Object.entries(images).map(([name, { data, ...about }]) => [name, about])
  return { ...doc, _attachments: Object.fromEntries(described) }
}

/**
 * Copies a backup with changes.
 * @param {string} from @param {string} to files
 * @param {any} change functions of `header`, `docs`, `page` and `trailer`; signature: bytes after the trailer; recount:
 *   the counts of the trailer are right
 */
export async function rewrite (from, to,
  { header = same, docs = same, page = same, trailer = same, signature = undefined, recount = false }) {
  const parts = [MAGIC]
  const counts = noCounts()
  for await (const part of readFileParts(from)) {
    if (part.kind !== 'trailer') counts.blocks++
    if (part.kind === 'header') parts.push(await encodeBlock(HEADER, header(part.header)))
    else if (part.kind === 'documents') {
      const wanted = docs(part.documents.docs)
      count(counts, wanted)
      const bytes = wanted.flatMap(({ _attachments: images = {} }) => Object.values(images).map(({ data }) => data))
      const described = wanted.map(withoutData)
      parts.push(await encodeBlock(DOCUMENTS, { page: page(part.documents.page), docs: described }, bytes))
    } else {
      const sha256 = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
      const about = trailer({ ...part.trailer, sha256, ...(recount && { counts }) })
      const block = await encodeBlock(TRAILER, about, signature ? [signature] : [])
      parts.push(block, encodeFooter(block.length))
    }
  }
  writeFileSync(to, Buffer.concat(parts))
}
