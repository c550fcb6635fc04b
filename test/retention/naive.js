// A naive implementation of retention: from a list of all moments, as restic and borg describe their rules. It tests
// every kept moment for every tile. It is slow, and uses nothing of core/retention.js.
import { addSeconds, asOf } from '../../core/index.js'

const NEVER = '~' // after every time

/** The Monday of the week of a time. */
function weekOf (time) {
  const day = new Date(`${time.slice(0, 10)}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() - (day.getUTCDay() + 6) % 7)
  return day.toISOString()
}

const periods = {
  last: time => time, hourly: time => time.slice(0, 13), daily: time => time.slice(0, 10),
  weekly: weekOf, monthly: time => time.slice(0, 7), yearly: time => time.slice(0, 4)
}

/**
 * @param {Record<string, any>} policy
 * @param {string[]} times of versions
 * @param {string[]} editions
 * @param {string} now
 * @returns {{moments: Set<string>, from: string}} moments: the kept ones
 */
export function naiveKept (policy, times, editions, now) {
  const ordered = [...new Set([...times, ...editions])].sort().reverse()
  const moments = new Set(policy.editions === true ? editions : [])
  for (const [rule, periodOf] of Object.entries(periods)) {
    const limit = policy[rule] ?? 0
    const newest = [...new Set(ordered.map(periodOf))].map(period => ordered.find(time => periodOf(time) === period))
    for (const time of newest.slice(0, limit)) moments.add(time)
    if (newest.length < limit && ordered.length) moments.add(ordered[ordered.length - 1])
  }
  for (const prefix of policy.editions === true ? [] : policy.editions ?? []) {
    for (const time of ordered) if (editions.includes(time) && time.startsWith(prefix)) moments.add(time)
  }
  const newest = ordered.find(time => time <= now) ?? now
  const from = policy.within && ordered.length ? addSeconds(newest, -policy.within) : NEVER
  for (const time of ordered) if (time >= from) moments.add(time)
  return { moments, from }
}

/** The versions of a tile that a kept moment needs, or any second since `from`. */
export function naiveStay (versions, { moments, from }) {
  const neededTimes =
    [...moments, ...(from === NEVER ? [] : [from, ...versions.map(({ time }) => time).filter(time => time >= from)])]
  const needed = new Set([versions[versions.length - 1], ...neededTimes.map(time => asOf(versions, time))])
  const stay = versions.filter(version => needed.has(version))
  while (stay.length > 1 && stay[0].gone) stay.shift()
  return stay
}
