// Makes the texts of the panel of areas, for users who know nothing of databases.
import { day, fromNow, inUnit, size } from '../format.js'
import { offlineWords as texts, words } from '../words.js'

const MINUTE = 60000 // milliseconds
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SHORT = 10 // seconds: shorter times are shown without a number

/** `a few seconds`, `40 seconds`, `3 minutes`, `2 hours`: rounded, because estimates are not exact. */
export function lasting (seconds) {
  if (seconds < SHORT) return texts.fewSeconds
  if (seconds < 100) return inUnit(Math.round(seconds / 10) * 10, 'second')
  if (seconds < 5400) return inUnit(Math.round(seconds / 60), 'minute')
  return inUnit(Math.round(seconds / 3600), 'hour')
}

/**
 * How fresh a complete area is.
 * @param {{updated?: string, live?: boolean}} status @param {number} [now] milliseconds
 */
export function freshness ({ updated, live }, now = Date.now()) {
  if (!updated) return words.onDevice
  const age = now - Date.parse(updated)
  if (age >= DAY) return live ? texts.oldFollowing(Math.floor(age / DAY)) : texts.old(Math.floor(age / DAY))
  if (live && age < HOUR) return texts.keptUp
  return texts.upToDate(age < MINUTE ? texts.justNow : fromNow(-age))
}

/** The past of an area, in words. @param {boolean | string} history false: only the newest; true: all; a time */
export function pastWords (history) {
  if (history === true) return texts.allPast
  return history ? texts.pastSince(day(history)) : ''
}

/** @param {{tiles: number, bytes: number}} counts */
export const amount = ({ tiles, bytes }) => `${words.tiles(tiles)}, ${size(bytes)}`

/** The changes of a refresh, in words. @param {{docs: number, tiles: number, bytes: number}} changed */
export function changedWords ({ docs, tiles, bytes }) {
  if (tiles) return texts.brought({ count: tiles, size: size(bytes) })
  return docs ? texts.onlyDescriptions : texts.nothingChanged
}

/** Why offline maps are not possible here, or only partly. */
export const { reasons } = texts

/** The message of an error for the user. */
export function problem (error) {
  const { problems } = texts
  const { needed, free, host } = error?.details ?? {}
  switch (error?.name === 'QuotaExceededError' ? 'QUOTA_EXCEEDED' : error?.code) {
    case 'QUOTA_EXCEEDED': case 'DISK_FULL':
      return needed === undefined ? problems.full : problems.tooLarge({ needed: size(needed), free: size(free ?? 0) })
    case 'OFFLINE_FORBIDDEN': return host ? problems.forbiddenBy(host) : problems.forbidden
    case 'UNAUTHORIZED': case 'FORBIDDEN': return problems.unread
    case 'NO_POUCHDB': return reasons.blocked
    default: return problems.codes[error?.code] ?? problems.other(String(error?.message ?? error).slice(0, 200))
  }
}

/** Whether a call ended because the user stopped it. */
export const isStopped = error => error?.code === 'ABORTED' || error?.name === 'AbortError'

/** A name for a new area that no other area has. @param {string} title of the layer */
export function freeName (title, taken) {
  for (let number = 1; ; number++) {
    const name = number === 1 ? title : `${title} ${number}`
    if (!taken.includes(name)) return name
  }
}
