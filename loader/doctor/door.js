// Who may read and who may write. The one state that cannot wait is a store that everybody may write to.
import { raceAbort } from '../../core/abort.js'
import { accessOf } from '../access.js'

/** @param {import('./visit.js').Visit} visit */
export const access = visit => visit.once('access', () => raceAbort(accessOf(visit.store), visit.signal))

/** Design documents, with their functions and what is attached, by name alone. @param {import('./visit.js').Visit} visit @returns {Promise<any[]>} */
export const designs = visit => visit.once('designs', async () => {
  const rows = await visit.couch.page({ startkey: '_design/', endkey: '_design0', include_docs: true, limit: visit.limits.layers })
  return rows.map(({ doc }) => doc).filter(Boolean)
})

/** By the code of what `tilecouch access` warns of. */
const WARNED = {
  EVERYBODY_IS_ADMIN: { state: 'bad', why: 'Anybody may do anything here.', advice: 'Give the server an admin ([admins] in its ini file), or keep it on this machine.' },
  EVERYBODY_WRITES: { state: 'bad', why: 'Anybody may replace or delete every tile.', advice: 'tilecouch push' },
  READERS_WRITE: { state: 'warning', why: 'Readers may replace or delete every tile, and write what is none.', advice: 'tilecouch push' },
  OTHER_VALIDATION: { state: 'warning', why: 'What is written may be no tile, and who writes is said elsewhere.', advice: 'tilecouch push' },
  WRITER_SHUT_OUT: { state: 'warning', why: 'Its loads fail.', advice: 'tilecouch access --writers … --writer …' }
}

/** @param {import('./visit.js').Visit} visit */
export async function lookAtDoor (visit) {
  await visit.look('access', 'access', 'a member', async () => {
    const found = await access(visit)
    const { public: isPublic, readers, warnings } = found
    const isNew = !isPublic && !readers.names.length && !readers.roles.length // nobody to write but admins, with or without validation
    const ill = warnings.filter(({ code }) => !(code === 'READERS_WRITE' && isNew) && !(code === 'EVERYBODY_IS_ADMIN' && visit.embedded))
    if (!ill.length) return { state: 'ok', found: describe(found, isNew) }
    return ill.map(({ code, text }) => ({ .../** @type {any} */ (WARNED[code] ?? { state: 'warning' }), found: text }))
  })
}

function describe ({ readers, writers, public: isPublic }, isNew) {
  const named = ({ names, roles }) => [...roles.map(role => `role ${role}`), ...names].join(', ') || 'nobody'
  return `${isPublic ? 'everybody' : isNew ? 'only admins' : named(readers)} may read, ${isNew ? 'only admins' : `admins and ${named(writers)}`} may write`
}
