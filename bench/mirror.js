// Compares our mirror with CouchDB's own replicator, between two servers, at three sizes of tiles.
import { findCouchDb, startCouchDb } from './couchdb.js'
import { copyAll } from './mirror/copies.js'
import { memoryOf } from './mirror/memory.js'
import { stoppable } from './stoppable.js'

export const run = ({ server, quick, log }) => stoppable(log, async ({ signal, closing }) => {
  const scale = quick
    ? { tiles: 1500, bytes: [3000, 10_000], rounds: 1, remembered: 5000 }
    // bytes: the sizes of a tile, measured one after the other; remembered: tiles of the memory measurement
    : { tiles: 20_000, bytes: [3000, 10_000, 50_000], rounds: 1, remembered: 100_000 }
  const secondServer = findCouchDb() ? await startCouchDb() : undefined
  if (secondServer) closing.push(() => secondServer.close())
  const target = secondServer?.url ?? server
  log(secondServer ? 'two servers on one machine' : 'one server for both sides: set COUCHDB_BIN for a second one')
  const copies = await copyAll({ server, target, ...scale, signal, closing, log })
  const memory = await memoryOf({ server, target, tiles: scale.remembered, signal, closing, log })
  const budgets = [...copies.budgets, ...memory.budgets]
  const { bytes: _, ...settings } = scale // `sizes` contains the bytes
  return { ...settings, servers: secondServer ? 2 : 1, sizes: copies.sizes, memory: memory.figures, budgets }
})
