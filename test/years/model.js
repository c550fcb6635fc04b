// A model of a layer in memory. It implements every rule again in the plain way, slowly, and without the code of the
// store.
import { addSeconds } from '../../core/index.js'
import { naiveKept, naiveStay } from '../retention/naive.js'

/**
 * A statement about a tile at a time. isVersion: whether it is stored as a version. A statement that found a tile
 * unchanged is not, until the version that it found is removed.
 * @typedef {{time: string, image: number | null, expires?: string, isVersion: boolean}} Statement image: the number of
 *   a picture; null: gone
 */

const byTime = (a, b) => a.time < b.time ? -1 : 1
const isVersion = statement => statement.isVersion

export class Model {
  /** Tile -> its statements, oldest first. @type {Map<string, Statement[]>} */
  #statements = new Map()
  /** The times of editions. @type {Set<string>} */
  editions = new Set()

  clone () {
    const copy = new Model()
    for (const [id, list] of this.#statements) copy.#statements.set(id, list.map(statement => ({ ...statement })))
    copy.editions = new Set(this.editions)
    return copy
  }

  /** Tile -> its versions, oldest first. @returns {Map<string, Statement[]>} */
  get tiles () {
    return new Map([...this.#statements].map(([id, statements]) => [id, statements.filter(isVersion)]))
  }

  /** The number of versions. */
  get versions () {
    return [...this.#statements.values()].flat().filter(isVersion).length
  }

  /** @param {string} id @param {string} time @returns {Statement | undefined} the version */
  at (id, time) {
    return (this.#statements.get(id) ?? []).filter(statement => statement.isVersion && statement.time <= time).at(-1)
  }

  /** @param {string} time @param {Map<string, number | null>} images @param {string} [expires] */
  load (time, images, expires) {
    for (const [id, image] of images) this.#write(id, { time, image, ...(expires && { expires }) })
  }

  #write (id, statement) {
    const statements = this.#statements.get(id) ?? []
    if (statements.some(({ time }) => time === statement.time)) return
    // Only statements later than all others are compared with the head. Statements about the past are all kept.
    const isUnchanged = statements.length > 0 && statement.time > statements[statements.length - 1].time &&
      statements.filter(isVersion).at(-1)?.image === statement.image
    this.#store(id, [...statements, { ...statement, isVersion: !isUnchanged }])
  }

  /** Stores the statements of a tile. A statement that differs from the version before it becomes a version. */
  #store (id, statements) {
    const sorted = statements.map(statement => ({ ...statement })).sort(byTime)
    let previous
    for (const statement of sorted) {
      if (!statement.isVersion && previous?.image === statement.image) continue
      if (!statement.isVersion) delete statement.expires
      previous = Object.assign(statement, { isVersion: true })
    }
    if (sorted.length) this.#statements.set(id, sorted)
    else this.#statements.delete(id)
  }

  /** Adds the statements of another master, each at its own second. @param {Model} other */
  join (other) {
    for (const [id, added] of other.#statements) {
      const current = this.#statements.get(id) ?? []
      this.#store(id, [...current, ...added.filter(({ time }) => !current.some(statement => statement.time === time))])
    }
  }

  /** @param {string} time */
  removeEdition (time) {
    for (const [id, list] of this.#statements) this.#store(id, list.filter(statement => statement.time !== time))
    this.editions.delete(time)
  }

  /** @param {(id: string) => boolean} isGoing */
  removeTiles (isGoing) {
    for (const id of this.#statements.keys()) if (isGoing(id)) this.#statements.delete(id)
  }

  /** Removes expired heads. Tiles with a past become gone instead. @param {string} now */
  expire (now) {
    for (const [id, statements] of this.#statements) {
      const versions = statements.filter(isVersion)
      const head = versions[versions.length - 1]
      if (head.image === null || !head.expires || head.expires > now) continue
      if (versions.length === 1) this.#statements.delete(id)
      else {
        const time = [head.expires, addSeconds(statements[statements.length - 1].time, 1)].sort()[1]
        this.#store(id, [...statements, { time, image: null, expires: time, isVersion: true }])
      }
    }
  }

  /** The moments at which anything changed, newest first. */
  get moments () {
    return [
      ...new Set([...[...this.#statements.values()].flat().filter(isVersion).map(({ time }) => time), ...this.editions])
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
    for (const [id, list] of this.#statements) {
      const versions = list.filter(isVersion)
      const stay = naiveStay(versions.map(version => ({ ...version, gone: version.image === null })), kept)
      const times = new Set(stay.map(({ time }) => time))
      // a statement that found a version unchanged goes with it
      this.#store(id, list.filter(item => times.has(versions.findLast(({ time }) => time <= item.time)?.time ?? '')))
    }
    for (const time of this.editions) if (!kept.moments.has(time) && time < kept.from) this.editions.delete(time)
  }

  /** The expected content of a store, in a form that can be compared. */
  get content () {
    return Object.fromEntries(
      [...this.tiles].sort().map(([id, versions]) => [id, versions.map(({ time, image }) => `${time} ${image}`)])
    )
  }
}
