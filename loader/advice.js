// How many shards and copies a database should have for so many tiles. CouchDB spreads documents evenly over shards, by their
// ids; a shard is what one process writes, compacts and indexes, and what is moved or split as a whole.

export const adviceDefaults = {
  tileBytes: 10000, // bytes a tile, where nothing else is known
  overhead: 1.06, // of the images: what a compacted database measures at 10 kB a tile
  shardDocs: 1e6, // documents a shard: the rule of thumb of those who look after many CouchDBs,
  shardBytes: 10e9, // and bytes; whichever comes first
  least: 2, // shards: CouchDB's own default since 3.0
  most: 64, // shards: every view and every feed of changes asks all of them and merges what they say
  copies: 3 // beyond which CouchDB's documentation advises against
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
 * @property {string[]} notes what is worth knowing of it
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
    notes.push(`More than ${most} shards cost every request that asks all of them more than they gain. Keep layers in databases of their own: each is a store.`)
  }
  if (n === 1) notes.push('One node keeps one copy: a mirror on another machine, or a cluster of three nodes, outlives it.')
  if (n === 2) notes.push('With two copies each write needs both nodes to be there; CouchDB answers all the same, and the other copy follows. Three nodes are safer.')
  if ((q * n) % nodes) notes.push(`${q * n} copies of shards are not spread evenly over ${nodes} nodes; a number of nodes that is a multiple of ${n} is.`)
  return { q, n, tiles, nodes, bytes, shardDocs: Math.round(tiles / q), shardBytes: bytes / q, notes }
}

/** Splitting a shard makes two of it: powers of two can be grown into. */
const powerOfTwo = number => 2 ** Math.ceil(Math.log2(number))

/**
 * What a database has, beside the advice. It keeps the q and n it was made with, unless somebody works on its shards.
 * @param {Advice} advice
 * @param {{q: number, n: number, db: string}} there
 * @returns {{fits: boolean, how: string[]}} how: what can be done about it
 */
export function compareShards (advice, { q, n, db }) {
  const how = []
  if (q < advice.q) {
    const jobs = Math.ceil(Math.log2(advice.q / q))
    how.push(`q of a database that is there grows only by splitting shards, which goes on while it serves: POST /_reshard/jobs with {"type": "split", "db": "${db}"} doubles it${jobs > 1 ? ` (${jobs} times, each when the one before is done)` : ''}. Each split needs room for a second copy of the shard and its indexes.`)
    how.push('Or make a new database with --shards and fill it with `tilecouch mirror`.')
  }
  if (n < advice.n) how.push('Copies of a database that is there are added shard by shard, in its shard map (CouchDB: Shard Management), or with a new database and `tilecouch mirror`.')
  if (q > 4 * advice.q) how.push(`Shards cannot be merged. ${q} do no harm but make views and feeds slower; a new database with --shards ${advice.q} and \`tilecouch mirror\` would do.`)
  return { fits: q >= advice.q && n >= advice.n, how }
}
