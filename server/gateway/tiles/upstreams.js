// The upstreams of the layers, each opened when it is first needed and again when its layer changes.
import { isDeepStrictEqual } from 'node:util'
import { openUpstream, userAgentOf } from '../../../loader/load/upstream/index.js'

/**
 * @typedef {import('../../../loader/load/upstream/index.js').Upstream} Upstream
 * @typedef {import('../layers.js').Layer} Layer
 */

export class Upstreams {
  /** @type {Map<string, {layer: Layer, upstream: Upstream | null}>} */
  #open = new Map()

  /** @param {{options: Record<string, any>, log?: any}} parts options of the gateway */
  constructor ({ options, log }) {
    this.options = options
    this.log = log
  }

  /**
   * The upstream of a layer, or null when it has none or must not be asked.
   * @param {Layer | undefined} layer its document
   */
  of (layer) {
    if (!layer?.upstream || this.options.upstream === false) return null
    const opened = this.#open.get(layer.layer)
    // an unchanged layer keeps its upstream, with its circuit, its queue and its list of missing tiles
    if (opened && isDeepStrictEqual(opened.layer, layer)) {
      opened.layer = layer
      return opened.upstream
    }
    this.#close(opened?.upstream)
    const upstream = this.#openOne(layer)
    this.#open.set(layer.layer, { layer, upstream })
    return upstream
  }

  #openOne (layer) {
    const { upstreamHeaders, upstreamNetworks } = this.options
    try {
      const userAgent = userAgentOf(process.env.TILECOUCH_CONTACT)
      return openUpstream(layer, { userAgent, secrets: upstreamHeaders ?? {}, networks: upstreamNetworks ?? [] })
    } catch (error) {
      const { code, message: reason } = error
      this.log?.error({ layer: layer.layer, code, reason }, 'the upstream of this layer cannot be used')
      return null
    }
  }

  /** Closes the upstreams of removed layers. @param {Map<string, Layer>} layers */
  retain (layers) {
    for (const [name, { upstream }] of this.#open) {
      if (layers.get(name)?.upstream) continue
      this.#close(upstream)
      this.#open.delete(name)
    }
  }

  /** The states of the open upstreams, for metrics. */
  states () {
    return [...this.#open.values()].flatMap(({ upstream }) => upstream ? [upstream.state()] : [])
  }

  /** Stops the requests of an upstream. Clients that wait ask the new one. */
  async #close (upstream) {
    await upstream?.close()?.catch(error => this.log?.debug({ reason: error.message }, 'closing an upstream'))
  }

  async close () {
    const opened = [...this.#open.values()]
    this.#open.clear()
    await Promise.all(opened.map(({ upstream }) => this.#close(upstream)))
  }
}
