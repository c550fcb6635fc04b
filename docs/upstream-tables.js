// The table of docs/upstreams.md.
import { upstreamDefaults } from '../core/index.js'

/** defaults: makes a table from a literal and its comments. */
export const upstreamTables = async defaults => ({
  upstream: await defaults('../core/upstream.js', 'upstreamDefaults', upstreamDefaults)
})
