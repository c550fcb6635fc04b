// Places for those who ask at the same time: so many in all, and so many for one address.
import { peerOf } from '../peer.js'

export class Seats {
  #taken = 0
  /** @type {Map<string, number>} of an address */
  #each = new Map()

  /** @param {{most: number, each?: number, trustProxy?: boolean, refusal: () => Error}} options each: for one address; a proxy on this machine counts as none */
  constructor ({ most, each = Infinity, trustProxy = false, refusal }) {
    this.most = most
    this.each = each
    this.trustProxy = trustProxy
    this.refusal = refusal
  }

  /** @param {import('node:http').IncomingMessage} req @returns {() => void} to give it back */
  take (req) {
    const peer = peerOf(req, this.trustProxy)
    const own = peer === null ? 0 : this.#each.get(peer) ?? 0
    if (this.#taken >= this.most || own >= this.each) throw this.refusal()
    this.#taken++
    if (peer !== null) this.#each.set(peer, own + 1)
    return () => {
      this.#taken--
      if (peer === null) return
      const left = (this.#each.get(peer) ?? 0) - 1
      if (left > 0) this.#each.set(peer, left)
      else this.#each.delete(peer)
    }
  }
}
