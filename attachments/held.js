// What the device holds of the store, as the page asks the store for it (see store.js).
import { formats, tileId, versionId } from '../core/index.js'

const PICTURES = 500 // addresses of images that the page may use at the same time

export class Held {
  #offline
  /** @type {Map<string, string>} document and revision -> address of its image in this page, least recently used first */
  #pictures = new Map()

  /** @param {any} offline the OfflineStore */
  constructor (offline) {
    this.#offline = offline
  }

  get #device () {
    return this.#offline.device
  }

  /** @returns {Promise<import('./store.js').Layer[]>} */
  layers () {
    return this.#device.layers()
  }

  /** @returns {Promise<Map<string, import('./store.js').Stats>>} */
  async stats () {
    const names = (await this.layers()).map(({ layer }) => layer)
    const stats = await Promise.all(names.map(name => this.#device.stats(name)))
    return new Map(names.map((name, at) => [name, stats[at]]))
  }

  /** @param {string} layer @param {number} limit */
  async editions (layer, limit) {
    return (await this.#device.editions(layer)).slice(0, limit)
  }

  /** @param {string} layer @param {{z: number, x: number, y: number}} tile @param {number} limit */
  async versions (layer, { z, x, y }, limit) {
    const [[versions], doc] = await Promise.all([this.#device.versions(layer, [{ z, x, y0: y, y1: y }]), this.#device.layer(layer)])
    const type = Object.values(formats).find(({ ext }) => ext === (doc?.format ?? 'png'))?.type
    return versions.slice(-limit).map(version => ({
      ...version,
      _id: version.current ? tileId(layer, z, x, y) : versionId(layer, z, x, y, version.time),
      _rev: version.rev,
      ...(!version.gone && { _attachments: { tile: { length: version.bytes, content_type: type } } })
    }))
  }

  /** Address of the image of such a version. */
  async tileUrl (version) {
    return this.#picture(`${version._id} ${version._rev}`, () => this.#device.tile(version))
  }

  /** Address of the newest image of a tile. */
  async newestUrl (layer, { z, x, y }) {
    return this.#picture(tileId(layer, z, x, y), async () => (await this.#device.head(layer, z, x, y))?.blob)
  }

  async #picture (key, read) {
    const known = this.#pictures.get(key)
    const blob = known ? undefined : await read()
    const url = known ?? (blob && URL.createObjectURL(blob))
    if (!url) return
    this.#pictures.delete(key)
    this.#pictures.set(key, url)
    const [[oldest, useless]] = this.#pictures
    if (this.#pictures.size > PICTURES) {
      this.#pictures.delete(oldest)
      URL.revokeObjectURL(useless)
    }
    return url
  }
}
