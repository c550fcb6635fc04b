// Opens a tile server as a source: the template of an address, or the settings of an upstream (see docs/upstreams.md).
// A tile server does not list its tiles: the caller gives an area and zooms. Limits, retries and terms are those of
// `seed`; nothing is cached.
import { pMapIterable } from 'p-map'
import { checkUpstream, gridOf, hostOf, parseArea } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { fillTemplate } from '../../../core/upstream.js'
import { zoomsById } from '../../../core/order.js'
import { Fetcher } from '../seed/fetcher.js'
import { clip, countByZoom, batchesOfGroups, groupsOf } from '../seed/plan.js'
import { formatOf } from '../../../core/upstream-address.js'
import { openUpstream } from '../upstream/index.js'

export const upstreamSourceDefaults = {
  lookup: 500, // tiles looked up at once, to find those that are stored already
  unbounded: 1e6 // tiles that may be loaded without an area
}

const WORLD = /** @type {import('../../../core/grid.js').Bbox} */ ([-180, -90, 180, 90])
const TEMPLATE = /(\{|%7b)(z|quadkey|tilematrix)(\}|%7d)/i

/** @param {URL} url @param {Asking} options */
export const recognisesUrl = (url, { upstream }) => Boolean(upstream) || TEMPLATE.test(url.href)

/**
 * The options of this source besides those of every source.
 * @typedef {object} Asking
 * @property {Record<string, any>} [upstream] settings; without them, the name is the template
 * @property {boolean} [permission] fetch although the terms forbid it
 * @property {number} [rate] requests a second at most
 * @property {number} [requests] at once at most
 * @property {string} [userAgent]
 * @property {import('../upstream/secrets.js').SecretsByHost} [secrets] by host
 * @property {readonly string[]} [networks] inner networks that it may redirect to
 * @property {readonly string[]} [named] hosts that may be in inner networks (those of its addresses)
 * @property {Record<string, any>} [fields] its description, as fields of a layer document
 * @property {boolean} [isAnnounced] its zooms and bounds come from the server, not from the user
 * @property {Partial<typeof import('../seed/fetcher.js').fetchDefaults>} [fetching]
 * @property {(error: TilecouchError) => void} [onTrouble] called when the load waits for a server without answers
 * @property {typeof openUpstream} [connect]
 */

/**
 * @param {import('./index.js').SourceOptions & Asking} options
 * @returns {Promise<import('./index.js').Source & {counts: Map<number, number>}>} counts: tiles by zoom
 */
export async function open (name, options) {
  const { grid = options.fields?.grid } = options
  const settings = settingsOf(name, options, gridOf({ grid }))
  if (!settings.seed && !options.permission) {
    throw new TilecouchError('SEED_FORBIDDEN', { layer: options.layer ?? name, host: hostOf(settings.url) })
  }
  const part = partOf(settings, options, gridOf({ grid }))
  const counts = await countByZoom({ ...part, signal: options.signal })
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (!total) throw new TilecouchError('BAD_AREA', { why: 'the upstream has no tiles in it' })
  const isBounded = options.area || (settings.bounds && !options.isAnnounced)
  if (!isBounded && total > upstreamSourceDefaults.unbounded) {
    const areaText = settings.bounds ? 'all that it has' : 'the whole world'
    throw new TilecouchError('BAD_AREA', { why: `${areaText} to zoom ${part.zooms.max} is ` +
      `${total.toLocaleString('en-US')} tiles: say where (--bbox or --polygon; --bbox=${WORLD} is the world)` })
  }
  return new TileServer(settings, part, { counts, total, options, grid })
}

/**
 * @param {string} name @param {import('./index.js').SourceOptions & Asking} options
 * @param {import('../../../core/grids/grid.js').Grid} grid
 */
function settingsOf (name, { upstream, scheme, rate, requests }, grid) {
  const settings = upstream ?? { type: /\{tilematrix\}/i.test(name) ? 'wmts' : scheme ?? 'xyz', url: name }
  return checkUpstream({ ...settings, ...(rate && { rate }), ...(requests && { concurrency: requests }) }, grid)
}

/**
 * @param {import('../../../core/upstream.js').UpstreamSettings} settings
 * @param {import('./index.js').SourceOptions} options
 * @param {import('../../../core/grids/grid.js').Grid} grid
 */
function partOf (settings, { area, zooms }, grid) {
  if (!zooms && settings.maxzoom === undefined) {
    throw new TilecouchError('BAD_AREA', { why: 'a tile server does not say what it has: name the zooms (--zoom) and ' +
      'where (--bbox or --polygon)' })
  }
  const { min, max } = zooms ?? { min: 0, max: settings.maxzoom ?? 0 }
  const zoomsOfGrid = { min: Math.max(min, grid.firstZoom), max: Math.min(max, grid.lastZoom) }
  return clip({}, settings, { area: (area ?? parseArea({ bbox: WORLD })).in(grid), zooms: zoomsOfGrid })
}

class TileServer {
  #settings
  #part
  #options
  #upstream
  #fetcher
  #grid
  isInGrid = true

  constructor (settings, part, { counts, total, options, grid }) {
    this.#grid = grid
    this.#settings = settings
    this.#part = part
    this.#options = options
    this.name = settings.layers ? `${settings.url} (${settings.layers})` : settings.url
    this.fields = options.fields ?? {}
    this.counts = counts
    this.total = total
  }

  /** The tiles, each with its own request: a metatile is fetched once for each tile. Use `walk` to fetch all. */
  async * tiles () {
    const { area, zooms } = this.#part
    for (const z of zoomsById(zooms)) {
      for (const { x, y } of area.tiles(z)) yield { z, x, y, read: () => this.#read({ z, x, y }) }
    }
  }

  async #read (tile) {
    this.#open({})
    const { answer, error } = await this.#fetcher.fetch({ tiles: [tile] })
    if (error) throw error
    return bytesOf(answer, tile)
  }

  /** Fetches all tiles metatile by metatile, several at once. @param {import('./index.js').WalkOptions} [options] */
  async * walk ({ known, layer = {} } = {}) {
    this.#open(layer)
    const { area, zooms } = this.#part
    const { signal } = this.#options
    const jobs = this.#jobs(groupsOf(area, zooms, this.#upstream), known)
    const fetch = async ({ tiles, skipped }) =>
      ({ tiles, skipped, ...(tiles.length && await this.#fetcher.fetch({ tiles })) })
    const answers = pMapIterable(jobs, fetch, { concurrency: this.#settings.concurrency, preserveOrder: false })
    for await (const { tiles, skipped, answer, error } of answers) {
      for (const tile of skipped) yield { ...tile, known: true }
      if (!answer && !error) continue // stopped before the request
      for (const tile of tiles) yield { ...tile, read: error ? () => { throw error } : () => bytesOf(answer, tile) }
      if (signal?.aborted) return
    }
  }

  /** Groups of tiles to fetch, and the known tiles that are skipped. */
  async * #jobs (groups, known) {
    for await (const chunk of batchesOfGroups(groups, upstreamSourceDefaults.lookup, this.#options.signal)) {
      const flags = known ? await known(chunk.flat()) : []
      let index = 0
      for (const group of chunk) {
        const isKnown = group.map(() => flags[index++])
        yield {
          tiles: group.filter((_, position) => !isKnown[position]),
          skipped: group.filter((_, position) => isKnown[position])
        }
      }
    }
  }

  /**
   * Connects with the tile size and format of the layer, but not with its bounds: they say nothing about the server.
   * @param {{tileSize?: number, format?: string}} layer
   */
  #open ({ tileSize, format }) {
    if (this.#upstream) return
    const { layer = 'upstream', userAgent, secrets, fetching, signal, onTrouble } = this.#options
    const { connect = openUpstream, networks = [], named: allowedHosts = hostsOf(this.#settings) } = this.#options
    const fields = { format: formatOf(this.#settings) ?? format, upstream: this.#settings }
    const doc = { layer, tileSize, grid: this.#grid, ...fields }
    const allowed = [...networks, ...allowedHosts]
    this.#upstream = connect(doc, { userAgent, secrets, networks: allowed, limits: { failures: Infinity } })
    this.#fetcher = new Fetcher(this.#upstream, { signal, onTrouble, ...fetching })
  }

  async close () {
    this.#fetcher?.close()
    await this.#upstream?.close()
  }
}

/**
 * The hosts of an upstream. They may be in inner networks, because the user named them.
 * @param {{url: string, subdomains?: string[]}} settings
 */
export function hostsOf ({ url, subdomains = [''] }) {
  return subdomains.map(subdomain => {
    const { hostname, port, protocol } = new URL(fillTemplate(url, name => name === 's' ? subdomain : '1'))
    return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
  })
}

/** @param {import('../upstream/index.js').Answer | undefined} answer */
function bytesOf (answer, { x, y }) {
  if (!answer) throw new TilecouchError('ABORTED')
  const tiles = answer.kind === 'tiles' ? answer.tiles : []
  return tiles.find(tile => tile.x === x && tile.y === y)?.bytes ?? null
}
