// The Content-Security-Policy under which browsers run the viewer, and what other policies allow.
import { VIEWER, ownDesigns } from './compose.js'

const REST = "img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'self'"

/** For a gateway, whose only page is the viewer: only its own scripts, styles and tiles work. */
export const VIEWER_CSP = `default-src 'self'; ${REST}`

/**
 * For CouchDB, which sends one policy with the attachments of all databases. It allows only the scripts of the viewer,
 * by their digests: a page that somebody attached elsewhere can run the viewer's code, but none of its own. A service
 * worker has no digest, so it is allowed by its path in each store, where only an admin can put one. A page elsewhere
 * that runs the viewer's code would register the worker that lies beside it.
 * @param {{stores?: string[]}} [options] stores: paths of the databases of the server that have the viewer
 */
export async function couchPolicy ({ stores = [] } = {}) {
  const workers = stores.map(path => `*:*${path}${WORKER}`) // whatever the server is called
  return `default-src 'none'; script-src ${(await digests()).join(' ')}; connect-src 'self'; ` +
    `worker-src ${workers.join(' ') || "'none'"}; manifest-src 'self'; ${REST}`
}

const WORKER = `/_design/${VIEWER}/_rewrite/sw.js` // below a database

/** The stores of a server whose service workers a policy allows. @param {string} policy @returns {string[]} paths */
export function storesIn (policy) {
  const [, sources = ''] = /(?:^|;)\s*worker-src\s+([^;]*)/i.exec(policy) ?? []
  return sources.trim().split(/\s+/).filter(source => source.startsWith('*:*/') && source.endsWith(WORKER))
    .map(source => source.slice(3, -WORKER.length))
}

async function digests () {
  const design = (await ownDesigns()).find(({ _id }) => _id === `_design/${VIEWER}`)
  const page = Buffer.from(design?._attachments?.['index.html'].data ?? '', 'base64').toString()
  return [...page.matchAll(/ integrity="([^"]+)"/g)].map(([, digest]) => `'${digest}'`)
}

/**
 * @typedef {'nothing' | 'digests' | 'anything'} Lets which scripts of attachments run in the origin of the server,
 * with the session of the visitor: none; those named by their digest; those of everybody who may attach a page
 */

/** @param {string | null} policy null: none is sent @returns {Lets} */
export function letsRun (policy) {
  const parts = (policy ?? '').toLowerCase().split(';').map(text => text.trim().split(/\s+/)).reverse() // the first one counts
  const directives = new Map(parts.map(([name, ...values]) => [name, values]))
  const sandbox = directives.get('sandbox')
  if (sandbox && !(sandbox.includes('allow-scripts') && sandbox.includes('allow-same-origin'))) return 'nothing'
  const scripts = directives.get('script-src') ?? directives.get('default-src')
  const lets = ['script-src-elem', 'script-src-attr'].map(name => sourcesLet(directives.get(name) ?? scripts))
  return /** @type {const} */ (['anything', 'digests', 'nothing']).find(each => lets.includes(each)) ?? 'anything'
}

/** @returns {Lets} */
function sourcesLet (sources) {
  if (!sources?.every(source => /^'(none|sha\d{3}-.*)'$/.test(source))) return 'anything'
  return sources.some(source => source !== "'none'") ? 'digests' : 'nothing'
}

/**
 * Whether two policies differ only in their digests and workers, as those of two versions of tilecouch do.
 * @param {string} one @param {string} other
 */
export const differsInDigests = (one, other) => one !== other && withoutDigests(one) === withoutDigests(other)

const withoutDigests = policy => policy.replace(/ 'sha\d{3}-[^']*'/g, '').replace(/ worker-src [^;]*;/, '')

/** Whether the viewer of this tilecouch runs under a policy. @param {string | null} policy from a server */
export async function runsViewer (policy) {
  const lets = letsRun(policy)
  return lets === 'anything' || (lets === 'digests' && (await digests()).every(digest => policy?.includes(digest)))
}
