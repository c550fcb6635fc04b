// Who is asked, how, and for what.
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
 * @property {any} at what that takes
 * @property {Kind[]} kinds that it takes part in
 * @property {number} batch values written at once
 * @property {string} space whose new keys it writes: who shares a server shares them
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
    ...Object.entries(caches).map(([name, running]) => /** @type {Contender} */ ({
      name, opener: name.toLowerCase(), at: { port: running.port },
      kinds: ['writes', 'reads', 'mixes'], batch: 1, space: name
    }))
  ]
}
