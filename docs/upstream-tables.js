// The tables of docs/upstreams.md.
import { upstreamDefaults } from '../core/index.js'
import { gateDefaults } from '../loader/upstream/gate.js'
import { httpDefaults } from '../loader/upstream/http.js'

/** @param {(file: string, name: string, values: Record<string, any>) => Promise<string>} defaults as docs/tables.js makes a table from a literal and its comments */
export const upstreamTables = async defaults => ({
  upstream: await defaults('../core/upstream.js', 'upstreamDefaults', upstreamDefaults),
  gate: await defaults('../loader/upstream/gate.js', 'gateDefaults', gateDefaults),
  upstreamHttp: await defaults('../loader/upstream/http.js', 'httpDefaults', httpDefaults)
})
