// The design documents without the viewer: what the client library asks of a store, and nothing that has to be bundled
// first.
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { compose, root } from '../../../loader/couchapp/compose.js'
import { warm } from '../../../loader/store/indexes.js'
import { publish } from '../../../loader/index.js'

let composed

async function designs () {
  const folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-designs-'))
  try {
    for (const name of ['_design', 'views', 'core']) {
      await cp(path.join(root, name), path.join(folder, name), { recursive: true })
    }
    return await compose(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @param {import('../../../loader/index.js').Store} store */
export async function furnish (store) {
  await publish(store, { docs: await (composed ??= designs()) })
  await warmIndexes(store)
}

/** Brings the indexes of a furnished store up to date. @param {import('../../../loader/index.js').Store} store */
export async function warmIndexes (store) {
  const docs = await (composed ??= designs())
  for (const { _id, views } of docs) if (views && /versions/.test(_id)) {
    await warm(store.couch, _id, Object.keys(views)[0])
  }
}
