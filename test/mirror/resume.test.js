// A mirror that is run again goes on where both sides agree that it was.
import assert from 'node:assert/strict'
import { cp, rm } from 'node:fs/promises'
import path from 'node:path'
import { Store } from '../../loader/index.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { backends, json, onEachStore, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { differences } from './compare.js'
import { T2, edition, fill, replication, write } from '../support/bad-lines.js'

const COUNT = 300
const small = { page: 20, pages: 2, batch: 5, smallBytes: 1, concurrency: 2, checkpoint: 0 }

onEachStore('a mirror that is run again', backend => {
  let from, to

  beforeEach(async () => {
    from = await backend.database()
    to = await backend.database()
    await fill(from, { count: COUNT, size: 500 })
    await request(to, { method: 'PUT' })
  })

  it('goes on where it was stopped, and writes nothing twice', async () => {
    const whole = (await replication(from, to, { dryRun: true }).run()).missing
    let docs = 0
    let changes = 0
    for (let stopped = true; stopped;) {
      const stop = new AbortController()
      const at = docs + 60
      const status = await replication(
        from, to, { limits: small, signal: stop.signal, onProgress: now => { if (docs + now.docs >= at) stop.abort() } }
      ).run().catch(error => {
        assert.equal(error.code, 'ABORTED')
        return error.status
      })
      docs += status.docs
      changes += status.changes
      stopped = stop.signal.aborted && docs < whole
    }
    // what was being written when it was stopped is there, and not counted
    assert.ok(docs <= whole, `${docs} of ${whole}`)
    assert.ok(changes < 2.5 * whole, `${changes} changes for ${whole} documents`)
    assert.deepEqual(await differences(from, to), [])
    assert.equal((await replication(from, to).run()).docs, 0)
  })

  it('reads nothing again when nothing changed', async () => {
    await replication(from, to).run()
    const { changes, checked } = await replication(from, to).run()
    assert.deepEqual([changes, checked], [0, 0])
  })

  it('copies everything again to a target that was created again', async () => {
    const { docs } = await replication(from, to).run()
    await request(to, { method: 'DELETE' })
    await request(to, { method: 'PUT' })
    assert.equal((await replication(from, to).run()).docs, docs)
    assert.deepEqual(await differences(from, to), [])
  })

  it('copies a source that was created again, and removes nothing at the target', async () => {
    await replication(from, to).run()
    await request(from, { method: 'DELETE' })
    await write(await Store.create(from), edition({ count: 20, size: 500, seed: 7, z: 9 }))
    await replication(from, to).run()
    assert.equal((await request(`${to}/osm%3A9%3A0%3A0`)).status, 200)
    assert.equal((await request(`${to}/osm%3A10%3A1%3A0`)).status, 200)
  })

  it('reads the whole feed again when only one side has the checkpoint', async () => {
    await replication(from, to).run()
    const { checkpoint, changes } = await replication(from, to).run()
    assert.equal(changes, 0)
    const { _rev: rev } = await json(`${from}/_local/${checkpoint}`)
    await request(`${from}/_local/${checkpoint}?rev=${rev}`, { method: 'DELETE' })
    const again = await replication(from, to).run()
    assert.ok(again.changes > COUNT)
    assert.deepEqual([again.missing, again.docs], [0, 0])
  })
}, { timeout: 60000 })

describe('a mirror of a store that was restored from a backup', function () {
  this.timeout(60000)
  const folder = useFolder()
  const open = name => startEmbedded({ dir: path.join(folder.dir, name), admins: 'everybody' })
  const [other] = backends

  for (const restored of ['source', 'target']) {
    it(`loses no document when the ${restored} was restored`, async () => {
      const far = await other.database()
      let server = await open('store')
      const near = () => `${server.url}/tiles`
      const sides = () => restored === 'source' ? [near(), far] : [far, near()]
      await fill(sides()[0], { count: 60, size: 500 })
      await request(sides()[1], { method: 'PUT' })
      await replication(...sides()).run()
      await server.close()
      await cp(path.join(folder.dir, 'store'), path.join(folder.dir, 'backup'), { recursive: true })

      server = await open('store')
      await write(await Store.open(sides()[0]), edition({ count: 40, size: 500, time: T2, seed: 5, z: 11 }))
      await replication(...sides()).run()
      await server.close()
      await rm(path.join(folder.dir, 'store'), { recursive: true })
      await cp(path.join(folder.dir, 'backup'), path.join(folder.dir, 'store'), { recursive: true })

      server = await open('store')
      try {
        await write(await Store.open(sides()[0]), edition({ count: 10, size: 500, time: T2, seed: 6, z: 12 }))
        await replication(...sides()).run()
        const found = await differences(...sides())
        // what the source has lost stays at the target
        assert.deepEqual(found.filter(text => !/^osm:11:.* should not be there$/.test(text) && !/^edition:/.test(text)),
          [])
        if (restored === 'target') assert.deepEqual(found, [])
      } finally {
        await server.close()
      }
    })
  }
})
