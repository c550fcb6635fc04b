// What several commands are told of upstreams: where they are, how much they may be asked, and the keys to them.
import { checkUpstream } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { readSmallFile } from '../regular-file.js'
import { Networks } from '../upstream/networks.js'
import { wholeNumber } from './options.js'

const MOST_AT_ONCE = 64 // requests, as in an upstream

/** A template, or a file that says more. Checked before anything is opened. @param {string} text */
export async function readUpstream (text) {
  const upstream = /^https?:\/\//i.test(text) ? templateOf(text) : await readJson(text)
  checkUpstream(upstream)
  return upstream
}

/** The settings of an address that says all there is to say. @param {string} url */
const templateOf = url => ({ type: /\{tilematrix\}/i.test(url) ? 'wmts' : 'xyz', url })

async function readJson (file) {
  let text
  try {
    text = String(readSmallFile(file))
  } catch (error) {
    throw error.code === 'ENOENT' ? new TilecouchError('SOURCE_NOT_FOUND', { value: file }, { cause: error }) : new TilecouchError('SOURCE_UNREADABLE', { value: file, why: error.message }, { cause: error })
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new TilecouchError('CONFIG_INVALID', { file, why: 'it is not JSON' }) // what it says instead might be a password
  }
}

/** `10/s`, `30/m`, `0.5`: requests a second. @param {string | undefined} text */
export function rateOf (text) {
  if (text === undefined) return undefined
  const match = /^(\d{1,6}(?:\.\d{1,3})?)(?:\/([smh]))?$/.exec(text)
  const rate = match ? +match[1] / ({ s: 1, m: 60, h: 3600 })[match[2] ?? 's'] : NaN
  if (!(rate >= 0.01 && rate <= 1000)) throw new TilecouchError('BAD_OPTION', { option: '--rate', value: text })
  return rate
}

/** Requests in flight. @param {string} option as the message names it @param {string | undefined} text */
export function requestsOf (option, text) {
  const value = wholeNumber(option, text, 2)
  if (value !== undefined && value > MOST_AT_ONCE) throw new TilecouchError('BAD_OPTION', { option, value: text })
  return value
}

/** The flag of every command that asks upstreams. */
export const NETWORKS_FLAG = /** @type {const} */ (['--upstream-networks <list>', 'inner networks, addresses and hosts that upstreams may be at, separated by commas; * for all (default: TILECOUCH_UPSTREAM_NETWORKS)'])

/** @param {{upstreamNetworks?: string}} options */
export function networksOf ({ upstreamNetworks = process.env.TILECOUCH_UPSTREAM_NETWORKS ?? '' }) {
  const networks = upstreamNetworks.split(',').map(name => name.trim()).filter(Boolean)
  new Networks(networks) // what is wrong is said at the door
  return networks
}

/** Headers and parameters by host, from the environment. @param {string | undefined} text */
export function secretsOf (text) {
  if (!text) return undefined
  try {
    const secrets = JSON.parse(text)
    if (typeof secrets === 'object' && secrets !== null && !Array.isArray(secrets)) return secrets
  } catch {
    // the text is secret: no message repeats it
  }
  throw new TilecouchError('BAD_OPTION', { option: 'TILECOUCH_UPSTREAM_HEADERS', value: 'not a JSON object' })
}
