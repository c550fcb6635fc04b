// Backups as somebody makes them who knows the format: every check sum is right, and what they say is another thing.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { DOCUMENTS, HEADER, MAGIC, TRAILER, encodeBlock, encodeFooter } from '../../loader/backup/format.js'
import { readFileParts } from '../../loader/backup/reader.js'

const same = value => value

/**
 * @param {string} from @param {string} to files
 * @param {{header?: (header: any) => any, docs?: (docs: any[]) => any[], trailer?: (trailer: any) => any, keep?: boolean}} change
 *   keep: the signature that it had
 */
export async function rewrite (from, to, { header = same, docs = same, trailer = same, keep = false }) {
  const parts = [MAGIC]
  const counts = /** @type {any} */ ({ documents: 0 })
  for await (const part of readFileParts(from, {})) {
    if (part.kind === 'header') parts.push(await encodeBlock(HEADER, header(part.header)))
    else if (part.kind === 'documents') {
      const wanted = docs(part.documents.docs)
      const bytes = wanted.flatMap(({ _attachments: held = {} }) => Object.values(held).map(({ data }) => data))
      const described = wanted.map(doc => ({ ...doc, ...(doc._attachments && { _attachments: Object.fromEntries(Object.entries(doc._attachments).map(([name, { data, ...about }]) => [name, about])) }) }))
      parts.push(await encodeBlock(DOCUMENTS, { page: part.documents.page, docs: described }, bytes))
    } else {
      Object.assign(counts, part.trailer.counts)
      const sha256 = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
      const whole = readFileSync(from)
      const end = whole.length - 8 - 4 // footer and check sum
      const block = await encodeBlock(TRAILER, trailer({ ...part.trailer, sha256 }), keep ? [whole.subarray(end - 64, end)] : [])
      parts.push(block, encodeFooter(block.length))
    }
  }
  writeFileSync(to, Buffer.concat(parts))
}
