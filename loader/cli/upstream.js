// Options of the commands that fetch from tile servers.
import { checkUpstream } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { wmsForTemplate } from '../load/sources/services.js'
import { Networks } from '../load/upstream/networks.js'
import { userAgentOf } from '../load/upstream/index.js'
import { readTextFile, refuse, wholeNumber } from './options.js'

const MOST_AT_ONCE = 64 // requests, as in an upstream

/** A template of addresses, or a file with all settings. @param {string} text */
export async function readUpstream (text) {
  const isTemplate = /^https?:\/\//i.test(text)
  const service = isTemplate ? wmsForTemplate(text) : undefined
  if (service) throw service
  const upstream = isTemplate ? { type: /\{tilematrix\}/i.test(text) ? 'wmts' : 'xyz', url: text } : readJson(text)
  if (upstream?.type !== 'wms') checkUpstream(upstream) // which system a wms draws in depends on the layer
  return upstream
}

/** @param {string} file of settings */
export function readJson (file) {
  const text = readTextFile(file)
  try {
    return JSON.parse(text)
  } catch {
    throw new TilecouchError('CONFIG_INVALID', { file, why: 'it is not JSON' }) // an excerpt might show a password
  }
}

/** Options of the requests to tile servers. */
export function askingOf ({ rate, concurrency, iHavePermission, contact, upstreamNetworks }) {
  return {
    rate: rate === undefined ? undefined : rateOf(rate),
    requests: concurrency === undefined ? undefined : requestsOf(concurrency),
    permission: Boolean(iHavePermission),
    userAgent: userAgentOf(contact ?? process.env.TILECOUCH_CONTACT),
    networks: networksOf(upstreamNetworks ?? process.env.TILECOUCH_UPSTREAM_NETWORKS ?? ''),
    secrets: secretsOf(process.env.TILECOUCH_UPSTREAM_HEADERS)
  }
}

/** Requests a second, of `10/s`, `30/m` or `0.5`. */
function rateOf (text) {
  const match = /^(\d{1,6}(?:\.\d{1,3})?)(?:\/([smh]))?$/.exec(text)
  const rate = match ? +match[1] / ({ s: 1, m: 60, h: 3600 })[match[2] ?? 's'] : NaN
  return rate >= 0.01 && rate <= 1000 ? rate : refuse('--rate', text, 'it takes a rate such as 10/s or 30/m')
}

/** Requests at a time. */
function requestsOf (text) {
  const value = wholeNumber('--concurrency', text, 2)
  return value <= MOST_AT_ONCE ? value : refuse('--concurrency', text, `at most ${MOST_AT_ONCE}`)
}

function networksOf (text) {
  const networks = text.split(',').map(name => name.trim()).filter(Boolean)
  new Networks(networks) // throws for a bad name
  return networks
}

/** Headers and parameters by host, from the environment. @param {string | undefined} text */
function secretsOf (text) {
  if (!text) return undefined
  try {
    const secrets = JSON.parse(text)
    if (typeof secrets === 'object' && secrets !== null && !Array.isArray(secrets)) return secrets
  } catch {
    // the text is secret: no message repeats it
  }
  return refuse('TILECOUCH_UPSTREAM_HEADERS', '(not shown)', 'it takes JSON, {"host": {"header": "value"}}')
}
