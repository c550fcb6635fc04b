// A template of document ids, such as MapProxy's tile_id `%(grid_name)s-%(z)d-%(x)d-%(y)d`, or `{z}/{x}/{y}`: it reads
// the tile from an id.
import { MAX_ZOOM } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'

/** What MapProxy calls them unless its configuration says otherwise. */
export const MAPPROXY_TEMPLATE = '%(grid_name)s-%(z)s-%(x)s-%(y)s'

// %(name)s, %(name)03d, %% or {name}
const PART = /%\((\w+)\)[-+ #]?(?:0?\d*)[sdi]|(%%)|\{(\w+)\}/g
const COORDINATES = ['z', 'x', 'y']

export class IdTemplate {
  constructor (text) {
    const bad = why => new TilecouchError('BAD_OPTION', { option: '--id-template', value: text, why })
    const template = text.replace(/^%\(couch_url\)s\//, '') // of MapProxy's configuration: where the database is
    let pattern = ''
    /** Names other than z, x and y. @type {string[]} */
    this.names = []
    /** What every id begins with. @type {string | undefined} */
    this.prefix = undefined
    const seen = new Set()
    let at = 0
    let literal = ''
    const flush = end => {
      literal += template.slice(at, end)
      pattern += escape(template.slice(at, end))
    }
    for (const match of template.matchAll(PART)) {
      flush(match.index)
      at = match.index + match[0].length
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
    const lacking = COORDINATES.filter(name => !seen.has(name))
    if (lacking.length) throw bad(`it lacks ${lacking.map(name => `{${name}}`).join(' and ')}`)
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
