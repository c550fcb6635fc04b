// Databases to write into: each new, not compacted by the server, and checked.
import { isDeepStrictEqual } from 'node:util'
import { compact } from '../../loader/maintain/compact.js'
import { Store } from '../../loader/store/index.js'
import { newDatabase } from '../stoppable.js'

const SAMPLE = 20 // documents compared with what was written
const NEVER = '1000000000000000' // times what is in use, or bytes that are not
const POLL = 100 // milliseconds between two looks whether it is compacted

/**
 * An empty database without anything of tilecouch in it.
 * @param {string} url
 * @param {{onRetry?: () => void}} [options]
 */
export async function emptyDatabase (url, { onRetry } = {}) {
  return new Store(await newDatabase(url, undefined, { onRetry }))
}

/** Keeps a server of our own from compacting by itself: that would remove what is measured, and take time. */
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

/** Throws unless all is there, and a sample is what was written. @param {Store} store */
export async function checkStored (store, count, written) {
  const { doc_count: stored } = await store.info()
  if (stored !== count) throw new Error(`${store.url}: ${stored} documents, ${count} were written`)
  const size = Math.min(SAMPLE, written.length)
  const chosen = Array.from({ length: size }, (_, at) => written[Math.floor(at * written.length / size)])
  const found = await store.couch.docs(chosen.map(({ id }) => id), { attachments: true })
  for (const [at, { id, doc: wanted }] of chosen.entries()) {
    if (!isDeepStrictEqual(bare(found[at].doc), bare(wanted))) {
      throw new Error(`${store.url}: ${id} is not what was written`)
    }
  }
}

/** Without what the server and the loader (`run`) add; attachments as base64. */
function bare (doc) {
  if (!doc) return doc
  const { _id, _rev, _revisions, run, _attachments: attachments, ...fields } = doc
  return { ...fields, tile: attachments && Buffer.from(attachments.tile.data, 'base64').toString('base64') }
}

/** Bytes of the file as it was written, and after compaction. @param {Store} store @param {any} options */
export async function sizes (store, { signal }) {
  const { before, after } = await compact(store, { when: 'always', limits: { poll: POLL }, signal })
  return { written: before.file, compacted: after.file }
}
