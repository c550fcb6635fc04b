// Who may read and who may write. The one state that cannot wait is a store that everybody may write to.
import { WRITER_ROLE } from '../store/index.js'

/** @param {import('./visit.js').Visit} visit */
const security = visit => visit.once('security', () => visit.ask({ path: '_security' }))

/** Design documents, with their functions and what is attached, by name alone. @param {import('./visit.js').Visit} visit @returns {Promise<any[]>} */
export const designs = visit => visit.once('designs', async () => {
  const { rows } = await visit.ask({ path: '_all_docs', qs: { startkey: '_design/', endkey: '_design0', include_docs: true, limit: visit.limits.layers } })
  return rows.map(({ doc }) => doc).filter(Boolean)
})

/** @param {import('./visit.js').Visit} visit @returns {Promise<'public' | 'members' | 'admins'>} */
export async function openness (visit) {
  const { members = {} } = await security(visit)
  const [names, roles] = [members.names ?? [], members.roles ?? []]
  if (!names.length && !roles.length) return 'public'
  return !names.length && roles.every(role => role === '_admin') ? 'admins' : 'members'
}

const HOW = { public: 'everybody reads', members: 'members read', admins: 'only admins read' }

/** @param {import('./visit.js').Visit} visit */
export async function lookAtDoor (visit) {
  await visit.look('database', 'who reads', 'a member', async () => {
    const open = await openness(visit)
    const { members = {}, admins = {} } = await security(visit)
    const listed = ({ names = [], roles = [] }) => [...names, ...roles.filter(role => role !== '_admin').map(role => `role ${role}`)]
    const said = listed(admins)
    return { state: 'ok', found: `${HOW[open]}${open === 'members' ? ` (${listed(members).join(', ')})` : ''}${said.length ? `; admins: ${said.join(', ')}` : ''}` }
  })
  await visit.look('database', 'who writes', 'a member', async () => {
    const open = await openness(visit)
    const guards = (await designs(visit)).filter(doc => doc.validate_doc_update)
    if (guards.some(({ _id: id }) => id === '_design/tiles')) return { state: 'ok', found: `admins and the role ${WRITER_ROLE}` }
    if (open === 'admins') return { state: 'ok', found: 'only admins, there is no validation function yet' }
    const who = open === 'public' ? 'everybody' : 'every member'
    return {
      state: open === 'public' ? 'bad' : 'warning',
      found: guards.length ? `whom ${guards.map(({ _id: id }) => id).join(', ')} lets, not our own validation function` : `${who}: there is no validation function`,
      why: open === 'public' ? 'Anybody may replace or delete every tile.' : 'Members may replace or delete every tile, and write what is none.',
      advice: 'tilecouch push'
    }
  })
}
