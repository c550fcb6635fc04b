// Verifies folders of tile files: names, other files, and every tile.
import { MAX_ZOOM, compareIds } from '../../../core/index.js'
import { FolderReader } from '../../formats/folder/reader.js'
import { GONE_LIST } from '../../formats/gone.js'
import { METADATA } from '../../formats/metadata.js'
import { childSignal } from '../../store/child-signal.js'
import { Claims, claimsOf } from './claims.js'
import { examineAll } from './tiles.js'

/** A folder is read one column at a time. */
export async function verifyFolder (folder, options) {
  const { report, selected, scheme, grid, decode, signal, isCounted, onProgress } = options
  const reader = new FolderReader(folder, { scheme, grid, signal, onFault: report.add })
  const beside = await Beside.open(reader, options)
  const counting = isCounted ? countMeanwhile(folder, options) : undefined
  const onTile = now => onProgress?.({ ...now, total: counting?.total })
  try {
    const done = await examineAll(jobs(), { report, decode, unpacked: true, signal, onTile })
    const { tiles, bytes, decoded, types } = done
    const gone = beside.end()
    return { tiles, bytes, checked: { decoded, types, ...(gone !== undefined && { gone }) } }
  } finally {
    counting?.end()
    await beside.close()
  }

  async function * jobs () {
    for (const z of await reader.numbers()) {
      if (z > MAX_ZOOM) report.add('outside-pyramid', `${z}`, `zoom ${z}`)
      else for (const x of await reader.numbers(`${z}`)) yield * column(z, x)
    }
  }

  /** @returns {AsyncGenerator<import('./tiles.js').Job>} */
  async function * column (z, x) {
    let last = { path: '', y: -1 }
    for (const tile of await reader.tiles(z, x)) {
      const { path: where, y, ext } = tile
      if (tile.isOutside || !selected(z, x, y)) continue
      if (last.y === y) report.add('duplicate-tile', where, `beside ${last.path}`)
      last = tile
      await beside.see(where, z, x, y)
      yield { where, read: () => reader.read(where), compare: found => compareExt(found.ext, ext) }
    }
  }
}

/**
 * Counts the tiles of a folder while they are read: their names alone take a moment.
 * @returns {{total?: number, end: () => void}} total: once all are counted
 */
function countMeanwhile (folder, { selected, scheme, grid, signal }) {
  const child = childSignal(signal)
  const counting = { total: /** @type {number | undefined} */ (undefined), end: child.end }
  const count = async () => {
    const reader = new FolderReader(folder, { scheme, grid, signal: child.signal, onFault: () => {} })
    let total = 0
    for (const z of await reader.numbers()) {
      if (z > MAX_ZOOM) continue
      for (const x of await reader.numbers(`${z}`)) {
        for (const { y, isOutside } of await reader.tiles(z, x)) if (!isOutside && selected(z, x, y)) total++
      }
    }
    counting.total = total
  }
  count().catch(() => {}) // the check meets the same error and reports it
  return counting
}

/** @returns {import('./decode.js').Problems} */
const compareExt = (found, ext) => found && found !== ext ? [['wrong-type', `${found}, the name says ${ext}`]] : []

/** What metadata and the list of gone tiles say, compared with the tiles in the order of their ids. */
class Beside {
  #report
  #claims
  #gone
  #list
  #next

  /** @param {FolderReader} reader */
  static async open (reader, { report, isPart, grid }) {
    const bad = why => report.add('bad-metadata', METADATA, why)
    let metadata = {}
    try {
      const text = await reader.metadata()
      // the extension of each tile says its format
      if (text !== undefined) metadata = { ...claimsOf(JSON.parse(text), bad), format: undefined }
    } catch (error) {
      if (error.code === 'ABORTED') throw error
      bad(error.message)
    }
    let gone
    try {
      gone = await reader.gone()
    } catch (error) {
      if (error.code === 'ABORTED' || error.code === 'DISK_FULL') throw error
      report.add('bad-structure', GONE_LIST, error.details?.why ?? error.message)
    }
    return new Beside(report, new Claims(report, { ...metadata, ...(grid && { grid }) }, isPart), gone)
  }

  constructor (report, claims, gone) {
    this.#report = report
    this.#claims = claims
    this.#gone = gone
    this.#list = gone?.tiles()
  }

  async #read () {
    this.#next = (await this.#list?.next())?.value
  }

  async see (where, z, x, y) {
    this.#claims.see(where, z, x, y)
    if (!this.#list) return
    if (!this.#next) await this.#read()
    const id = `${z}:${x}:${y}`
    while (this.#next && compareIds(idOf(this.#next), id) < 0) await this.#read()
    if (this.#next && idOf(this.#next) === id) this.#report.add('bad-structure', where, `${GONE_LIST} says that it is gone, and it is there`)
  }

  /** @returns {number | undefined} how many tiles are gone, in a diff */
  end () {
    this.#claims.end(METADATA)
    return this.#gone?.count()
  }

  async close () {
    await this.#gone?.close()
  }
}

const idOf = ({ z, x, y }) => `${z}:${x}:${y}`
