// The texts of the panel of areas, for users who know nothing of databases.
import { plural, size } from '../format.js'

const MINUTE = 60000 // milliseconds
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SHORT = 10 // seconds: what takes less is not worth a figure

/** How long ago: `just now`, `5 minutes ago`, `14 days ago`. */
export function ago (ms) {
  if (ms < MINUTE) return 'just now'
  const [length, noun] = ms < HOUR ? [MINUTE, 'minute'] : ms < DAY ? [HOUR, 'hour'] : [DAY, 'day']
  return `${plural(Math.floor(ms / length), noun)} ago`
}

/** `a few seconds`, `40 seconds`, `3 minutes`, `2 hours`: no more exactly than can be known. */
export function lasting (seconds) {
  if (seconds < SHORT) return 'a few seconds'
  if (seconds < 100) return `${Math.round(seconds / 10) * 10} seconds`
  if (seconds < 5400) return plural(Math.round(seconds / 60), 'minute')
  return plural(Math.round(seconds / 3600), 'hour')
}

/**
 * How fresh a complete area is.
 * @param {{updated?: string, live?: boolean}} status @param {number} [at] milliseconds
 */
export function freshness ({ updated, live }, at = Date.now()) {
  if (!updated) return 'On this device'
  const age = at - Date.parse(updated)
  if (age >= DAY) return `${plural(Math.floor(age / DAY), 'day')} old${live ? ', follows the store when it can' : ''}`
  return live && age < HOUR ? 'Kept up to date' : `Up to date ${ago(age)}`
}

/** What an area holds of the past. @param {boolean | string} history false: only the newest; true: all; a time */
export const pastWords = history => history === true ? 'with all its past' : history ? `with its past since ${history.slice(0, 10)}` : ''

/** @param {{tiles: number, bytes: number}} what */
export const amount = ({ tiles, bytes }) => `${plural(tiles, 'tile')}, ${size(bytes)}`

/** What a refresh brought. @param {{docs: number, tiles: number, bytes: number}} changed */
export const changedWords = ({ docs, tiles, bytes }) => tiles ? `${plural(tiles, 'tile')} changed, ${size(bytes)}.`
  : docs ? 'Up to date: only descriptions changed.' : 'Up to date: nothing changed.'

/** Why offline maps are not possible here, or not wholly. */
export const reasons = {
  insecure: 'This page was not opened over https. Maps can be kept here, but the page itself does not open without a network. Ask for its https address.',
  blocked: 'This browser stores nothing for this page: it is a private window, or storage is switched off. Open the page in an ordinary window.',
  failed: 'The part of this page that stores maps did not load. Try again when there is a network.'
}

/** @type {Record<string, (error: any) => string>} */
const problems = {
  QUOTA_EXCEEDED: ({ details }) => details?.needed === undefined
    ? 'This device has no room left. What was downloaded so far is kept. Remove an area or free some space, then press “Go on”.'
    : `This does not fit: it needs ${size(details.needed)}, and ${size(details.free ?? 0)} are free. Remove an area, or choose a smaller one.`,
  DISK_FULL: () => 'This device has no room left. What was downloaded so far is kept. Remove an area or free some space, then press “Go on”.',
  UNREACHABLE: () => 'The store does not answer. What was downloaded so far is kept; press “Go on” when there is a network.',
  OFFLINE_FORBIDDEN: ({ details }) => details?.host
    ? `This layer cannot be downloaded: its tiles come from ${details.host}, whose terms forbid it.`
    : 'This layer cannot be downloaded: its provider does not allow that.',
  INDEX_MISSING: () => 'The store has no index for downloads. Its operator can deploy it with “tilecouch push”.',
  LAYER_NOT_FOUND: () => 'The layer is no longer in the store. What is on this device stays.',
  DATABASE_NOT_FOUND: () => 'The database is not there any more. What is on this device stays.',
  AREA_EXISTS: () => 'There is an area of this name already. Take another name.',
  UNAUTHORIZED: () => 'The store does not let you read it.',
  FORBIDDEN: () => 'The store does not let you read it.',
  BAD_BBOX: () => 'These are not four numbers in degrees: west, south, east, north.',
  BAD_AREA: () => 'There is nothing inside this shape. Move its corners.',
  BAD_ZOOM: () => 'The first zoom must not be greater than the last one.',
  BAD_TIME: () => 'This is not a date.',
  NO_POUCHDB: () => reasons.blocked
}

/** What an error means to the user. */
export function problem (error) {
  const words = problems[error?.code]
  if (words) return words(error)
  if (error?.name === 'QuotaExceededError') return problems.QUOTA_EXCEEDED({})
  return `This did not work: ${String(error?.message ?? error).slice(0, 200)}.`
}

/** Whether a call ended because the user stopped it. */
export const isStopped = error => error?.code === 'ABORTED' || error?.name === 'AbortError'

/** A name for a new area that no other one has. @param {string} title of the layer */
export function freeName (title, taken) {
  for (let number = 1; ; number++) {
    const name = number === 1 ? title : `${title} ${number}`
    if (!taken.includes(name)) return name
  }
}
