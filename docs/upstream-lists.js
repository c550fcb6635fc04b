// The list of docs/upstreams.md.
import { upstreamDefaults } from '../core/index.js'

/** items: makes a list from a literal and its comments. */
export const upstreamLists = async items => ({
  upstream: await items('../core/upstream.js', 'upstreamDefaults', upstreamDefaults)
})
