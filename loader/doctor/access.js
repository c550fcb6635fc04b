// Who may read and write. A store that everybody may write is the worst of all findings.
import { raceAbort } from '../../core/abort.js'
import { accessOf, isUntouched } from '../access.js'
import { isPublished, publish } from '../publish.js'
import { Store } from '../store/index.js'

/** @typedef {import('./inspection.js').Inspection} Inspection @typedef {import('./inspection.js').Found} Found */

/** @type {import('./inspection.js').Condition[]} */
export const accessConditions = [
  { area: 'access', check: 'access', needs: 'a member', fixable: true, look: rights },
  { area: 'access', check: 'published', needs: 'a member', fixable: true, look: published }
]

/** @param {Inspection} inspection */
export const accessRights = inspection => inspection.once('access', () => raceAbort(accessOf(inspection.store), inspection.signal))

/** By the codes of the warnings of `tilecouch access`. */
const WARNINGS = {
  EVERYBODY_IS_ADMIN: { state: 'bad', why: 'Everybody may do everything here.', advice: 'Give the server an admin ([admins] in its ini file), or let it listen on this machine only.' },
  EVERYBODY_WRITES: { state: 'bad', why: 'Everybody may replace or delete every tile.', advice: 'tilecouch push' },
  READERS_WRITE: { state: 'warning', why: 'Readers may replace or delete every tile, and write invalid documents.', advice: 'tilecouch push' },
  OTHER_VALIDATION: { state: 'warning', why: 'Invalid documents may be written, and other rules say who may write.', advice: 'tilecouch push' },
  WRITER_SHUT_OUT: { state: 'warning', why: 'Its loads fail.', advice: 'tilecouch access --writers … --writer …' }
}

/** @param {Inspection} inspection @returns {Promise<Found | Found[]>} */
async function rights (inspection) {
  const access = await accessRights(inspection)
  const { public: isPublic, readers, warnings } = access
  const isNew = !isPublic && !readers.names.length && !readers.roles.length // only admins get in, and may write anyway
  const wrong = warnings.filter(({ code }) => !(code === 'READERS_WRITE' && isNew) && !(code === 'EVERYBODY_IS_ADMIN' && inspection.embedded))
  if (!wrong.length) return { state: 'ok', found: describe(access, isNew) }
  return wrong.map(({ code, text }) => ({
    .../** @type {any} */ (WARNINGS[code] ?? { state: 'warning' }),
    found: text,
    ...(WARNINGS[code]?.advice === 'tilecouch push' && { fix: () => publishStore(inspection) })
  }))
}

/** @param {Inspection} inspection @returns {Promise<Found | void>} nothing when it is, or was closed on purpose */
async function published (inspection) {
  if (!isUntouched(await inspection.store.security()) || await isPublished(inspection.store)) return
  return {
    state: 'warning', found: 'the store was never published', why: 'Only admins see the tiles.',
    advice: 'tilecouch push, or tilecouch access --private to keep it closed', fix: () => publishStore(inspection)
  }
}

/** @param {Inspection} inspection */
const publishStore = async ({ subject: { url, docs } }) => publish(await Store.open(url), { docs })

function describe ({ readers, writers, public: isPublic }, isNew) {
  const named = ({ names, roles }) => [...roles.map(role => `role ${role}`), ...names].join(', ') || 'nobody'
  const read = isPublic ? 'everybody' : isNew ? 'only admins' : named(readers)
  return `${read} may read, ${isNew ? 'only admins' : `admins and ${named(writers)}`} may write`
}
