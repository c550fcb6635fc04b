// The names in a zip or tar, and what they say: tiles below one folder, whatever it is called, metadata and a list of
// what is gone beside them.
import { gridOf } from '../../core/index.js'
import { GONE_LIST, readGone } from './gone.js'
import { sourceLimits } from './limits.js'
import { METADATA, TILEJSON, TILEMAP } from './metadata.js'
import { isUnsafe, parseTileName } from './names.js'
import { kindOfName } from './other-kinds.js'

export const namesDefaults = {
  name: 4096, // letters of a name; a longer one is no tile's
  folders: 100 // whose metadata.json and gone.txt are remembered until it is known which holds the tiles
}

const KEPT = new Set([METADATA, TILEJSON, TILEMAP, GONE_LIST]) // files beside the tiles
const HIDDEN = /(?:^|\/)(?:\.[^/]|__MACOSX(?:\/|$))/ // what macOS and editors put between

/** @typedef {() => AsyncIterable<Buffer>} Content of a file beside the tiles */

export class ArchiveNames {
  /** @type {string | undefined} */
  #folder
  /** Folders that hold tiles besides that one. */
  #others = new Set()
  /** @type {Map<string, Record<string, Content>>} by folder and name */
  #beside = new Map()
  /** The first file of another kind. @type {{kind: string, name: string} | undefined} */
  #other
  #options

  /**
   * @param {{selected: (z: number, x: number, y: number) => boolean, onFault: import('./reading.js').OnFault,
   *   scheme?: string, grid?: string | object, signal?: AbortSignal}} options
   */
  constructor (options) {
    this.#options = options
  }

  get #isTms () {
    return this.#options.scheme === 'tms'
  }

  /** The tile of a name, if it is one that is wanted. */
  tile (given) {
    const { onFault, selected } = this.#options
    const name = this.#clean(given)
    const tile = name === undefined ? undefined : parseTileName(name, (code, why) => onFault(code, given, why))
    if (!tile) return undefined
    this.#place(tile.folder)
    const y = this.#isTms && !tile.isOutside ? gridOf(this.#options).flipY(tile.z, tile.y) : tile.y
    return selected(tile.z, tile.x, y) ? { ...tile, y } : undefined
  }

  // nothing is ever written to a name that leads out of the archive, but it is no accident either
  #clean (given) {
    const name = withoutDots(given)
    if (isUnsafe(name)) this.#options.onFault('unsafe-name', given.slice(0, 100), 'it leads out of the archive')
    else if (name.length <= namesDefaults.name && !HIDDEN.test(name)) return name
  }

  #place (folder) {
    this.#folder ??= folder
    if (folder === this.#folder || this.#others.has(folder) || this.#others.size > namesDefaults.folders) return
    this.#others.add(folder)
    this.#options.onFault('bad-structure', folder || '.', `tiles lie in two places, here and in ${this.#folder || '.'}`)
  }

  /**
   * Whether a file that is no tile says something of the tiles.
   * @returns {((content: Content) => void) | undefined} keeps it
   */
  beside (given, size) {
    const path = withoutDots(given)
    const [, folder = '', name] = /^(?:(.*)\/)?([^/]*)$/s.exec(path) ?? []
    if (HIDDEN.test(path)) return undefined
    const kind = this.#other || path.length > namesDefaults.name ? undefined : kindOfName(path)
    if (kind) this.#other = { kind, name: path }
    if (!KEPT.has(name) || (name !== GONE_LIST && size > sourceLimits.metadata)) return undefined
    if (!this.#beside.has(folder) && this.#beside.size >= namesDefaults.folders) return undefined
    return content => { this.#beside.set(folder, { ...this.#beside.get(folder), [name]: content }) }
  }

  /** A file beside the tiles, when all names were seen. A diff may have nothing but a list of what is gone. */
  #named (name) {
    const folder = this.#folder ?? [...this.#beside.keys()].sort((a, b) => a.length - b.length)[0]
    return this.#beside.get(folder)?.[name]
  }

  /** The first file of another kind, where there are no tiles at all, nor a list of what is gone. */
  get other () {
    return this.#folder === undefined && !this.#named(GONE_LIST) ? this.#other : undefined
  }

  /** JSON of the metadata. */
  metadata () {
    return this.text(METADATA)
  }

  /** A file beside the tiles, if it is there. @param {string} name @returns {Promise<string | undefined>} */
  async text (name) {
    const content = this.#named(name)
    if (!content) return undefined
    const chunks = []
    for await (const chunk of content()) chunks.push(chunk)
    return String(Buffer.concat(chunks))
  }

  /**
   * @param {string} [file] for messages
   * @returns {Promise<import('../spool.js').Spool | undefined>} what is gone, in a diff; to be closed
   */
  async gone (file = GONE_LIST) {
    const content = this.#named(GONE_LIST)
    const { grid, signal } = this.#options
    return content && readGone(content(), { file, tms: this.#isTms, grid, signal })
  }
}

const withoutDots = name => name.replace(/^(?:\.\/)+/, '')
