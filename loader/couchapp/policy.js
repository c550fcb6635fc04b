// Writes the Content-Security-Policy under which browsers run the viewer, and reads what other policies allow.
import { ADMIN, VIEWER, ownDesigns } from './compose.js'

/**
 * @typedef {object} Origins other origins that the viewer reads from
 * @property {string[]} images of a base map
 * @property {string[]} requests of a search for places
 */

/** @type {Origins} */
export const NO_ORIGINS = { images: [], requests: [] }

/** The directives that both policies share. @param {string[]} [images] origins */
const commonPart = (images = []) => `img-src ${["'self'", 'data:', 'blob:', ...images].join(' ')}; ` +
  "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'"

const WORKERS = 'blob:' // workers whose code is part of a script that may run; and the service worker

/** Which pages may show the viewer in a frame. @param {string[]} embed origins besides its own, or `*` for all */
const framedBy = embed => `frame-ancestors ${embed.includes('*') ? '*' : ["'self'", ...embed].join(' ')}`

/**
 * For a gateway, whose only page is the viewer: only its own scripts, styles and tiles work.
 * @param {string[]} [embed] origins whose pages may show it in a frame, or `*` for all
 * @param {Origins} [origins] that the operator names
 */
export function viewerPolicy (embed = [], { images, requests } = NO_ORIGINS) {
  const connectSources = requests.length ? `connect-src 'self' ${requests.join(' ')}; ` : ''
  return `default-src 'self'; ${commonPart(images)}; ${connectSources}worker-src 'self' ${WORKERS}; ${framedBy(embed)}`
}

/** The policy of a gateway that names no other origins, also for frames. */
export const VIEWER_CSP = viewerPolicy()

/**
 * Whether a policy is one for gateways, which early versions of tilecouch also set at a CouchDB.
 * @param {string} policy
 */
export function isViewerPolicy (policy) {
  const start = `default-src 'self'; ${commonPart()}; `
  return policy.startsWith(start) && /^(worker-src [^;]*; )?frame-ancestors [^;]*$/.test(policy.slice(start.length))
}

/**
 * For CouchDB, which sends one policy with the attachments of all databases. It allows only the scripts of the viewer,
 * by their digests: a page attached to another database can run the viewer's code, but none of its own. A service
 * worker has no digest, so it is allowed by its path in each store, where only an admin can put one. A page in another
 * database that runs the viewer's code would register the worker beside it.
 * @param {object} [options]
 * @param {string[]} [options.embed] origins whose pages may show the viewer in a frame, or `*` for all
 * @param {string[]} [options.stores] paths of the databases of the server that have the viewer
 * @param {Origins} [options.origins] that their operators name
 */
export async function couchPolicy ({ embed = [], stores = [], origins: { images, requests } = NO_ORIGINS } = {}) {
  const workers = stores.map(path => `*:*${path}${WORKER}`) // whatever the server is called
  return `default-src 'none'; script-src ${(await readDigests()).join(' ')}; ` +
    `connect-src ${["'self'", ...requests].join(' ')}; worker-src ${[...workers, WORKERS].join(' ')}; ` +
    `manifest-src 'self'; ${commonPart(images)}; ${framedBy(embed)}`
}

const WORKER = `/_design/${VIEWER}/_rewrite/sw.js` // below a database

/** The stores of a server whose service workers a policy allows. @param {string} policy @returns {string[]} paths */
export function storesIn (policy) {
  return sourcesIn(policy, 'worker-src').filter(source => source.startsWith('*:*/') && source.endsWith(WORKER))
    .map(source => source.slice(3, -WORKER.length))
}

/** The sources that a directive of a policy lists. @param {string} policy @param {string} directive */
function sourcesIn (policy, directive) {
  const [, sources = ''] = new RegExp(`(?:^|;)\\s*${directive}\\s+([^;]*)`, 'i').exec(policy) ?? []
  return sources.trim().split(/\s+/)
}

async function readDigests () {
  const design = (await ownDesigns()).find(({ _id }) => _id === `_design/${VIEWER}`)
  const textOf = name => Buffer.from(design?._attachments?.[name].data ?? '', 'base64').toString()
  const pages = ['index.html', ADMIN].map(textOf)
  return pages.flatMap(page => [...page.matchAll(/ integrity="([^"]+)"/g)].map(([, digest]) => `'${digest}'`))
}

/**
 * @typedef {'nothing' | 'digests' | 'anything'} Lets which scripts of attachments run in the origin of the server,
 * with the session of the visitor. digests: those named by their digest; anything: those of all who may attach a page
 */

/** @param {string | null} policy null: none is sent @returns {Lets} */
export function letsRun (policy) {
  // of several directives with one name, the first one counts
  const parts = (policy ?? '').toLowerCase().split(';').map(text => text.trim().split(/\s+/)).reverse()
  const directives = new Map(parts.map(([name, ...values]) => [name, values]))
  const sandbox = directives.get('sandbox')
  if (sandbox && !(sandbox.includes('allow-scripts') && sandbox.includes('allow-same-origin'))) return 'nothing'
  const scripts = directives.get('script-src') ?? directives.get('default-src')
  const kinds = ['script-src-elem', 'script-src-attr'].map(name => sourcesLet(directives.get(name) ?? scripts))
  return /** @type {const} */ (['anything', 'digests', 'nothing']).find(kind => kinds.includes(kind)) ?? 'anything'
}

/** @returns {Lets} */
function sourcesLet (sources) {
  if (!sources?.every(source => /^'(none|sha\d{3}-.*)'$/.test(source))) return 'anything'
  return sources.some(source => source !== "'none'") ? 'digests' : 'nothing'
}

const ORIGIN = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/

/** Whether a text is an origin as browsers write it: https://maps.example.org, or with a port. @param {string} text */
export const isOrigin = text => ORIGIN.test(text) && URL.canParse(text) && new URL(text).origin === text

/**
 * The other origins whose pages a policy lets show the viewer in a frame; `*` for all.
 * @param {string} policy @returns {string[]}
 */
export const embedders = policy =>
  sourcesIn(policy, 'frame-ancestors').filter(source => source === '*' || isOrigin(source))

/** The other origins that a policy lets the viewer read from. @param {string} policy @returns {Origins} */
export const originsIn = policy => ({
  images: sourcesIn(policy, 'img-src').filter(isOrigin),
  requests: sourcesIn(policy, 'connect-src').filter(isOrigin)
})

const SUBDOMAINS = ['a', 'b', 'c'] // that Leaflet puts in the place of {s}

/**
 * The origins that the settings of the operator let the viewer read from. Only origins get into a policy, no other
 * text of a document.
 * @param {import('../../core/settings.js').Settings} settings @returns {Origins}
 */
export function originsOf ({ base, gazetteer }) {
  const template = typeof base === 'object' ? base.url : ''
  return {
    images: originsAmong(SUBDOMAINS.map(letter => template.replaceAll('{s}', letter))),
    requests: originsAmong([gazetteer ?? ''])
  }
}

/** @param {string[]} addresses paths within the origin of the page are left out */
const originsAmong = addresses =>
  [...new Set(addresses.filter(text => URL.canParse(text)).map(text => new URL(text).origin))].filter(isOrigin).sort()

/**
 * Whether two policies differ only in their digests, workers and the origins that are read, as those of two versions of
 * tilecouch or of two operators do.
 * @param {string} policy @param {string} other
 */
export const differsInLists = (policy, other) => policy !== other && withoutLists(policy) === withoutLists(other)

const withoutLists = policy => policy.replace(/ 'sha\d{3}-[^']*'/g, '').replace(/ worker-src [^;]*;/, '')
  .replace(/(?<=(?:img|connect)-src [^;]*) https?:\/\/[^\s;]+/g, '')

/** Whether the viewer of this tilecouch runs under a policy. @param {string | null} policy from a server */
export async function runsViewer (policy) {
  const kind = letsRun(policy)
  return kind === 'anything' || (kind === 'digests' && (await readDigests()).every(digest => policy?.includes(digest)))
}
