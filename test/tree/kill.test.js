// The follower or the store is killed at random moments. In the end the trees agree with the store. A reader that reads
// them all the time sees only whole versions, in their order. TILECOUCH_KILL_ROUNDS makes it a long run.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { Store } from '../../loader/index.js'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { random } from '../../bench/tiles.js'
import { end, until } from '../../bench/wait.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { useFolder } from '../support/folder.js'
import { square, yearStart } from '../support/tiles.js'
import { checkTrees, edition } from '../support/trees.js'
import { Watcher } from './watcher.js'
import { startCommand } from '../support/command.js'
import { publishFunctions } from '../support/published.js'

const ROUNDS = +(process.env.TILECOUCH_KILL_ROUNDS ?? 2)
const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const SIDE = 12

/** The content of a tile in an edition. Later editions change some tiles and remove a few. */
function seedOf (index, x, y) {
  if (index === 0) return x * SIDE + y
  if ((x + y + index) % 4) return undefined
  return (x + index) % 7 ? 1000 * index + x * SIDE + y : null
}

const kinds = { embedded: startEmbeddedProcess, CouchDB: findCouchDb() && startCouchDb }

for (const [kind, start] of Object.entries(kinds)) {
  const suite = start ? describe : describe.skip
  suite(`trees that follow a ${kind} store with interruptions (seed ${SEED})`, () => {
    const folder = useFolder()
    const next = random(SEED)
    let server
    before(async function () {
      this.timeout(60000)
      server = await start()
    })
    after(() => server?.close())

    for (const victim of ['follower', 'store']) {
      it(`are correct after the ${victim} was killed several times`, async () => {
        const url = `${server.url}/kill_${victim}`
        const store = await Store.create(url)
        await store.defineLayer('osm', { format: 'png' })
        await publishFunctions(store)
        const to = folder.path('tiles')
        const editions = Array.from({ length: ROUNDS + 1 }, (_, index) => square({
          layer: 'osm', time: yearStart(2010 + index), side: SIDE, seed: (x, y) => seedOf(index, x, y)
        }))
        const watcher = new Watcher(to)
        for (const tiles of editions) watcher.expect(tiles)
        watcher.start()
        await edition(store, editions[0])
        let follower = run(to, url)
        try {
          for (const tiles of editions.slice(1)) {
            const loading = load(store, tiles)
            loading.catch(() => {})
            await follower.after(Math.floor(next() * 25))
            if (victim === 'follower') {
              await end(follower.child, 'SIGKILL')
              follower = run(to, url)
            } else {
              await server.kill()
              await server.start()
            }
            await loading
            if (tiles !== editions[1]) continue
            // wait until the watcher has read every tile: only then can it see later changes
            await until(() => follower.state() === 'following', { timeout: 60000, what: 'the first two editions' })
            const { reads } = watcher
            await until(() => watcher.reads > reads + 6 * SIDE * SIDE,
              { timeout: 60000, what: 'somebody who has read all of it' })
          }
          let fault
          const isComplete = () => checkTrees(url, to)
            .then(({ trees }) => trees.length === editions.length + 1, error => { fault = error })
          await until(() => {
            assert.equal(follower.child.exitCode, null, `the follower goes on: ${follower.errors()}`)
            return isComplete()
          }, { timeout: 60000, every: 200 }).catch(error => { throw error.code === 'ERR_ASSERTION' ? error : fault })
          await until(() => watcher.changed.size > 10, { what: 'somebody who sees what changed' })
          await watcher.stop()
          await until(() => follower.state() === 'following', { timeout: 60000, what: 'nothing more to do' })
          await end(follower.child, 'SIGTERM')
          assert.equal(follower.child.exitCode, 0, follower.errors())
          assert.deepEqual(readdirSync(path.join(to, '.tilecouch')).sort(), ['osm', 'osm.json'])
        } finally {
          await watcher.stop().catch(() => {})
          await end(follower.child, 'SIGKILL')
          await store.destroy().catch(() => {})
        }
      }).timeout(180000)
    }

    /** Loads an edition in small writes, so that the follower gets many changes. */
    async function load (store, tiles) {
      await store.putEdition('osm', tiles[0].time, { started: tiles[0].time })
      for (let offset = 0; offset < tiles.length; offset += 6) await store.write(tiles.slice(offset, offset + 6))
      await edition(store, tiles)
    }

    function run (to, url) {
      const { child, said } = startCommand(['export', 'osm', to, '--tree', '--live', '--json', '--db', url])
      return {
        child,
        errors: () => said.err,
        /** The last state that it printed. */
        state: () => said.out.slice(0, said.out.lastIndexOf('\n') + 1).split('\n')
          .filter(Boolean).map(line => JSON.parse(line).event).findLast(event => !event.startsWith('tree')),
        /** Resolves after so many changes of the folder, or when the process follows. */
        async after (changes) {
          let changeCount = 0
          let previousLook = ''
          await until(() => {
            if (child.exitCode !== null) throw new Error(`the follower ended: ${said.err}`)
            const currentLook = snapshot(to)
            if (currentLook !== previousLook) changeCount++
            previousLook = currentLook
            return changeCount > changes || (said.out.includes('following') && changeCount > 2)
          }, { every: 5, timeout: 60000, what: `${changes} changes` })
        }
      }
    }
  })
}

/** Lists the folder as text, to detect changes. */
function snapshot (to) {
  try {
    return readdirSync(path.join(to, '.tilecouch/osm/tmp')).join() + readdirSync(to)
      .join() + readdirSync(path.join(to, 'osm/5')).map(x => readdirSync(path.join(to, 'osm/5', x)).length).join()
  } catch {
    return ''
  }
}
