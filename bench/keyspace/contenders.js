// The contenders of bench/keyspace.js.
import { BATCH, TIME } from './workload.js'

export const SINGLE = 'CouchDB, tile by tile'
export const BATCHES = `CouchDB, batches of ${BATCH}`
export const ATTACHMENT = 'CouchDB, plain GET'
export const GATEWAY = 'gateway'

/** @typedef {'writes' | 'reads' | 'mixes'} Kind */

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} opener of its client, see thread.js
 * @property {any} at the options of the opener
 * @property {Kind[]} kinds that it takes part in
 * @property {number} batch values written at once
 * @property {string} space the server whose new keys it writes; contenders on one server share it
 */

/** @returns {Contender[]} */
export function contendersOf ({ url, servers: { store, gateway, caches } }) {
  const couchdb = { opener: 'couchdb', at: { url, time: TIME }, space: 'CouchDB' }
  return [
    { ...couchdb, name: SINGLE, kinds: ['writes', 'reads', 'mixes'], batch: 1 },
    { ...couchdb, name: BATCHES, kinds: ['writes', 'mixes'], batch: BATCH },
    { ...couchdb, name: ATTACHMENT, opener: 'attachment', at: { url: store.url }, kinds: ['reads'], batch: 1 },
    { ...couchdb, name: GATEWAY, opener: 'gateway', at: {
      url: gateway.url, db: url, time: TIME
    }, kinds: ['reads', 'mixes'], batch: BATCH },
    ...Object.entries(caches).map(([name, server]) => /** @type {Contender} */ ({
      name, opener: name.toLowerCase(), at: { port: server.port },
      kinds: ['writes', 'reads', 'mixes'], batch: 1, space: name
    }))
  ]
}
