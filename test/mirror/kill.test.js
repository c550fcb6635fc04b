// A server or the mirror is killed at random moments. In the end the target has every document once, and few bytes were
// read twice: a link to the source counts them. TILECOUCH_KILL_ROUNDS (kills) and TILECOUCH_KILL_TILES make it a long
// run.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { random } from '../../bench/tiles.js'
import { end, until } from '../../bench/wait.js'
import { isAdministrative } from '../../core/index.js'
import { json } from '../support/backends.js'
import { startCommand } from '../support/command.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { differences } from './compare.js'
import { startLink } from './link.js'
import { createLargeOrigin } from '../support/bad-lines.js'

const KILLS = +(process.env.TILECOUCH_KILL_ROUNDS ?? 2)
const TILES = +(process.env.TILECOUCH_KILL_TILES ?? 3000)
const SIZE = +(process.env.TILECOUCH_KILL_SIZE ?? 5000) // bytes
const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const PATIENCE = 60000 + TILES * 50 // milliseconds
const IN_FLIGHT = 4 * 0.7e6 // bytes that are in flight when a process is killed, at most
const VICTIMS = ['source', 'target', 'mirror']

const kinds = { embedded: startEmbeddedProcess, CouchDB: findCouchDb() && startCouchDb }

for (const [kind, start] of Object.entries(kinds)) {
  const suite = start ? describe : describe.skip
  suite(`a mirror that is interrupted on ${kind} (seed ${SEED})`, () => {
    const servers = /** @type {Record<string, any>} */ ({})
    const next = random(SEED)
    let from, link
    before(async function () {
      this.timeout(PATIENCE)
      servers.source = await start()
      servers.target = await start()
      from = `${servers.source.url}/from`
      await createLargeOrigin(from, { count: Math.round(TILES / 1.25), size: SIZE })
      link = await startLink(from)
    })
    after(async () => {
      await link?.close()
      await servers.source?.close()
      await servers.target?.close()
    })

    it(`loses nothing, writes nothing twice and reads little again after ${KILLS} kills`, async () => {
      const cleanUrl = `${servers.target.url}/clean`
      assert.equal((await startMirror(cleanUrl).ended).code, 0)
      const cleanBytes = link.bytes.down
      const cleanCounts = await countDocuments(cleanUrl)

      const to = `${servers.target.url}/to`
      link.bytes.down = 0
      let running = startMirror(to)
      const killCounts = { source: 0, target: 0, mirror: 0 }
      for (let kill = 0; kill < KILLS; kill++) {
        const victim = VICTIMS[(kill + Math.floor(next() * 2)) % VICTIMS.length]
        const killAfter = cleanBytes * (kill + next()) / KILLS
        await until(() => link.bytes.down >= killAfter || running.child.exitCode !== null,
          { timeout: PATIENCE, every: 1, what: `${killAfter} bytes` })
        killCounts[victim]++
        if (victim === 'mirror') {
          await end(running.child, 'SIGKILL')
          running = startMirror(to)
        } else {
          await servers[victim].kill()
          await servers[victim].start()
          if (running.child.exitCode !== null) running = startMirror(to)
        }
      }
      assert.equal((await running.ended).code, 0, 'it waits for the servers to come back')

      const excess = link.bytes.down / cleanBytes - 1
      const figures = { kind, seed: SEED, kills: killCounts, tiles: TILES, clean: cleanBytes, bytes: link.bytes.down }
      console.log(`      ${JSON.stringify({ ...figures, more: `${(100 * excess).toFixed(1)} %` })}`)
      assert.deepEqual(await differences(from, to), [])
      assert.deepEqual(await countDocuments(to), cleanCounts, 'each revision is there as often as after a clean run')
      assert.ok(link.bytes.down <= 1.01 * cleanBytes + KILLS * IN_FLIGHT, `${link.bytes.down} bytes for ${cleanBytes}`)
    }).timeout(PATIENCE)

    const startMirror = to => startCommand(['mirror', link.url, to, '--json'])
  })
}

/** Counts documents and changes of a database, except work documents: each run of a mirror writes one to its target. */
async function countDocuments (url) {
  const { doc_count: docs, doc_del_count: deleted, update_seq: seq } = await json(url)
  const { results } = await json(`${url}/_changes`)
  const generations = results.filter(({ id }) => isAdministrative(id))
    .map(({ changes: [{ rev }] }) => Number.parseInt(rev))
  const workWrites = generations.reduce((sum, generation) => sum + generation, 0)
  return { docs: docs - generations.length, deleted, seq: Number.parseInt(seq) - workWrites }
}
