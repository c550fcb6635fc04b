import assert from 'node:assert/strict'
import { Store } from '../../loader/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { onEachStore } from '../support/backends.js'
import { png, square } from '../support/tiles.js'
import { belonging, shownAt, tilesOf } from './naive.js'
import { caughtUp, documentsOf, replicationOf } from './part.js'

const SINCE = '2021-06-01T00:00:00Z'
const at = year => `${year}-01-01T00:00:00Z`
const TILE = { layer: 'osm', z: 5, x: 3, y: 3 }
const HEAD = 'osm:5:3:3'
const version = (year, seed = year) => ({ ...TILE, time: at(year), bytes: png(seed) })
const past = year => `${HEAD}@${at(year)}`

onEachStore('A mirror since a time', backend => {
  let from, to, store, stop, live, running

  beforeEach(async () => {
    [from, to] = [await backend.database(), await backend.database()]
    store = await Store.create(from)
    stop = new AbortController()
    live = undefined
  })

  afterEach(async () => {
    stop.abort()
    if (live) assert.equal((await running).code, 'ABORTED')
  })

  async function follow () {
    live = await replicationOf(from, to, { since: SINCE }, { live: true, signal: stop.signal })
    running = live.run().catch(error => error)
    await caughtUp(live, from)
  }

  const load = async (...versions) => {
    for (const one of versions) await store.write([one])
  }

  const remove = async id => {
    const { _id, _rev } = await store.couch.get(id)
    await store.couch.bulk([{ _id, _rev, _deleted: true }])
  }

  /** Ids of the tile's versions at the mirror, when it has heard of everything. */
  async function held (url = to) {
    if (live) await caughtUp(live, from)
    return (await documentsOf(url)).map(({ _id: id }) => id).filter(id => id.startsWith(HEAD))
  }

  /** From then on the mirror shows what the source shows. */
  async function agrees () {
    const times = [SINCE, '2021-12-01T00:00:00Z', at(2022), at(2023), at(2024), at(2099)]
    const [source, mirror] = (await Promise.all([from, to].map(documentsOf))).map(tilesOf)
    for (const [tile, versions] of source) {
      assert.equal(shownAt(mirror.get(tile) ?? [], times), shownAt(versions, times), tile)
    }
  }

  it('holds the version that was visible at that time and all later ones', async () => {
    await load(version(2019), version(2020), version(2021), version(2022), version(2023))
    await follow()
    assert.deepEqual(await held(), [HEAD, past(2021), past(2022)])
    await agrees()
  })

  it('holds only the head of a tile that has not changed since that time', async () => {
    await load(version(2019), version(2020), version(2021))
    await follow()
    assert.deepEqual(await held(), [HEAD])
    await agrees()
  })

  it('gets the version that was visible at that time when its tile changes', async () => {
    await load(version(2019), version(2020))
    await follow()
    await load(version(2023))
    assert.deepEqual(await held(), [HEAD, past(2020)])
    await agrees()
  })

  it('gets the past version of a load that has not written the head yet', async () => {
    await load(version(2019), version(2020))
    await follow()
    const { _rev, ...head } = await store.couch.get(HEAD)
    const image = { tile: { content_type: 'image/png', data: png(2020).toString('base64') } }
    await store.couch.put({ ...head, _id: past(2020), current: false, _attachments: image })
    assert.deepEqual(await held(), [HEAD, past(2020)])
    await load(version(2023))
    assert.deepEqual(await held(), [HEAD, past(2020)])
    await agrees()
  })

  it('gets the version before the head when the head is deleted', async () => {
    await load(version(2019), version(2020), version(2021))
    await follow()
    assert.deepEqual(await held(), [HEAD])
    await remove(HEAD)
    assert.deepEqual(await held(), [past(2020)])
    await agrees()
  })

  it('gets the version before the head when another program overwrites the head', async () => {
    await load(version(2019), version(2020), version(2021))
    await follow()
    const image = { tile: { content_type: 'image/png', data: png(1).toString('base64') } }
    await store.couch.put({ ...await store.couch.get(HEAD), time: at(2024), _attachments: image })
    assert.deepEqual(await held(), [HEAD, past(2020)])
    await agrees()
  })

  it('gets the version before the head when it reads only the last of several changes', async () => {
    await load(version(2019), version(2020))
    const first = await replicationOf(from, to, { since: SINCE })
    await first.run()
    assert.deepEqual(await held(), [HEAD])
    await remove(HEAD)
    await load(version(2024))
    assert.deepEqual((await documentsOf(from)).map(({ _id: id }) => id).filter(id => id.startsWith(HEAD)),
      [HEAD, past(2019)])
    await (await replicationOf(from, to, { since: SINCE })).run()
    assert.deepEqual(await held(), [HEAD, past(2019)])
    await agrees()
  })

  it('gets the version before a deleted one, even if that one has exactly the start time', async () => {
    await load(version(2019), version(2020), { ...version(2021), time: SINCE }, version(2023))
    await follow()
    assert.deepEqual(await held(), [HEAD, `${HEAD}@${SINCE}`])
    await remove(`${HEAD}@${SINCE}`)
    assert.deepEqual(await held(), [HEAD, past(2020)])
    await remove(past(2020))
    assert.deepEqual(await held(), [HEAD, past(2019)])
    await remove(past(2019))
    assert.deepEqual(await held(), [HEAD])
    await agrees()
  })

  it('gets a version that is loaded into the visible past, and keeps the former one', async () => {
    await load(version(2019), version(2023))
    await follow()
    await load(version(2020))
    assert.deepEqual(await held(), [HEAD, past(2019), past(2020)])
    await load(version(2018))
    assert.deepEqual(await held(), [HEAD, past(2019), past(2020)])
    await agrees()
    await remove(past(2019))
    assert.deepEqual(await held(), [HEAD, past(2020)], 'what is deleted at the source is deleted here')
  })

  it('holds the gone version that was visible at that time', async () => {
    await load(version(2019), { ...TILE, time: at(2020), gone: true }, version(2023))
    await follow()
    assert.deepEqual(await held(), [HEAD, past(2020)])
    await agrees()
  })

  it('copies the same documents through the /db of a gateway', async () => {
    await load(version(2019), version(2020), version(2023))
    await store.write(square({ layer: 'day', time: at(2019), seed: x => x }))
    await store.write(square({ layer: 'day', time: at(2020), seed: x => x + 1 }))
    await store.write(square({ layer: 'day', time: at(2022), seed: (x, y) => y % 2 ? x + 2 : undefined }))
    const { url, close } = await startGateway({ db: from, port: 0, logLevel: 'silent', dbAccess: true })
    try {
      const status = await (await replicationOf(`${url.replace(/\/$/, '')}/db`, to, { since: SINCE })).run()
      assert.equal(status.refused + status.absent, 0)
    } finally {
      await close()
    }
    assert.deepEqual((await documentsOf(to)).map(({ _id: id }) => id),
      [...belonging(await documentsOf(from), { since: SINCE })])
    await agrees()
  })
})
