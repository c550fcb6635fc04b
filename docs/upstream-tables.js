// The tables of docs/upstreams.md.
import { upstreamDefaults } from '../core/index.js'
import { limiterDefaults } from '../loader/load/upstream/limiter.js'
import { httpDefaults } from '../loader/load/upstream/http.js'

/** defaults: makes a table from a literal and its comments. */
export const upstreamTables = async defaults => ({
  upstream: await defaults('../core/upstream.js', 'upstreamDefaults', upstreamDefaults),
  gate: await defaults('../loader/load/upstream/limiter.js', 'limiterDefaults', limiterDefaults),
  upstreamHttp: await defaults('../loader/load/upstream/http.js', 'httpDefaults', httpDefaults)
})
