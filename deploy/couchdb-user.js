// The user of CouchDB as which the gateway of compose.yaml reads the store and keeps what upstreams answer: made once,
// and given the password and role of today whenever the services start. COUCHDB_URL, COUCHDB_USER and COUCHDB_PASSWORD
// are an admin's.
import { setTimeout as sleep } from 'node:timers/promises'
import { Couch } from '../loader/store/couch.js'

const PAUSE = 1500 // milliseconds; after five wrong passwords at once CouchDB lets a name in no more for a while
const { COUCHDB_URL = '', GATEWAY_USER: name = '', GATEWAY_PASSWORD: password = '', GATEWAY_ROLE: role } = process.env
if (!name || !password || name === process.env.COUCHDB_USER) {
  throw new Error('GATEWAY_USER and GATEWAY_PASSWORD name the user, who is not the admin')
}
const roles = role ? [role] : []

const admin = new Couch(COUCHDB_URL)
const credentials = { username: encodeURIComponent(name), password: encodeURIComponent(password) }
const user = new Couch(Object.assign(new URL(COUCHDB_URL), credentials).href)

/** Whether CouchDB knows him so. */
async function isThere () {
  const session = await user.request({ path: '_session', server: true }).catch(() => undefined)
  return String(session?.userCtx.roles) === String(roles)
}

if (!await isThere()) {
  const path = `_users/${encodeURIComponent(`org.couchdb.user:${name}`)}`
  const stored = await admin.find({ path, server: true })
  await admin.request({ method: 'PUT', path, server: true, body: { ...stored, name, password, roles, type: 'user' } })
  // a changed password is known a moment later
  for (let left = 20; !await isThere(); left--) {
    if (!left) throw new Error(`CouchDB does not let ${name} in with the new password`)
    await sleep(PAUSE)
  }
}
console.log(`${name} is a user of this CouchDB${role ? `, with the role ${role}` : ', and reads alone'}.`)
