// Steps that tests of several sections of the control room have in common.
import assert from 'node:assert/strict'
import { isRead } from '../support/control-room.js'

const BATCH = 1000 // documents in a request

/** Opens a section as the admin, and waits until it has read its data. @param {'access' | 'work'} section */
export async function enterSection (stage, section) {
  const page = await stage.enter(section)
  await isRead(page, `.${section}`)
  return page
}

/** Reloads a page, which from then on takes its reader for another user. */
export async function becomeUser (page, { name, role }) {
  await page.route('**/_session', async (route, request) => {
    if (request.method() !== 'GET') return route.continue()
    await route.fulfill({ json: { ok: true, userCtx: { name, roles: [role] } } })
  })
  await page.reload()
}

/** Writes documents, and fails if the store refuses one. @param {Iterable<any>} documents */
export async function writeDocuments ({ store }, documents) {
  const list = [...documents]
  for (let start = 0; start < list.length; start += BATCH) {
    const refused = (await store.couch.bulk(list.slice(start, start + BATCH))).filter(({ error }) => error)
    assert.deepEqual(refused.slice(0, 3), [])
  }
}
