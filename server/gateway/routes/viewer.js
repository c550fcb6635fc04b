// Serves the viewer, the page of the layers and the client library, as they are attached to the couchapp. They are
// built from this package once in each process. They fit the version of the gateway, whatever the store contains.
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { isEmbedded } from '../../../core/embed.js'
import { shared } from '../../../core/promises.js'
import { TilecouchError } from '../../../loader/errors.js'
import { adminBundles } from '../../../loader/couchapp/bundle.js'
import { ADMIN, ADMIN_WORDS, LAYERS, ownDesigns, VIEWER } from '../../../loader/couchapp/compose.js'
import { VIEWER_CSP, originsOf, viewerPolicy } from '../../../loader/couchapp/policy.js'
import { pack } from '../../../loader/formats/unpack.js'
import { SMALL, acceptsCoding, sendTagged } from '../../http/answers.js'
import { split } from '../router.js'

const PAGE = 'index.html'
/** The page of the layers: `/layers`. */
const LAYERS_PAGE = LAYERS.replace('.html', '')
const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: 9 } // higher ones take a second at the start and save a hundredth

/** @typedef {{type: string, tag: string, bodies: Record<string, Buffer>}} File bodies: by content coding */

/** All files by name. @type {() => Promise<Map<string, File>>} */
export const loadFiles = shared(load)

async function load () {
  const design = (await ownDesigns()).find(({ _id }) => _id === `_design/${VIEWER}`)
  const attachments = Object.entries(design?._attachments ?? {}).filter(([name]) => !ADMIN_FILES.has(name))
  return new Map(await Promise.all(attachments.map(async ([name, { content_type: type, data }]) => {
    const bytes = Buffer.from(data, 'base64')
    return /** @type {[string, File]} */ ([name, { type, tag: tagOf(bytes), bodies: await codings(bytes, type) }])
  })))
}

async function codings (bytes, type) {
  if (bytes.length < SMALL || !/^text\/|json|svg/.test(type)) return { identity: bytes }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: QUALITY }),
    pack(bytes, { level: 9 })
  ])
  return { br, gzip: gz, identity: bytes }
}

/** The policy of the page, which may read from the origins that the operator of the store names. */
async function pagePolicy ({ options, layers }, url) {
  const embedders = isEmbedded(`?${split(url).search}`) ? options.embed ?? [] : []
  return viewerPolicy(embedders, originsOf(await layers.settings()))
}

const tagOf = content => createHash('sha256').update(content).digest('base64url').slice(0, 22)

/** Files of the control room, which CouchDB serves. */
const ADMIN_FILES = new Set([ADMIN, ADMIN_WORDS, ...Object.keys(adminBundles)])
const ICON = 'favicon.svg'
const OLD_ICON = 'favicon.ico' // browsers request it beside a tile or a document

/** Crawlers may read the page, but no tiles: there are too many addresses. */
const RULES = Buffer.from('User-agent: *\nAllow: /$\nDisallow: /\n')
/** @type {File} */
const ROBOTS = { type: 'text/plain; charset=utf-8', tag: tagOf(RULES), bodies: { identity: RULES } }

/** @type {import('../dispatch.js').Route<import('../router.js').FileTarget>} */
export async function viewer (ctx, { name }, req, res) {
  if (name === 'robots.txt') return sendFile(req, res, ROBOTS, VIEWER_CSP)
  if (name === OLD_ICON) return sendFile(req, res, (await loadFiles()).get(ICON), VIEWER_CSP)
  const file = ctx.options.viewer ? (await loadFiles()).get(name === LAYERS_PAGE ? LAYERS : name) : undefined
  if (!file) throw new TilecouchError('NOT_FOUND')
  sendFile(req, res, file, name === PAGE ? await pagePolicy(ctx, req.url) : VIEWER_CSP)
}

function sendFile (req, res, file, policy) {
  const isAccepted = name => name === 'identity' || acceptsCoding(req.headers['accept-encoding'], name)
  const coding = Object.keys(file.bodies).find(isAccepted) ?? 'identity'
  const body = file.bodies[coding]
  // not every browser takes a new policy with a 304
  const tag = policy === VIEWER_CSP ? file.tag : tagOf(file.tag + policy)
  const etag = coding === 'identity' ? `"${tag}"` : `"${tag}-${coding}"`
  const headers = {
    'Cache-Control': 'no-cache', // revalidated each time, mostly with a 304: a new version shows at once
    'Content-Security-Policy': policy
  }
  const whole = { 'Content-Type': file.type, ...(coding !== 'identity' && { 'Content-Encoding': coding }) }
  res.appendHeader('Vary', 'Accept-Encoding')
  sendTagged(req, res, etag, headers, whole, body)
}
