// The loader or the database is killed at a random moment of a first or a second edition. After the load is run again,
// every invariant holds and every version has its bytes. TILECOUCH_KILL_ROUNDS makes it a long run.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { random } from '../../bench/tiles.js'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { json } from '../support/backends.js'
import { startCommand } from '../support/command.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { checkInvariants, checkLoaded } from '../support/invariants.js'
import { square } from '../support/tiles.js'
import { until } from '../../bench/wait.js'

const ROUNDS = +(process.env.TILECOUCH_KILL_ROUNDS ?? 1)
const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const SIDE = 24

const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z']
/** A third of the tiles is changed, some are gone, the others are the same. */
const secondSeed = (x, y) => {
  if ((x + y) % 11 === 0) return null
  return (x * y) % 3 ? x * SIDE + y : 1000 + x * SIDE + y
}
const editions = [
  square({ layer: 'osm', time: T1, side: SIDE, seed: (x, y) => x * SIDE + y }),
  square({ layer: 'osm', time: T2, side: SIDE, seed: secondSeed })
]

const kinds = {
  embedded: startEmbeddedProcess,
  CouchDB: findCouchDb() && startCouchDb
}

for (const [kind, start] of Object.entries(kinds)) {
  const suite = start ? describe : describe.skip
  suite(`a load that is interrupted on ${kind} (seed ${SEED})`, () => {
    let server, folder
    const next = random(SEED)
    before(async function () {
      this.timeout(60000)
      server = await start()
      folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-kill-'))
      for (const edition of editions) await writeFolder(path.join(folder, edition[0].time.slice(0, 4)), edition)
    })
    after(async () => {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    })

    for (let round = 1; round <= ROUNDS; round++) {
      for (const victim of ['loader', 'database']) {
        it(`loses nothing when the ${victim} is killed, round ${round}`, async function () {
          this.timeout(120000)
          const url = `${server.url}/kill_${kind.toLowerCase()}_${victim}_${round}`
          for (const [index, edition] of editions.entries()) {
            await loadAndKill(url, edition[0].time, victim)
            await checkInvariants(url, { settled: false })
            const { code, err } = await runLoad(url, edition[0].time).ended
            assert.equal(code, 0, err)
            await checkLoaded(url, editions.slice(0, index + 1).flat())
          }
          const tiles = await checkInvariants(url)
          assert.equal(tiles.size, SIDE * SIDE)
          assert.deepEqual(await json(url, { method: 'DELETE' }), { ok: true })
        })
      }
    }

    async function loadAndKill (url, time, victim) {
      const countBefore = await countDocuments(url)
      const expected = time === T1 ? SIDE * SIDE : SIDE * SIDE / 2
      const threshold = countBefore + Math.floor(next() * expected)
      const load = runLoad(url, time)
      await until(async () => load.child.exitCode !== null || await countDocuments(url) > threshold,
        { timeout: 60000, every: 2, what: `${threshold} documents` })
      if (victim === 'loader') {
        load.child.kill('SIGKILL')
        await load.ended
      } else {
        await server.kill()
        await server.start()
        assert.equal((await load.ended).code, 0, 'the loader waits for the database to come back')
      }
    }

    const runLoad = (url, time) => startCommand([
      'load', path.join(folder, time.slice(0, 4)), '--layer', 'osm',
      '--time', time, '--complete', '--batch', '20', '--store-concurrency', '2', '--db', url, '--json'
    ])
  })
}

async function countDocuments (url) {
  try {
    return (await json(url)).doc_count ?? 0
  } catch {
    return 0
  }
}

async function writeFolder (folder, edition) {
  for (const { z, x, y, bytes } of edition) {
    if (!bytes) continue
    const directory = path.join(folder, `${z}`, `${x}`)
    await mkdir(directory, { recursive: true })
    await writeFile(path.join(directory, `${y}.png`), bytes)
  }
}
