// Checks the server: the known faults of its version, its nodes and its system databases.
import { ignoring } from '../../../core/promises.js'
import { TilecouchError } from '../../errors.js'
import { Couch } from '../../store/couch.js'
import { plural } from '../../text.js'
import { bad, ok, unknown, warning } from './inspection.js'

export const serverConditions = [
  { area: 'server', check: 'version', needs: 'anybody', server: true, look: checkVersion },
  { area: 'server', check: 'nodes', needs: 'a server admin', server: true, couchOnly: true, look: checkNodes },
  { area: 'server', check: '_up', needs: 'anybody', server: true, couchOnly: true, look: checkMaintenance },
  ...['_users', '_replicator'].map(name => ({
    area: 'server', check: `database ${name}`, needs: 'a server admin', server: true, couchOnly: true, fixable: true,
    look: inspection => checkSystemDatabase(inspection, name)
  }))
]

/**
 * Faults of CouchDB versions that concern tiles: attachments, compaction, replication, purging, design functions. From
 * the release notes of 3.3 to 3.5, with the number of the issue there.
 * @type {{fixed: string, issue: string, what: string, only?: 'purged' | 'quickjs'}[]}
 */
export const faults = [
  { fixed: '3.3.1', issue: '#4353', what: 'no more than one replication is started' },
  { fixed: '3.3.2', issue: 'CVE-2023-26268', what: 'design functions of one database may see data that those of ' +
    'another left' },
  { fixed: '3.3.3', issue: 'CVE-2023-45725', what: 'design functions see the headers with which admins log in' },
  { fixed: '3.3.3', issue: '#4679', what: 'the replicator sometimes loses an attachment' },
  { fixed: '3.3.3', issue: '#4821', what: 'the compaction of a busy index fails at its end and starts again' },
  { fixed: '3.3.3', issue: '#4626', what: 'splitting a shard applies purges to the wrong shards', only: 'purged' },
  { fixed: '3.4.3', issue: '#5347', what: 'attachments are counted wrongly, so that shards are compacted too late' },
  { fixed: '3.4.3', issue: '#5437', what: 'the replicator copies the bytes of a tile again whenever its document ' +
    'changes' },
  { fixed: '3.4.3', issue: '#5440', what: 'purges beyond purged_infos_limit are listed wrongly', only: 'purged' },
  { fixed: '3.5.2', issue: '#5827, #5912', what: 'indexes may lose their position among purges and are ' +
    'built again', only: 'purged' },
  { fixed: '3.5.2', issue: '#5751', what: 'QuickJS leaks memory and may crash', only: 'quickjs' }
]

/**
 * Identifies the server, before every other check.
 * @param {import('./inspection.js').Inspection} inspection
 * @returns {Promise<string>} its name and version
 */
export async function identify (inspection) {
  // a gateway answers with a page
  const answer = await inspection.couch.find({ server: true }).catch(ignoring('BAD_ANSWER'))
  if (!answer?.couchdb) return 'a server that does not say what it is'
  if (typeof answer.version !== 'string') {
    throw new TilecouchError('BAD_ANSWER', { url: inspection.couch.serverUrl, why: 'it has no version' })
  }
  inspection.embedded = /embedded/i.test(answer.vendor?.name ?? '')
  inspection.version = answer.version
  inspection.uuid = answer.uuid
  return inspection.embedded ? `embedded CouchDB (PouchDB) ${answer.version}` : `CouchDB ${answer.version}`
}

async function checkVersion (inspection) {
  const { version: running, embedded } = inspection
  if (running === undefined) {
    return unknown('the server does not say that it is CouchDB', 'Name the database itself, not a gateway.')
  }
  if (embedded) return ok(running)
  const [major, minor] = numbersOf(running)
  if (major !== 3 || minor < 3) {
    return bad(running, 'Other versions are not tested; CouchDB 4 has no rewrites, lists and shows.',
      'Use CouchDB 3.3 to 3.5.')
  }
  const { purge_seq: purges } = await inspection.info().catch(() => ({ purge_seq: 0 }))
  // only admins may see which JavaScript engine runs
  const engine = await inspection.couch.request({ path: '_node/_local/_versions', server: true })
    .then(answer => answer?.javascript_engine?.name, () => undefined)
  const purged = Number.parseInt(String(purges), 10) > 0
  const knownFaults = faultsOf(running, { purged, quickjs: engine === 'quickjs' })
  if (!knownFaults.length) return ok(running)
  const concern = knownFaults.length === 1 ? 'concerns' : 'concern'
  return warning(`${running} has ${plural(knownFaults.length, 'known fault')} that ${concern} tiles`,
    knownFaults.map(({ what, issue }) => `${what} (${issue})`).join('; '),
    `Upgrade to CouchDB ${knownFaults.map(({ fixed }) => fixed).sort().at(-1)} or later.`,
    { figures: { faults: knownFaults.length } })
}

const numbersOf = text => (/^(\d+)\.(\d+)(?:\.(\d+))?/.exec(text) ?? []).slice(1).map(part => +(part ?? 0))

/** @param {string} version @param {string} reference */
export function isBefore (version, reference) {
  const [left, right] = [numbersOf(version), numbersOf(reference)]
  if (!left.length) return false
  const difference = left.findIndex((part, index) => part !== right[index])
  return difference >= 0 && left[difference] < right[difference]
}

/** @param {string} running version @param {Partial<Record<'purged' | 'quickjs', boolean>>} server its properties */
export const faultsOf = (running, server) =>
  faults.filter(({ fixed, only }) => isBefore(running, fixed) && (!only || server[only]))

async function checkNodes (inspection) {
  const { all_nodes: reachedNodes, cluster_nodes: clusterNodes } = await inspection.membership()
  const away = clusterNodes.filter(node => !reachedNodes.includes(node))
  const figures = { nodes: clusterNodes.length, away: away.length }
  if (!away.length) return ok(plural(clusterNodes.length, 'node'), figures)
  return bad(`${away.join(', ')} of ${plural(clusterNodes.length, 'node')} ${away.length === 1 ? 'is' : 'are'} away`,
    'Data that only these nodes have can be neither read nor written.',
    'Start them again, or remove them from _nodes.', { figures })
}

async function checkMaintenance (inspection) {
  const answer = await inspection.couch.find({ path: '_up', server: true })
  if (answer?.status === 'ok') return ok('ok')
  const status = answer?.status ?? 'not found'
  return bad(status, 'Load balancers send no requests there.', 'couchdb/maintenance_mode = false')
}

/** Reports nothing if the database exists. */
async function checkSystemDatabase ({ couch, subject }, name) {
  const info = await couch.find({ path: name, server: true }).catch(error => {
    if (error.code === 'DATABASE_NOT_FOUND') return undefined
    if (['FORBIDDEN', 'UNAUTHORIZED'].includes(error.code)) return true
    throw error
  })
  if (info) return
  return warning('does not exist', 'Users and replication need it.', 'tilecouch doctor --fix', {
    fix: () => new Couch(subject.url, { retries: 2 }).request({ method: 'PUT', path: name, server: true })
  })
}
