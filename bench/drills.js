// Disasters, practised: a server killed in a load, indexes lost, a database lost, a layer removed by mistake, a server lost.
// Each ends with a store that is compared with what it was; the figures are what docs/operations.md tells.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findCouchDb, startCouchDb } from './couchdb.js'
import { fill, sizesOf } from './drills/data.js'
import { databaseLost, indexesLost, killedInLoad, layerRemoved, serverLost } from './drills/disasters.js'
import { stoppable } from './stoppable.js'

/** @param {{quick: boolean, log: (text: string) => void}} options */
export const run = ({ quick, log }) => stoppable(log, async ({ signal, closing }) => {
  if (!findCouchDb()) throw new Error('drills kill their servers: set COUCHDB_BIN, or put couchdb on the PATH')
  const tiles = quick ? 2000 : 20_000
  const [server, other] = [await startCouchDb(), await startCouchDb()]
  closing.push(() => server.close(), () => other.close())
  const folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-drills-'))
  closing.push(() => rm(folder, { recursive: true, force: true }))
  const stage = { server, other, folder, tiles, signal, log }

  const { url, seconds } = await fill(stage)
  log(`filled: ${tiles} tiles of 10 kB, three editions, in ${seconds} s`)
  const sizes = await sizesOf(url, log)
  const drills = []
  for (const drill of [killedInLoad, indexesLost, databaseLost, layerRemoved, serverLost]) {
    signal.throwIfAborted()
    const result = await drill({ ...stage, url })
    drills.push(result)
    log(`${result.drill}: ${Object.entries(result.figures).map(([what, figure]) => `${what} ${figure}`).join(', ')}`)
  }
  return { tiles, sizes, drills }
})
