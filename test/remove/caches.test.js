// What hears of a removal: the memory of a gateway, a mirror, an area on a device.
import assert from 'node:assert/strict'
import path from 'node:path'
import PouchDB from 'pouchdb-node'
import { OfflineStore } from '../../client/offline/index.js'
import { removeEdition, removeTiles } from '../../loader/maintain/remove/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { until } from '../../bench/wait.js'
import { publishFunctions } from '../support/published.js'
import { startFront } from '../support/client/front.js'
import { replication } from '../support/bad-lines.js'
import { as, onEachStore, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { HISTORY, T, historyOf, useStage, without } from '../support/removals.js'

const limits = { grace: 0 }
const remains = without(without(HISTORY, (tile, year) => year === '2022'), tile => tile === '1/1')

onEachStore('a removed tile or version', backend => {
  const folder = useFolder()
  let store, url
  useStage(backend, stage => ({ store, url } = stage))
  const remove = async () => {
    await removeEdition(store, 'osm', T(2022), { limits })
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 1 }], limits })
  }

  it('leaves the memory of a gateway within a second, and the version before is shown', async function () {
    this.timeout(30000)
    const gateway = await startGateway({ db: url, port: 0, logLevel: 'silent' })
    try {
      const get = async tile => (await fetch(`${gateway.url}/osm/4/${tile}.png`))
      const [, before] = [await get('1/1'), await get('1/4')].map(answer => answer.headers.get('etag'))
      assert.equal((await get('1/1')).status, 200)
      await remove()
      await until(async () => (await get('1/1')).status === 404, { timeout: 1000 })
      const { headers } = await get('1/4')
      assert.notEqual(headers.get('etag'), before)
      assert.equal(headers.get('etag'), `"${(await store.couch.get('osm:4:1:4'))._attachments.tile.digest.slice(4)}"`)
      assert.equal((await get('1/11')).status, 404)
    } finally {
      await gateway.close()
    }
  })

  it('is removed from a mirror by its next run, and heads fall back there too', async function () {
    this.timeout(60000)
    const to = await backend.database()
    await request(to, { method: 'PUT' })
    const mirror = () => replication(url, to).run()
    await mirror()
    assert.deepEqual(await historyOf(to), HISTORY)
    await remove()
    await mirror()
    assert.deepEqual(await historyOf(to), remains)
    if (backend.name === 'embedded') return
    // what was purged before the mirror heard of it is there for ever
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 2 }], purge: true, limits: { ...limits, heard: 0 } })
    await mirror()
    assert.deepEqual(await historyOf(to), remains)
    assert.equal((await request(`${url}/osm:4:1:2`)).status, 404)
  })

  it('is removed from an offline area when the area is refreshed', async function () {
    this.timeout(60000)
    await publishFunctions(store)
    const front = await startFront(url, { files: async () => ({}) })
    const { username, password } = new URL(url)
    const offline =
      new OfflineStore({ remote: as(front.url, username, password), name: path.join(folder.dir, 'device'), PouchDB })
    try {
      await offline.ready
      const area =
        await offline.areas.add({ name: 'all', layer: 'osm', bbox: [-180, -85, 180, 85], zooms: '4', history: true })
      await area.download()
      const [{ db }] = offline.databases('osm')
      const shown = async y => (await db.get(`osm:4:1:${y}`).catch(() => undefined))?.time
      assert.deepEqual([await shown(1), await shown(4)], [T(2020), T(2022)])
      await remove()
      await area.refresh()
      assert.deepEqual([await shown(1), await shown(4)], [undefined, T(2021)])
    } finally {
      await offline.close()
      await front.close()
    }
  })
})
