// A store on the net as the source of a mirror: read, and nothing written to it. Thousands of devices would leave a note each,
// most may not, and a browser that asks whether it may, or for what is not there, fills the console with refusals.
import { TilecouchError } from '../../core/index.js'
import { CouchPeer } from '../../core/mirror/index.js'

export class Origin extends CouchPeer {
  async getLocal () {
    return undefined
  }

  /** @returns {Promise<never>} */
  async updateLocal () {
    throw new TilecouchError('READ_ONLY', { reason: `${this.name} is not written to` })
  }
}
