// Opens a CouchDB database of another program as a source: its documents are tiles with one attachment, as the cache of
// MapProxy writes them. Their ids contain the places, but in another order than ours, so the list is spooled first.
import { MAX_ZOOM, gridOf } from '../../../core/index.js'
import { shared } from '../../../core/promises.js'
import { TilecouchError } from '../../errors.js'
import { Spool } from '../../formats/spool.js'
import { readAhead } from './ahead.js'
import { openDatabase, readWithin } from './database.js'

const PAGE = 5000 // ids a request
const SHOWN = 3 // ids named in an error
const ATTACHMENT = 'tile' // as MapProxy calls it
const GUESS = 32e3 // bytes of a tile before any was read

/** @param {URL} url @param {Partial<import('./index.js').SourceOptions>} options */
export const recognisesUrl = (url, { idTemplate }) => idTemplate !== undefined

/** @type {import('./index.js').OpenSource} */
export async function open (name, { idTemplate, scheme, grid, selected, home, signal }) {
  const template = new IdTemplate(idTemplate)
  const couch = await openDatabase(name, { home, signal })
  const list = new TileList(couch, template, { tms: scheme === 'tms', grid: gridOf({ grid }), selected, signal })
  await list.begin()
  return {
    name: `${template.text} of ${couch.url}`,
    fields: {},
    scheme: scheme ?? 'xyz',
    get ignored () { return list.ignored },
    tiles: () => readAhead(list.tiles(), batch => readWithin(batch, async tiles => {
      const docs = await couch.docs(tiles.map(({ id }) => id), { attachments: true, signal })
      const images = docs.map(({ doc }) => imageOf(doc))
      list.learn(images)
      return images
    })),
    close: () => list.close()
  }
}

/** The attachment `tile`, or the only one. @returns {Buffer | null} */
function imageOf (doc) {
  const attachments = doc?._attachments ?? {}
  const [only, ...otherAttachments] = Object.values(attachments)
  return (attachments[ATTACHMENT] ?? (otherAttachments.length ? undefined : only))?.data ?? null
}

/** The places of the tiles, read from the ids once and kept in a spool. */
class TileList {
  #spool = shared(async () => (this.#listed = await this.#list()))
  /** @type {Spool | undefined} to be closed */
  #listed
  #first = /** @type {string[]} */ ([])
  #names = /** @type {string[] | undefined} */ (undefined)
  #matched = 0
  #average = GUESS
  ignored = 0

  /**
   * @param {import('../../store/couch.js').Couch} couch @param {IdTemplate} template
   * @param {{tms: boolean, grid: import('../../../core/grids/grid.js').Grid,
   *   selected: (z: number, x: number, y: number) => boolean, signal?: AbortSignal}} options
   */
  constructor (couch, template, { tms, grid, selected, signal }) {
    this.couch = couch
    this.template = template
    this.tms = tms
    this.grid = grid
    this.selected = selected
    this.signal = signal
  }

  /** Refuses a template that fits none of the first ids. */
  async begin () {
    this.#first = await this.#page(this.template.prefix)
    if (this.#first.length < PAGE && !this.#first.some(id => this.template.read(id))) throw await this.#noTilesError()
  }

  async * tiles () {
    const spool = await this.#spool()
    for await (const { z, x, y, fields: [id] } of spool.tiles()) yield { z, x, y, id, size: this.#average }
  }

  async #list () {
    const spool = await Spool.open()
    try {
      this.#matched = this.ignored = 0
      for (let ids = this.#first; ; ids = await this.#page(`${ids[ids.length - 1]}\u0000`)) {
        for (const id of ids) this.#enter(spool, id)
        if (ids.length < PAGE) break
      }
      if (!this.#matched) throw await this.#noTilesError()
      return spool
    } catch (error) {
      await spool.close()
      throw error
    }
  }

  #enter (spool, id) {
    const tile = id.startsWith('_') ? undefined : this.template.read(id)
    if (!tile) {
      if (!id.startsWith('_')) this.ignored++
      return
    }
    this.#matched++
    const clash = tile.names.findIndex((name, index) => name !== (this.#names ??= tile.names)[index])
    if (clash >= 0) {
      const why = `the documents have both ${JSON.stringify(this.#names?.[clash])} and ` +
        `${JSON.stringify(tile.names[clash])} for ${this.template.names[clash]}: write the one that is meant instead`
      throw new TilecouchError('BAD_OPTION', { option: '--id-template', value: this.template.text, why })
    }
    const { z, x } = tile
    const y = this.tms ? this.grid.flipY(z, tile.y) : tile.y
    if (this.selected(z, x, y)) spool.add(z, x, y, id)
  }

  async #page (startkey) {
    const rows = await this.couch.page({ startkey, endkey: `${this.template.prefix}\ufff0`, limit: PAGE }, this.signal)
    return rows.map(({ id }) => id)
  }

  /** The error for a template that no id matches. It shows some of the ids. */
  async #noTilesError () {
    const rows = await this.couch.page({ limit: 100 }, this.signal)
    const ids = rows.map(({ id }) => id).filter(id => !id.startsWith('_')).slice(0, SHOWN)
    const why = ids.length
      ? `no document is called like ${this.template.text}: they are called ` +
        `${ids.map(id => JSON.stringify(id)).join(', ')}`
      : 'there are no documents'
    return new TilecouchError('SOURCE_UNREADABLE', { value: this.couch.url, why })
  }

  /** Updates the average size of tiles, by which the size of batches is chosen. */
  learn (images) {
    const sizes = images.flatMap(image => image ? [image.length] : [])
    if (sizes.length) this.#average = sizes.reduce((sum, size) => sum + size, 0) / sizes.length
  }

  async close () {
    await this.#listed?.close()
  }
}

// Templates of document ids, such as MapProxy's tile_id `%(grid_name)s-%(z)d-%(x)d-%(y)d`, or `{z}/{x}/{y}`.

// %(name)s, %(name)03d, %% or {name}
const PART = /%\((\w+)\)[-+ #]?(?:0?\d*)[sdi]|(%%)|\{(\w+)\}/g
const COORDINATES = ['z', 'x', 'y']

export class IdTemplate {
  constructor (text) {
    const bad = why => new TilecouchError('BAD_OPTION', { option: '--id-template', value: text, why })
    const template = text.replace(/^%\(couch_url\)s\//, '') // in MapProxy's configuration: the database
    let pattern = ''
    /** Names other than z, x and y. @type {string[]} */
    this.names = []
    /** The text with which every id begins. @type {string | undefined} */
    this.prefix = undefined
    const seen = new Set()
    let start = 0
    let literal = ''
    const flush = end => {
      literal += template.slice(start, end)
      pattern += escape(template.slice(start, end))
    }
    for (const match of template.matchAll(PART)) {
      flush(match.index)
      start = match.index + match[0].length
      const name = match[1] ?? match[3]
      if (match[2]) {
        literal += '%'
        pattern += '%'
        continue
      }
      this.prefix ??= literal
      if (seen.has(name)) pattern += `\\k<${name}>`
      else pattern += COORDINATES.includes(name) ? `(?<${name}>\\d{1,10})` : `(?<${name}>.+)`
      if (!seen.has(name) && !COORDINATES.includes(name)) this.names.push(name)
      seen.add(name)
    }
    flush(template.length)
    const missingNames = COORDINATES.filter(name => !seen.has(name))
    if (missingNames.length) throw bad(`it lacks ${missingNames.map(name => `{${name}}`).join(' and ')}`)
    if (/\{|\}|%\(/.test(literal)) throw bad('a brace or %( belongs neither to %(name)s nor to {name}')
    if (/\}\{|\)[sdi]%\(/.test(template)) throw bad('two names need something between them')
    this.text = text
    this.pattern = new RegExp(`^${pattern}$`, 's')
  }

  /**
   * @param {string} id of a document
   * @returns {{z: number, x: number, y: number, names: string[]} | undefined} names: values of the others; nothing when
   *   it is not the id of a tile
   */
  read (id) {
    const groups = this.pattern.exec(id)?.groups
    if (!groups) return undefined
    const [z, x, y] = COORDINATES.map(name => +groups[name])
    if (z > MAX_ZOOM || x >= 2 ** z || y >= 2 ** z) return undefined
    return { z, x, y, names: this.names.map(name => groups[name]) }
  }
}

const escape = text => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
