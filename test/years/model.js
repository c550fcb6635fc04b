// What a layer should hold, kept in memory and worked out the plain way: every rule is written down again here, slowly, and
// nothing of the store's own code decides.
import { addSeconds } from '../../core/index.js'

// It does not know that a version was found unchanged later on: one whose edition is removed then stays in the store, from that time.

/** @typedef {{time: string, image: number | null, expires?: string}} Version image: the number of a picture; null: gone */

const byTime = (a, b) => a.time < b.time ? -1 : 1

export class Model {
  /** Tile -> its versions, oldest first. @type {Map<string, Version[]>} */
  tiles = new Map()
  /** Times of editions. @type {Set<string>} */
  editions = new Set()

  clone () {
    const copy = new Model()
    for (const [id, versions] of this.tiles) copy.tiles.set(id, versions.map(version => ({ ...version })))
    copy.editions = new Set(this.editions)
    return copy
  }

  /** @param {string} id @param {string} time @returns {Version | undefined} */
  at (id, time) {
    return (this.tiles.get(id) ?? []).filter(version => version.time <= time).at(-1)
  }

  /** @param {string} time @param {Map<string, number | null>} images @param {string} [expires] */
  load (time, images, expires) {
    for (const [id, image] of images) this.#write(id, { time, image, ...(expires && { expires }) })
  }

  #write (id, version) {
    const versions = this.tiles.get(id) ?? []
    const before = versions.filter(({ time }) => time <= version.time).at(-1)
    if (before && (before.image === version.image || before.time === version.time)) return
    this.tiles.set(id, [...versions, version].sort(byTime))
  }

  /** Another master's versions come along, each of its own second. @param {Model} other */
  join (other) {
    for (const [id, versions] of other.tiles) {
      const own = this.tiles.get(id) ?? []
      this.tiles.set(id, [...own, ...versions.filter(({ time }) => !own.some(version => version.time === time))].sort(byTime))
    }
  }

  /** @param {string} time */
  removeEdition (time) {
    this.#keep(version => version.time !== time)
    this.editions.delete(time)
  }

  /** @param {(id: string) => boolean} isGoing */
  removeTiles (isGoing) {
    for (const id of this.tiles.keys()) if (isGoing(id)) this.tiles.delete(id)
  }

  #keep (stays) {
    for (const [id, versions] of this.tiles) {
      const left = versions.filter(version => stays(version, versions))
      if (left.length) this.tiles.set(id, left)
      else this.tiles.delete(id)
    }
  }

  /** Heads that are over go; those with a past leave word that there is nothing any more. @param {string} now */
  expire (now) {
    for (const [id, versions] of this.tiles) {
      const head = versions[versions.length - 1]
      if (head.image === null || !head.expires || head.expires > now) continue
      if (versions.length === 1) this.tiles.delete(id)
      else {
        const time = [head.expires, addSeconds(head.time, 1)].sort()[1]
        versions.push({ time, image: null, expires: time })
      }
    }
  }

  /** Moments at which anything changed, newest first. */
  get moments () {
    return [...new Set([...[...this.tiles.values()].flat().map(({ time }) => time), ...this.editions])].sort().reverse()
  }

  /** @param {Record<string, any>} policy @param {string} now @returns {{moments: string[], from: string}} */
  kept (policy, now) {
    const { moments } = this
    const kept = new Set()
    const rules = { last: time => time, hourly: time => time.slice(0, 13), daily: time => time.slice(0, 10), weekly: weekOf, monthly: time => time.slice(0, 7), yearly: time => time.slice(0, 4) }
    for (const [rule, periodOf] of Object.entries(rules)) {
      const seen = new Set()
      for (const time of moments) {
        if (seen.size >= (policy[rule] ?? 0) || seen.has(periodOf(time))) continue
        seen.add(periodOf(time))
        kept.add(time)
      }
      // what is to reach back farther grows from the oldest there is
      if (moments.length && seen.size < (policy[rule] ?? 0)) kept.add(moments[moments.length - 1])
    }
    for (const time of this.editions) if (policy.editions === true || policy.editions?.includes(time)) kept.add(time)
    const newest = moments.find(time => time <= now) ?? now
    return { moments: [...kept].sort(), from: policy.within && moments.length ? addSeconds(newest, -policy.within) : '~' }
  }

  /** @param {Record<string, any>} policy @param {string} now */
  prune (policy, now) {
    const { moments, from } = this.kept(policy, now)
    for (const [id, versions] of this.tiles) {
      const needed = new Set([versions[versions.length - 1], ...versions.filter(({ time }) => time >= from), this.at(id, from)])
      for (const time of moments) needed.add(this.at(id, time))
      let left = versions.filter(version => needed.has(version))
      while (left.length > 1 && left[0].image === null) left = left.slice(1) // nothing was there before either
      this.tiles.set(id, left)
    }
    for (const time of this.editions) if (!moments.includes(time) && time < from) this.editions.delete(time)
  }

  /** What is to be found in a store, in a form that compares. */
  get content () {
    return Object.fromEntries([...this.tiles].sort().map(([id, versions]) => [id, versions.map(({ time, image }) => `${time} ${image}`)]))
  }
}

/** The Monday of its week: weeks are those of ISO 8601. */
function weekOf (time) {
  const day = new Date(`${time.slice(0, 10)}T00:00:00Z`)
  return addSeconds(`${time.slice(0, 10)}T00:00:00Z`, -((day.getUTCDay() + 6) % 7) * 86400)
}
