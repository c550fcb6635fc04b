// Creates databases for the benchmark of bulk writes: new, not compacted by the server, and checked after the writes.
import { isDeepStrictEqual } from 'node:util'
import { compact } from '../../loader/maintain/compact.js'
import { Store } from '../../loader/store/index.js'
import { newDatabase } from '../stoppable.js'

const SAMPLE = 20 // documents compared with what was written
const NEVER = '1000000000000000' // no database ever reaches this ratio, or this number of unused bytes
const POLL = 100 // milliseconds between two checks whether the compaction is done

/**
 * An empty database, without documents of tilecouch.
 * @param {string} url
 * @param {{onRetry?: () => void}} [options]
 */
export async function emptyDatabase (url, { onRetry } = {}) {
  return new Store(await newDatabase(url, undefined, { onRetry }))
}

/** Stops automatic compaction on our own server. It would remove the measured bytes, and take time. */
export async function holdCompaction (couch) {
  for (const channel of ['ratio_dbs', 'slack_dbs']) {
    await couch.request(
      {
        method: 'PUT', path: `_node/_local/_config/smoosh.${channel}/min_priority`,
        server: true, body: JSON.stringify(NEVER), raw: true
      }
    )
  }
}

/** Throws unless all documents are stored, and a sample equals the written documents. @param {Store} store */
export async function checkStored (store, count, written) {
  const { doc_count: stored } = await store.info()
  if (stored !== count) throw new Error(`${store.url}: ${stored} documents, ${count} were written`)
  const size = Math.min(SAMPLE, written.length)
  const samples = Array.from({ length: size }, (_, index) => written[Math.floor(index * written.length / size)])
  const storedDocs = await store.couch.docs(samples.map(({ id }) => id), { attachments: true })
  for (const [index, { id, doc: expected }] of samples.entries()) {
    if (!isDeepStrictEqual(bare(storedDocs[index].doc), bare(expected))) {
      throw new Error(`${store.url}: ${id} is not what was written`)
    }
  }
}

/** Strips the fields that the server and the loader (`run`) add. The attachment becomes base64. */
function bare (doc) {
  if (!doc) return doc
  const { _id, _rev, _revisions, run, _attachments: attachments, ...fields } = doc
  return { ...fields, tile: attachments && Buffer.from(attachments.tile.data, 'base64').toString('base64') }
}

/** Bytes of the file before and after compaction. @param {Store} store @param {any} options */
export async function sizes (store, { signal }) {
  const { before, after } = await compact(store, { when: 'always', limits: { poll: POLL }, signal })
  return { written: before.file, compacted: after.file }
}
