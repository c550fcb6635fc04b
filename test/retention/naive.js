// Retention worked out the plain way: from a list of all moments, as restic and borg describe their rules, and with
// every kept moment looked at for every tile. Slow, and with nothing of core/retention.js.
import { addSeconds, asOf } from '../../core/index.js'

const NEVER = '~' // after every time

/** The Monday of its week. */
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
 * @returns {{moments: Set<string>, from: string}} moments: each that is kept
 */
export function naiveKept (policy, times, editions, now) {
  const all = [...new Set([...times, ...editions])].sort().reverse()
  const moments = new Set(policy.editions === true ? editions : [])
  for (const [rule, periodOf] of Object.entries(periods)) {
    const wanted = policy[rule] ?? 0
    const newest = [...new Set(all.map(periodOf))].map(period => all.find(time => periodOf(time) === period))
    for (const time of newest.slice(0, wanted)) moments.add(time)
    if (newest.length < wanted && all.length) moments.add(all[all.length - 1])
  }
  for (const written of policy.editions === true ? [] : policy.editions ?? []) {
    for (const time of all) if (editions.includes(time) && time.startsWith(written)) moments.add(time)
  }
  const newest = all.find(time => time <= now) ?? now
  const from = policy.within && all.length ? addSeconds(newest, -policy.within) : NEVER
  for (const time of all) if (time >= from) moments.add(time)
  return { moments, from }
}

/** Versions of a tile that a kept moment, or any second since `from`, needs: each as it is asked for. */
export function naiveStay (versions, { moments, from }) {
  const asked =
    [...moments, ...(from === NEVER ? [] : [from, ...versions.map(({ time }) => time).filter(time => time >= from)])]
  const needed = new Set([versions[versions.length - 1], ...asked.map(time => asOf(versions, time))])
  const stay = versions.filter(version => needed.has(version))
  while (stay.length > 1 && stay[0].gone) stay.shift()
  return stay
}
