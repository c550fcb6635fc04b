// The viewer and the client library, as they are attached to the couchapp. Built once a process, from this package:
// what a gateway serves fits its version, whatever design documents the store has.
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { TilecouchError } from '../../../loader/errors.js'
import { ownDesigns, VIEWER } from '../../../loader/couchapp/compose.js'
import { VIEWER_CSP, viewerPolicy } from '../../../loader/couchapp/policy.js'
import { acceptsCoding, sendTagged } from '../responses.js'

const PAGE = 'index.html'
const SMALL = 1000 // bytes below which compressing gains nothing
const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: 9 } // beyond it takes a second at the start and saves a hundredth

/** @typedef {{type: string, tag: string, bodies: Record<string, Buffer>}} File bodies: by content coding */

/** @type {Promise<Map<string, File>> | undefined} */
let loading

/** All files by name. @returns {Promise<Map<string, File>>} */
export function loadFiles () {
  loading ??= load().catch(error => {
    loading = undefined // another attempt may do better
    throw error
  })
  return loading
}

async function load () {
  const design = (await ownDesigns()).find(({ _id }) => _id === `_design/${VIEWER}`)
  const attachments = Object.entries(design?._attachments ?? {})
  return new Map(await Promise.all(attachments.map(async ([name, { content_type: type, data }]) => {
    const bytes = Buffer.from(data, 'base64')
    const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
    return /** @type {[string, File]} */ ([name, { type, tag, bodies: await codings(bytes, type) }])
  })))
}

async function codings (bytes, type) {
  if (bytes.length < SMALL || !/^text\/|json|svg/.test(type)) return { identity: bytes }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: QUALITY }),
    promisify(gzip)(bytes, { level: 9 })
  ])
  return { br, gzip: gz, identity: bytes }
}

/**
 * Whether the page is asked for as a map for a frame of another page: there it has nothing but the map, so that nobody
 * can be led to press its other buttons. attachments/take/entry.js looks at the same word.
 */
const isEmbedded = (name, url) => (name || PAGE) === PAGE && new URLSearchParams(url.split('?', 2)[1]).has('embed')

/** @param {any} ctx @param {{name: string}} asked */
export async function viewer ({ options }, { name }, req, res) {
  const file = options.viewer ? (await loadFiles()).get(name || PAGE) : undefined
  if (!file) throw new TilecouchError('NOT_FOUND')
  if (req.method !== 'GET' && req.method !== 'HEAD') throw new TilecouchError('READ_ONLY')
  const taken = one => one === 'identity' || acceptsCoding(req.headers['accept-encoding'], one)
  const coding = Object.keys(file.bodies).find(taken) ?? 'identity'
  const body = file.bodies[coding]
  const etag = coding === 'identity' ? `"${file.tag}"` : `"${file.tag}-${coding}"`
  const headers = {
    'Cache-Control': 'no-cache', // asked for each time, mostly with a 304: a new version shows at once
    'Content-Security-Policy': isEmbedded(name, req.url) ? viewerPolicy(options.embed ?? []) : VIEWER_CSP
  }
  const whole = { 'Content-Type': file.type, ...(coding !== 'identity' && { 'Content-Encoding': coding }) }
  res.appendHeader('Vary', 'Accept-Encoding')
  sendTagged(req, res, etag, headers, whole, body)
}
