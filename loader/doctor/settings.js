// The settings of the server, as one of its admins sees them. Of all that it tells, only what is named here is looked at.
import { letsRun } from '../couchapp/policy.js'
import { plural } from '../cli/output.js'
import { settings } from './settings-table.js'
import { access } from './door.js'

const MOST_NODES = 12

/** @param {import('./visit.js').Visit} visit */
export async function lookAtSettings (visit) {
  if (visit.embedded || visit.version === undefined) return
  await visit.look('settings', 'settings', 'a server admin', async () => {
    const nodes = await configs(visit)
    const about = { db: visit.couch.db, isPublic: await access(visit).then(({ public: open }) => open, () => undefined), nodes: nodes.length, shards: (await visit.info()).cluster?.q ?? 1 }
    const found = settings.map(setting => ({ setting, judged: nodes.map(node => judge(setting, node, about)).filter(one => one !== undefined) })).filter(({ judged }) => judged.length)
    for (const { setting: { key }, judged } of found) {
      const [{ state, value, why, wanted }] = judged
      const where = nodes.length > 1 ? ` at ${judged.map(({ node }) => node).join(', ')}` : ''
      visit.add('settings', key, { state, found: `${value}${where}`, why, advice: wanted === undefined ? `Remove ${key} from the ini files.` : `${key} = ${wanted}` })
    }
    ignored(visit, nodes)
    browsers(visit, nodes[0].config)
    return { state: 'ok', found: `${plural(settings.length - found.length, 'setting')} as they should be`, figures: { settings: settings.length, wrong: found.length } }
  })
}

/** Each node has its own. */
async function configs (visit) {
  const { cluster_nodes: names } = await visit.membership()
  const asked = names.length > 1 ? names.slice(0, MOST_NODES) : ['_local']
  return Promise.all(asked.map(async node => ({ node, config: await visit.ask({ path: `_node/${node}/_config`, server: true }) })))
}

const valueOf = (config, key) => {
  const at = key.indexOf('/')
  return config[key.slice(0, at)]?.[key.slice(at + 1)]
}

/** @param {import('./settings-table.js').Setting} setting @param {{node: string, config: any}} where @param {any} about */
function judge ({ key, unless, judge: look }, { node, config }, about) {
  const value = valueOf(config, key) ?? unless
  const judged = value === undefined ? undefined : look(value.trim(), about)
  return judged && { node, value, ...judged }
}

const PASSED_OVER = {
  'ken.ignore': 'Their indexes are built when they are asked only: readers wait.',
  'smoosh.ignore': 'They are never compacted by themselves.'
}
const SHARD = /^shards\/[\da-f]{8}-[\da-f]{8}\/(.+)\.\d+$/

/** What the server does not do for a store by itself. Both lists hold files, not databases. */
function ignored (visit, nodes) {
  const { db } = visit.couch
  for (const [section, why] of Object.entries(PASSED_OVER)) {
    const listed = nodes.flatMap(({ config }) => Object.entries(config[section] ?? {}))
    const shards = [...new Set(listed.filter(([key, value]) => value === 'true' && SHARD.exec(key)?.[1] === db).map(([key]) => key))]
    if (!shards.length) continue
    visit.add('settings', section, { state: 'warning', found: plural(shards.length, 'shard'), why, advice: `Remove from ${section}: ${shards.join(', ')}.` })
  }
}

/** What pages in browsers may do: with the session of who looks at them, and with what is open to everybody. */
function browsers (visit, config) {
  const { csp = {}, cors = {}, chttpd = {} } = config
  const lets = csp.attachments_enable === 'false' ? 'anything' : letsRun(csp.attachments_header_value ?? 'sandbox')
  const anyone = chttpd.enable_cors === 'true' && (cors.origins ?? '').split(',').some(origin => origin.trim() === '*')
  if (lets === 'anything') {
    visit.add('settings', 'csp/attachments_header_value', {
      state: 'bad', found: csp.attachments_enable === 'false' ? 'no policy' : csp.attachments_header_value,
      why: 'A page that somebody attached in any database of this server runs with the session of who opens it.',
      advice: 'tilecouch setup --fix --allow-viewer, or csp/attachments_header_value = sandbox and the viewer of `tilecouch serve`'
    })
  }
  if (anyone && cors.credentials === 'true') {
    visit.add('settings', 'cors/credentials', { state: 'warning', found: 'true, and cors/origins *', why: 'Pages of every origin would read as who looks at them.', advice: 'cors/credentials = false, or cors/origins as a list' })
  }
  visit.add('settings', 'browsers', { state: 'ok', found: `${lets === 'nothing' ? 'the viewer is for a gateway to serve' : 'the viewer runs'}; pages of ${chttpd.enable_cors !== 'true' || !cors.origins ? 'no other origin' : anyone ? 'every origin' : cors.origins} read` })
}
