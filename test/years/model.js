// What a layer should hold, kept in memory and worked out the plain way: every rule is written down again here, slowly,
// and nothing of the store's own code decides.
import { addSeconds } from '../../core/index.js'
import { naiveKept, naiveStay } from '../retention/naive.js'

/**
 * What was said of a tile at a time. isVersion: it is stored as one. What found a tile unchanged is none, until the
 * version that it found goes.
 * @typedef {{time: string, image: number | null, expires?: string, isVersion: boolean}} Statement image: the number of
 *   a picture; null: gone
 */

const byTime = (a, b) => a.time < b.time ? -1 : 1
const isVersion = statement => statement.isVersion

export class Model {
  /** Tile -> what was said of it, oldest first. @type {Map<string, Statement[]>} */
  #said = new Map()
  /** Times of editions. @type {Set<string>} */
  editions = new Set()

  clone () {
    const copy = new Model()
    for (const [id, said] of this.#said) copy.#said.set(id, said.map(one => ({ ...one })))
    copy.editions = new Set(this.editions)
    return copy
  }

  /** Tile -> its versions, oldest first. @returns {Map<string, Statement[]>} */
  get tiles () {
    return new Map([...this.#said].map(([id, said]) => [id, said.filter(isVersion)]))
  }

  /** How many versions there are. */
  get versions () {
    return [...this.#said.values()].flat().filter(isVersion).length
  }

  /** @param {string} id @param {string} time @returns {Statement | undefined} the version */
  at (id, time) {
    return (this.#said.get(id) ?? []).filter(one => one.isVersion && one.time <= time).at(-1)
  }

  /** @param {string} time @param {Map<string, number | null>} images @param {string} [expires] */
  load (time, images, expires) {
    for (const [id, image] of images) this.#write(id, { time, image, ...(expires && { expires }) })
  }

  #write (id, one) {
    const said = this.#said.get(id) ?? []
    if (said.some(({ time }) => time === one.time)) return
    // only what is later than all else is looked at beside the head: of the past, every word is kept
    const isUnchanged = said.length > 0 && one.time > said[said.length - 1].time &&
      said.filter(isVersion).at(-1)?.image === one.image
    this.#keep(id, [...said, { ...one, isVersion: !isUnchanged }])
  }

  /** What is left of a tile: a word that differs from what is shown before it is a version. */
  #keep (id, said) {
    const left = said.map(one => ({ ...one })).sort(byTime)
    let shown
    for (const one of left) {
      if (!one.isVersion && shown?.image === one.image) continue
      if (!one.isVersion) delete one.expires
      shown = Object.assign(one, { isVersion: true })
    }
    if (left.length) this.#said.set(id, left)
    else this.#said.delete(id)
  }

  /** Another master's words come along, each of its own second. @param {Model} other */
  join (other) {
    for (const [id, said] of other.#said) {
      const own = this.#said.get(id) ?? []
      this.#keep(id, [...own, ...said.filter(({ time }) => !own.some(one => one.time === time))])
    }
  }

  /** @param {string} time */
  removeEdition (time) {
    for (const [id, said] of this.#said) this.#keep(id, said.filter(one => one.time !== time))
    this.editions.delete(time)
  }

  /** @param {(id: string) => boolean} isGoing */
  removeTiles (isGoing) {
    for (const id of this.#said.keys()) if (isGoing(id)) this.#said.delete(id)
  }

  /** Heads that are over go; those with a past leave word that there is nothing any more. @param {string} now */
  expire (now) {
    for (const [id, said] of this.#said) {
      const versions = said.filter(isVersion)
      const head = versions[versions.length - 1]
      if (head.image === null || !head.expires || head.expires > now) continue
      if (versions.length === 1) this.#said.delete(id)
      else {
        const time = [head.expires, addSeconds(said[said.length - 1].time, 1)].sort()[1]
        this.#keep(id, [...said, { time, image: null, expires: time, isVersion: true }])
      }
    }
  }

  /** Moments at which anything changed, newest first. */
  get moments () {
    return [
      ...new Set([...[...this.#said.values()].flat().filter(isVersion).map(({ time }) => time), ...this.editions])
    ].sort().reverse()
  }

  /** @param {Record<string, any>} policy @param {string} now */
  kept (policy, now) {
    const times = [...this.tiles.values()].flat().map(({ time }) => time)
    return naiveKept(policy, times, [...this.editions], now)
  }

  /** @param {Record<string, any>} policy @param {string} now */
  prune (policy, now) {
    const kept = this.kept(policy, now)
    for (const [id, said] of this.#said) {
      const versions = said.filter(isVersion)
      const stay = naiveStay(versions.map(version => ({ ...version, gone: version.image === null })), kept)
      const times = new Set(stay.map(({ time }) => time))
      // a version takes along who found it unchanged
      this.#keep(id, said.filter(one => times.has(versions.findLast(({ time }) => time <= one.time)?.time ?? '')))
    }
    for (const time of this.editions) if (!kept.moments.has(time) && time < kept.from) this.editions.delete(time)
  }

  /** What is to be found in a store, in a form that compares. */
  get content () {
    return Object.fromEntries(
      [...this.tiles].sort().map(([id, versions]) => [id, versions.map(({ time, image }) => `${time} ${image}`)])
    )
  }
}
