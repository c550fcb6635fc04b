// Backups as somebody makes them who knows the format: every check sum is right, and what they say is another thing.
import { createHash, generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { DOCUMENTS, HEADER, MAGIC, TRAILER, encodeBlock, encodeFooter, noCounts } from '../../loader/backup/format.js'
import { count, readFileParts } from '../../loader/backup/reader.js'

const same = value => value

/** A pair of keys to sign with, as PEM. */
export function newPair () {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { secret: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), open: publicKey.export({ format: 'pem', type: 'spki' }).toString() }
}

/**
 * @param {string} from @param {string} to files
 * @param {{header?: (header: any) => any, docs?: (docs: any[]) => any[], page?: (page: number) => number, trailer?: (trailer: any) => any, keep?: boolean, recount?: boolean}} change
 *   keep: the signature that it had; recount: the trailer says what the file holds now
 */
export async function rewrite (from, to, { header = same, docs = same, page = same, trailer = same, keep = false, recount = false }) {
  const parts = [MAGIC]
  const counts = noCounts()
  for await (const part of readFileParts(from, {})) {
    if (part.kind !== 'trailer') counts.blocks++
    if (part.kind === 'header') parts.push(await encodeBlock(HEADER, header(part.header)))
    else if (part.kind === 'documents') {
      const wanted = docs(part.documents.docs)
      count(counts, wanted)
      const bytes = wanted.flatMap(({ _attachments: held = {} }) => Object.values(held).map(({ data }) => data))
      const described = wanted.map(doc => ({ ...doc, ...(doc._attachments && { _attachments: Object.fromEntries(Object.entries(doc._attachments).map(([name, { data, ...about }]) => [name, about])) }) }))
      parts.push(await encodeBlock(DOCUMENTS, { page: page(part.documents.page), docs: described }, bytes))
    } else {
      const sha256 = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
      const whole = readFileSync(from)
      const end = whole.length - 8 - 4 // footer and check sum
      const block = await encodeBlock(TRAILER, trailer({ ...part.trailer, sha256, ...(recount && { counts }) }), keep ? [whole.subarray(end - 64, end)] : [])
      parts.push(block, encodeFooter(block.length))
    }
  }
  writeFileSync(to, Buffer.concat(parts))
}
