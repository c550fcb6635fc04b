// The names in a zip or tar, and what they say: tiles below one folder, metadata and a list of what is gone beside them.
import { MAX_ZOOM, TilecouchError, compareIds, flipY } from '../../../core/index.js'
import { GONE_LIST, readGone } from '../../sources/gone.js'
import { sourceLimits } from '../../sources/limits.js'
import { HIDDEN, METADATA } from '../../sources/listing.js'
import { Claims, claimsOf } from '../metadata.js'
import { isUnsafe, readName } from '../names.js'

const BREATH = 1000 // tiles looked at before others may go on

export class Listing {
  #report
  #options
  /** @type {string | undefined} */
  #folder
  #elsewhere = new Set()
  /** @type {Map<string, Buffer>} */
  #beside = new Map()

  /** @param {import('../files.js').PickedOptions} options @param {import('../../spool.js').Spool} spool of the tiles */
  constructor (options, spool) {
    this.#options = options
    this.#report = options.report
    this.spool = spool
  }

  /**
   * @param {string} given
   * @returns {{z: number, x: number, y: number, ext: string} | undefined} a tile that is wanted
   */
  tile (given) {
    const name = given.replace(/^(?:\.\/)+/, '')
    if (isUnsafe(name)) {
      this.#report.add('unsafe-name', given)
      return undefined
    }
    const found = HIDDEN.test(name) ? undefined : readName(name)
    if (!found) return undefined
    if ('code' in found) {
      this.#report.add(found.code, given, found.why)
      return undefined
    }
    this.#place(name)
    const y = this.#options.scheme === 'tms' && found.z <= MAX_ZOOM ? flipY(found.z, found.y) : found.y
    return this.#options.selected(found.z, found.x, y) ? { ...found, y } : undefined
  }

  #place (name) {
    const folder = name.split('/').slice(0, -3).join('/')
    this.#folder ??= folder
    if (folder === this.#folder || this.#elsewhere.has(folder) || this.#elsewhere.size > 100) return
    this.#elsewhere.add(folder)
    this.#report.add('bad-structure', folder || '.', `tiles lie in two places, here and in ${this.#folder || '.'}`)
  }

  /** Whether a file that is no tile should be given to `keep`. @param {string} name @param {number} size */
  wants (name, size) {
    return size <= sourceLimits.metadata && /(?:^|\/)(?:metadata\.json|gone\.txt)$/.test(name) && this.#beside.size < 10
  }

  /** @param {string} name @param {Buffer} bytes */
  keep (name, bytes) {
    this.#beside.set(name.replace(/^(?:\.\/)+/, ''), bytes)
  }

  #named (name) {
    const [found] = [...this.#beside.keys()].filter(key => key === name || key.endsWith(`/${name}`)).sort((a, b) => a.length - b.length)
    return found === undefined ? undefined : this.#beside.get(this.#folder ? `${this.#folder}/${name}` : name) ?? (this.#folder === undefined ? this.#beside.get(found) : undefined)
  }

  /**
   * What can be said of the tiles when all names have been seen.
   * @param {(times: number, where: string) => void} tellTwice
   * @returns {Promise<number | undefined>} how many tiles are gone, in a diff
   */
  async end (tellTwice) {
    const claims = this.#claims()
    const gone = await this.#gone()
    try {
      const list = gone?.tiles()
      let next = (await list?.next())?.value
      let seen = 0
      for await (const { z, x, y, times } of this.spool.tiles()) {
        if (++seen % BREATH === 0) await breathe(this.#options.signal)
        const where = `${z}/${x}/${y}`
        claims.see(where, z, x, y)
        if (times > 1) tellTwice(times, where)
        const id = `${z}:${x}:${y}`
        while (next && compareIds(idOf(next), id) < 0) next = (await list?.next())?.value
        if (next && idOf(next) === id) this.#report.add('bad-structure', where, `${GONE_LIST} says that it is gone, and it is there`)
      }
      claims.end(METADATA)
      return gone?.count()
    } finally {
      await gone?.close()
    }
  }

  #claims () {
    const bytes = this.#named(METADATA)
    const bad = why => this.#report.add('bad-metadata', METADATA, why)
    try {
      // each tile's own extension says its format
      return new Claims(this.#report, bytes ? { ...claimsOf(Object(JSON.parse(bytes.toString())), bad), format: undefined } : {}, this.#options.isPart)
    } catch (error) {
      bad(error.message)
      return new Claims(this.#report, {})
    }
  }

  async #gone () {
    const bytes = this.#named(GONE_LIST)
    if (!bytes) return undefined
    try {
      return await readGone(one(bytes), { file: GONE_LIST, tms: this.#options.scheme === 'tms' })
    } catch (error) {
      this.#report.add('bad-structure', GONE_LIST, error.details?.why ?? error.message)
    }
  }
}

async function breathe (signal) {
  await new Promise(resolve => { setImmediate(resolve) })
  if (signal?.aborted) throw new TilecouchError('ABORTED')
}

const idOf = ({ z, x, y }) => `${z}:${x}:${y}`

async function * one (bytes) {
  yield bytes
}
