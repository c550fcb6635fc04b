// The newest image of a place, for layers that need no versions: from the device, from the network, or a part of an
// ancestor tile while neither has it.
import { TilecouchError, tileId } from '../../core/index.js'

/**
 * @typedef {object} Head
 * @property {Blob} blob
 * @property {import('./database-reader.js').HeldVersion} [version]
 * @property {string} [digest]
 * @property {boolean} isFromDevice from the device
 * @property {boolean} [isOld] the network might know better, and does not answer
 * @typedef {Head & {up: number, dx: number, dy: number}} PartOfAncestor of an ancestor, as resolve.js names it
 */

export class HeadSource {
  /** whether four tiles of a zoom are one of the zoom before: not in every grid */
  hasParts = true
  #offline
  #layer
  #isNetworkFirst
  #network
  #pending
  #enlarged

  /**
   * @param {{offline: any, layer: string, read: string, enlarged: number,
   *   network: import('./offline-source.js').NetworkAccess,
   *   pending: import('./offline-source.js').PendingChanges}} parts
   */
  constructor ({ offline, layer, read, network, pending, enlarged }) {
    this.#offline = offline
    this.#layer = layer
    this.#isNetworkFirst = read === 'network'
    this.#network = network
    this.#pending = pending
    this.#enlarged = enlarged
  }

  /**
   * From the device, unless the network comes first.
   * @returns {Promise<Head | null | undefined>} null: there is no tile; undefined: that is not known here
   */
  async fromDevice (z, x, y) {
    if (this.#isNetworkFirst && !this.#network.isOffline) return undefined
    const { device } = this.#offline
    const layer = this.#layer
    const found = await device.head(layer, z, x, y)
    if (found) {
      const isOutdated = this.#pending.has({ z, x, y }, [found.version])
      return isOutdated ? undefined : { ...headOf(found), isOld: this.#isNetworkFirst }
    }
    const [[version], databases] = await Promise.all([device.heads(layer, [{ z, x, y }]), device.databases(layer)])
    if (version?.gone || databases.some(({ area, isComplete, holds }) => area && isComplete && holds(z, x, y))) {
      return this.#pending.has({ z, x, y }, version ? [version] : []) ? undefined : null
    }
    return undefined
  }

  /**
   * From the network; from the device what it has, when the network fails.
   * @param {{fresh?: boolean}} [options]
   * @returns {Promise<Head>}
   */
  async fromNetwork (z, x, y, signal, options) {
    const layer = this.#layer
    if (!this.#network.isAllowed) throw new TilecouchError('TILE_NOT_FOUND', { id: tileId(layer, z, x, y) })
    const asked = async () => {
      const { blob, digest } = await this.#network.ask(couch => couch.head(layer, z, x, y, signal, options), signal)
      return { blob, digest, isFromDevice: false }
    }
    const here = async () => {
      const found = await this.#offline.device.head(layer, z, x, y)
      return found && { ...headOf(found), isOld: true }
    }
    return this.#isNetworkFirst ? this.#network.networkFirst(asked, here) : this.#network.networkOr(asked, here)
  }

  /**
   * What to show until the network has answered: a part of the nearest ancestor.
   * @param {number} z @param {number} x @param {number} y
   * @returns {Promise<PartOfAncestor | undefined>}
   */
  async placeholder (z, x, y) {
    const { device } = this.#offline
    const ancestors = []
    for (let up = 1; up <= (this.hasParts ? Math.min(z, this.#enlarged) : 0); up++) {
      ancestors.push({ z: z - up, x: Math.floor(x / 2 ** up), y: Math.floor(y / 2 ** up), up })
    }
    const versions = await device.heads(this.#layer, ancestors)
    for (const [at, { up, ...tile }] of ancestors.entries()) {
      const version = versions[at]
      const blob = version && !version.gone ? await device.tile(version) : undefined
      if (blob) return { ...headOf({ blob, version }), up, dx: x - tile.x * 2 ** up, dy: y - tile.y * 2 ** up }
    }
  }
}

const headOf = ({ blob, version }) => ({ blob, version, digest: version.digest, isFromDevice: true })
