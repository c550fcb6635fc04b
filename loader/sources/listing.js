// The tiles of an archive of files, by their names: …/z/x/y.ext below one folder, whatever it is called, with what a folder
// of tiles may have beside them.
import { MAX_ZOOM, flipY } from '../../core/index.js'
import { GONE_LIST, readGone, withGone } from './gone.js'
import { sourceLimits } from './limits.js'
import { layerFieldsOf, timeOf } from './metadata.js'

export const METADATA = 'metadata.json'

export const listingDefaults = {
  name: 4096, // letters of a name; a longer one is no tile's
  folders: 100 // whose metadata.json and gone.txt are remembered until it is known which holds the tiles
}

const TILE = /^(?:(.*)\/)?(0|[1-9]\d{0,9})\/(0|[1-9]\d{0,9})\/(0|[1-9]\d{0,9})\.(?:png|jpg|jpeg|webp|avif|pbf|mvt)$/i
const BESIDE = /^(?:(.*)\/)?(metadata\.json|gone\.txt)$/
// what macOS and editors put between
export const HIDDEN = /(?:^|\/)(?:\.[^/]|__MACOSX(?:\/|$))/

/** @typedef {{stream: () => AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>, length: number}} Beside a file that is no tile */

export class Listing {
  /** @type {string | undefined} */
  #folder
  #beside = new Map()
  #tms
  #options

  /** @param {string} file @param {import('./index.js').SourceOptions} options */
  constructor (file, options) {
    this.file = file
    this.#options = options
    this.#tms = options.scheme === 'tms'
  }

  /**
   * The tile of a name, if it is one that is wanted.
   * @param {string} given
   * @returns {{z: number, x: number, y: number} | undefined}
   */
  tile (given) {
    const name = this.#clean(given)
    const match = name && TILE.exec(name)
    if (!match) return undefined
    const folder = match[1] ?? ''
    this.#folder ??= folder
    if (folder !== this.#folder) throw new Error(`it holds tiles in two places, ${JSON.stringify(this.#folder)} and ${JSON.stringify(folder)}`)
    const [z, x, row] = match.slice(2).map(Number)
    // what is outside is not hidden here: the load says that it refuses it
    const y = this.#tms && z <= MAX_ZOOM ? flipY(z, row) : row
    return this.#options.selected(z, x, y) ? { z, x, y } : undefined
  }

  /**
   * Remembers a file beside the tiles, if it is one.
   * @param {string} given
   * @param {() => Beside} beside
   */
  note (given, beside) {
    const [, folder = '', kind] = BESIDE.exec(this.#clean(given) ?? '') ?? []
    if (!kind) return
    if (this.#beside.has(folder)) this.#beside.get(folder)[kind] = beside()
    else if (this.#beside.size < listingDefaults.folders) this.#beside.set(folder, { [kind]: beside() })
  }

  // a name that leads out of the archive is no accident; nothing is ever written to it, but nothing else is believed either
  #clean (given) {
    const name = given.replace(/^(?:\.\/)+/, '')
    if (/^\/|^[a-z]:|\\|(?:^|\/)\.\.(?:\/|$)/i.test(name)) throw new Error(`it holds ${JSON.stringify(given.slice(0, 100))}, a name that leads out of it`)
    return name.length <= listingDefaults.name && !HIDDEN.test(name) ? name : undefined
  }

  /**
   * The source, when every name has been seen.
   * @param {{name: string, tiles: () => AsyncIterable<import('./index.js').SourceTile>, total: number, close: () => Promise<void>}} parts
   * @returns {Promise<import('./index.js').Source>}
   */
  async source ({ name, tiles, total, close }) {
    // a diff may have nothing but a list of what is gone
    const folder = this.#folder ?? [...this.#beside.keys()].sort((a, b) => a.length - b.length)[0]
    const beside = this.#beside.get(folder) ?? {}
    const metadata = await readMetadata(beside[METADATA])
    const gone = beside[GONE_LIST] && await readGone(await beside[GONE_LIST].stream(), { file: `${this.file}: ${GONE_LIST}`, tms: this.#tms, signal: this.#options.signal })
    return {
      name,
      fields: layerFieldsOf(metadata),
      time: timeOf(metadata),
      diff: Boolean(gone),
      ...(!gone && { total }),
      tiles: gone ? () => withGone(tiles(), gone, this.#options.selected, this.file) : tiles,
      async close () {
        await gone?.close()
        await close()
      }
    }
  }
}

/** @param {Beside | undefined} beside */
async function readMetadata (beside) {
  if (!beside || beside.length > sourceLimits.metadata) return {}
  const chunks = []
  for await (const chunk of await beside.stream()) chunks.push(chunk)
  try {
    return Object(JSON.parse(String(Buffer.concat(chunks))))
  } catch {
    return {} // it is a courtesy, as in a folder
  }
}
