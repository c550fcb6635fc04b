// One store made into another: our replicator beside CouchDB's own, between two servers, at three sizes of tiles.
import { findCouchDb, startCouchDb } from './couchdb.js'
import { copyAll } from './mirror/copies.js'
import { memoryOf } from './mirror/memory.js'
import { stoppable } from './stoppable.js'

export const run = ({ server, quick, log }) => stoppable(log, async ({ signal, closing }) => {
  const scale = quick
    ? { tiles: 1500, bytes: [3000, 10_000], rounds: 1, remembered: 5000 }
    // bytes of a tile, each with its copies; remembered: tiles for the memory
    : { tiles: 20_000, bytes: [3000, 10_000, 50_000], rounds: 1, remembered: 100_000 }
  const other = findCouchDb() ? await startCouchDb() : undefined
  if (other) closing.push(() => other.close())
  const target = other?.url ?? server
  log(other ? 'two servers on one machine' : 'one server for both sides: set COUCHDB_BIN for a second one')
  const copies = await copyAll({ server, target, ...scale, signal, closing, log })
  const memory = await memoryOf({ server, target, tiles: scale.remembered, signal, closing, log })
  const budgets = [...copies.budgets, ...memory.budgets]
  const { bytes: _, ...rest } = scale // it is in the sizes
  return { ...rest, servers: other ? 2 : 1, sizes: copies.sizes, memory: memory.figures, budgets }
})
