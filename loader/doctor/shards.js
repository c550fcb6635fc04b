// How many shards and copies a database needs for a number of tiles. CouchDB distributes documents evenly over shards
// by their ids; one process writes, compacts and indexes a shard, which is moved or split as a whole.

export const adviceDefaults = {
  tileBytes: 10000, // bytes per tile, if nothing else is known
  overhead: 1.06, // size of a compacted database / size of the images, at 10 kB per tile
  shardDocs: 1e6, // documents per shard, by the rule of thumb of CouchDB operators,
  shardBytes: 10e9, // or bytes, whichever comes first
  least: 2, // shards: CouchDB's own default since 3.0
  most: 64, // shards: every view and changes request asks all of them
  copies: 3 // CouchDB's documentation advises against more
}

/**
 * @typedef {object} Advice
 * @property {number} q shards
 * @property {number} n copies of each
 * @property {number} tiles
 * @property {number} nodes
 * @property {number} bytes of the database, once
 * @property {number} shardDocs
 * @property {number} shardBytes
 * @property {string[]} notes remarks
 */

/**
 * @param {{tiles: number, nodes?: number, tileBytes?: number}} what tiles: with every version that is kept
 * @returns {Advice}
 */
export function adviseShards ({ tiles, nodes = 1, tileBytes = adviceDefaults.tileBytes }) {
  const { overhead, shardDocs, shardBytes, least, most, copies } = adviceDefaults
  const bytes = tiles * tileBytes * overhead
  const n = Math.min(copies, nodes)
  const wanted = Math.max(least, tiles / shardDocs, bytes / (shardBytes * overhead), nodes / n)
  const q = powerOfTwo(Math.min(wanted, most))
  const notes = []
  if (wanted > most) {
    notes.push(`More than ${most} shards slow down every request more than they help. ` +
      'Put layers into databases of their own: each is a store.')
  }
  if (n === 1) notes.push('One node keeps one copy. A mirror elsewhere, or a cluster of three nodes, survives its loss.')
  if (n === 2) notes.push('With two copies, a write is complete only when both nodes are up. Three nodes are safer.')
  if ((q * n) % nodes) {
    notes.push(`${q * n} shards cannot be distributed evenly over ${nodes} nodes; use a multiple of ${n} nodes.`)
  }
  return { q, n, tiles, nodes, bytes, shardDocs: Math.round(tiles / q), shardBytes: bytes / q, notes }
}

/** Splitting a shard makes two of it: powers of two can be grown into. */
const powerOfTwo = number => 2 ** Math.ceil(Math.log2(number))

/**
 * Compares an existing database with the advice. A database keeps the q and n with which it was created.
 * @param {Advice} advice
 * @param {{q: number, n: number, db: string}} there
 * @returns {{fits: boolean, how: string[]}} how to change it
 */
export function compareShards (advice, { q, n, db }) {
  const how = []
  if (q < advice.q) {
    const jobs = Math.ceil(Math.log2(advice.q / q))
    const times = jobs > 1 ? ` (${jobs} times, one after the other)` : ''
    how.push(
      'q of an existing database grows only by splitting shards, while it serves: ' +
        `POST /_reshard/jobs with {"type": "split", "db": "${db}"} doubles it${times}.`,
      'Each split needs space for a second copy of the shard and its indexes.',
      'Or create a new database with --q and fill it with `tilecouch mirror`.')
  }
  if (n < advice.n) {
    how.push('To add copies, edit the shard map (CouchDB: Shard Management), ' +
      'or create a new database and fill it with `tilecouch mirror`.')
  }
  if (q > 4 * advice.q) {
    how.push(`Shards cannot be merged. ${q} only make views and feeds slower;`,
      `a new database with --q ${advice.q}, filled with \`tilecouch mirror\`, has fewer.`)
  }
  return { fits: q >= advice.q && n >= advice.n, how }
}
