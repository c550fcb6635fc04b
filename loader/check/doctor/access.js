// Checks who may read and write a store. The worst of all findings is a store to which everybody may write.
import { raceAbort } from '../../../core/promises.js'
import { accessOf, isUntouched } from '../../store/access.js'
import { isPublished, publish } from '../../couchapp/publish.js'
import { Store } from '../../store/index.js'
import { bad, ok, warning } from './inspection.js'

export const accessConditions = [
  { area: 'access', check: 'access', needs: 'a member', fixable: true, look: checkRights },
  { area: 'access', check: 'published', needs: 'a member', fixable: true, look: checkPublished }
]

/** @returns {Promise<import('../../store/access.js').Access>} */
export const accessRights = inspection =>
  inspection.once('access', () => raceAbort(accessOf(inspection.store), inspection.signal))

const PUSH = 'tilecouch push'

/**
 * Problem, reason and advice, by the code of the warning of `tilecouch access`.
 * @type {Record<string, [import('./inspection.js').Problem, string, string]>}
 */
const WARNINGS = {
  EVERYBODY_IS_ADMIN: [bad, 'Everybody may do everything here.',
    'Give the server an admin ([admins] in its ini file), or let it listen on this machine only.'],
  EVERYBODY_WRITES: [bad, 'Everybody may replace or delete every tile.', PUSH],
  READERS_WRITE: [warning, 'Readers may replace or delete every tile, and write invalid documents.', PUSH],
  OTHER_VALIDATION: [warning, 'Invalid documents may be written, and other rules say who may write.', PUSH],
  WRITER_SHUT_OUT: [warning, 'Its loads fail.', 'tilecouch access --writers … --writer …']
}

async function checkRights (inspection) {
  const access = await accessRights(inspection)
  const { public: isPublic, readers, warnings } = access
  const isNew = !isPublic && !readers.names.length && !readers.roles.length // only admins get in, and may write anyway
  const relevantWarnings = warnings.filter(({ code }) =>
    !(code === 'READERS_WRITE' && isNew) && !(code === 'EVERYBODY_IS_ADMIN' && inspection.embedded))
  if (!relevantWarnings.length) return ok(accessWords(access, isNew))
  return relevantWarnings.map(({ code, text }) => {
    const [problem, why, advice] = WARNINGS[code]
    return problem(text, why, advice, advice === PUSH ? { fix: () => publishStore(inspection) } : {})
  })
}

/** Reports nothing if the store was published, or closed on purpose. */
async function checkPublished (inspection) {
  if (await inspection.isNew()) return
  if (!isUntouched(await inspection.store.security()) || await isPublished(inspection.store)) return
  return warning('the store was never published', 'Only admins see the tiles.',
    `${PUSH}, or tilecouch access --private to keep it closed`, { fix: () => publishStore(inspection) })
}

const publishStore = async ({ subject: { url, docs } }) => publish(await Store.open(url), { docs })

function accessWords ({ readers, writers, public: isPublic }, isNew) {
  const wordsOf = ({ names, roles }) => [...roles.map(role => `role ${role}`), ...names].join(', ') || 'nobody'
  const restrictedReaders = isNew ? 'only admins' : wordsOf(readers)
  const readersText = isPublic ? 'everybody' : restrictedReaders
  return `${readersText} may read, ${isNew ? 'only admins' : `admins and ${wordsOf(writers)}`} may write`
}
