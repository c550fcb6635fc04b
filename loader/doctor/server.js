// The server itself: what it is, and whether all of it is there.
import { TilecouchError } from '../../core/index.js'
import { versionFinding } from '../setup.js'
import { plural } from '../cli/output.js'
import { faultsOf } from './faults.js'

/** Who answers, before anything else is asked. @param {import('./visit.js').Visit} visit @returns {Promise<string>} in words */
export async function welcome (visit) {
  const answer = await visit.couch.find({ server: true }).catch(error => {
    if (error.code === 'BAD_ANSWER') return undefined // a gateway shows a page there
    throw error
  })
  if (!answer?.couchdb) return 'a server that does not say what it is'
  if (typeof answer.version !== 'string') throw new TilecouchError('BAD_ANSWER', { url: visit.couch.serverUrl, why: 'it has no version' })
  visit.embedded = /embedded/i.test(answer.vendor?.name ?? '')
  visit.version = answer.version
  visit.uuid = answer.uuid
  return visit.embedded ? `embedded CouchDB (PouchDB) ${answer.version}` : `CouchDB ${answer.version}`
}

/** @param {import('./visit.js').Visit} visit */
export async function lookAtServer (visit) {
  const { version, embedded } = visit
  if (version === undefined) return visit.add('server', 'version', { state: 'unknown', found: 'the server does not say that it is CouchDB', advice: 'Name the database itself, not a gateway.' })
  const { state, wanted, note } = versionFinding(version, embedded)
  if (state !== 'ok') visit.add('server', 'version', { state: 'bad', found: version, why: note, advice: `Use CouchDB ${wanted}.` })
  if (embedded) return visit.add('server', 'version', { state: 'ok', found: version })
  await Promise.all([
    state === 'ok' && lookAtFaults(visit, version),
    visit.look('server', 'nodes', 'a server admin', () => nodes(visit)),
    visit.look('server', '_up', 'nobody', () => maintenance(visit))
  ])
}

async function lookAtFaults (visit, version) {
  const { purge_seq: purges } = await visit.info()
  // which engine runs is for admins; what is not known is not said
  const engine = await visit.ask({ path: '_node/_local/_versions', server: true }).then(answer => answer?.javascript_engine?.name, () => undefined)
  const known = faultsOf(version, { purged: Number.parseInt(String(purges), 10) > 0, quickjs: engine === 'quickjs' })
  if (!known.length) return visit.add('server', 'version', { state: 'ok', found: version })
  const best = known.map(({ fixed }) => fixed).sort().at(-1)
  visit.add('server', 'version', {
    state: 'warning',
    found: `${version} has ${plural(known.length, 'known fault')} that ${known.length === 1 ? 'touches' : 'touch'} tiles`,
    why: known.map(({ what, issue }) => `${what} (${issue})`).join('; '),
    advice: `Upgrade to CouchDB ${best} or later.`,
    figures: { faults: known.length }
  })
}

/** @returns {Promise<import('./visit.js').Found>} */
async function nodes (visit) {
  const { all_nodes: reached, cluster_nodes: wanted } = await visit.membership()
  const away = wanted.filter(node => !reached.includes(node))
  return away.length
    ? { state: 'bad', found: `${away.join(', ')} of ${plural(wanted.length, 'node')} ${away.length === 1 ? 'is' : 'are'} away`, why: 'What stands there alone is neither read nor written.', advice: 'Start it again, or take it out of _nodes.', figures: { nodes: wanted.length, away: away.length } }
    : { state: 'ok', found: plural(wanted.length, 'node'), figures: { nodes: wanted.length, away: 0 } }
}

/** @returns {Promise<import('./visit.js').Found>} */
async function maintenance (visit) {
  const answer = await visit.couch.find({ path: '_up', server: true })
  return answer?.status === 'ok' ? { state: 'ok', found: 'ok' } : { state: 'bad', found: `${answer?.status ?? 'not found'}`, why: 'A load balancer sends nobody there.', advice: 'couchdb/maintenance_mode = false' }
}
