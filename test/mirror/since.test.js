// Mirrors with `since` hold the version that was visible at that time, and all later ones.
import assert from 'node:assert/strict'
import { Store } from '../../loader/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { onEachStore } from '../support/backends.js'
import { png, square, yearStart } from '../support/tiles.js'
import { belonging, shownAt, tilesOf } from './naive.js'
import { caughtUp, documentsOf, replicationOf } from './part.js'

const SINCE = '2021-06-01T00:00:00Z'
const TILE = { layer: 'osm', z: 5, x: 3, y: 3 }
const HEAD = 'osm:5:3:3'
const version = year => ({ ...TILE, time: yearStart(year), bytes: png(year) })
const past = year => `${HEAD}@${yearStart(year)}`
const image = seed => ({ tile: { content_type: 'image/png', data: png(seed).toString('base64') } })

const load = (...years) => async store => {
  for (const year of years) await store.write([version(year)])
}
const remove = id => async store => {
  const { _rev } = await store.couch.get(id)
  await store.couch.bulk([{ _id: id, _rev, _deleted: true }])
}
/** Writes the past copy of a load that has not written the head yet. */
const beginLoad = year => async store => {
  const { _rev, ...head } = await store.couch.get(HEAD)
  await store.couch.put({ ...head, _id: past(year), current: false, _attachments: image(year) })
}
/** Overwrites the head as a program does that keeps no past versions. */
const overwrite = async store => {
  await store.couch.put({ ...await store.couch.get(HEAD), time: yearStart(2024), _attachments: image(1) })
}

/**
 * Each case: the expectation, a load before the mirror starts, and the ids that the mirror holds then. Pairs of a
 * change of the source and the ids after it follow.
 * @type {[string, (store: any) => Promise<void>, string[], ...[(store: any) => Promise<void>, string[]][]][]}
 */
const cases = [
  ['the version that was visible at that time and all later ones', load(2019, 2020, 2021, 2022, 2023),
    [HEAD, past(2021), past(2022)]],
  ['only the head of a tile that has not changed since that time', load(2019, 2020, 2021), [HEAD]],
  ['the version that was visible at that time when its tile changes', load(2019, 2020), [HEAD],
    [load(2023), [HEAD, past(2020)]]],
  ['the past version of a load that has not written the head yet', load(2019, 2020), [HEAD],
    [beginLoad(2020), [HEAD, past(2020)]], [load(2023), [HEAD, past(2020)]]],
  ['the version before the head when the head is deleted', load(2019, 2020, 2021), [HEAD],
    [remove(HEAD), [past(2020)]]],
  ['the version before the head when another program overwrites the head', load(2019, 2020, 2021), [HEAD],
    [overwrite, [HEAD, past(2020)]]],
  ['the version before a deleted one, even if that one has exactly the start time',
    async store => {
      await load(2019, 2020)(store)
      await store.write([{ ...version(2021), time: SINCE }])
      await load(2023)(store)
    }, [HEAD, `${HEAD}@${SINCE}`],
    [remove(`${HEAD}@${SINCE}`), [HEAD, past(2020)]], [remove(past(2020)), [HEAD, past(2019)]],
    [remove(past(2019)), [HEAD]]],
  ['a version that is loaded into the visible past, and the former one unless it is deleted', load(2019, 2023),
    [HEAD, past(2019)],
    [load(2020), [HEAD, past(2019), past(2020)]], [load(2018), [HEAD, past(2019), past(2020)]],
    [remove(past(2019)), [HEAD, past(2020)]]],
  ['the gone version that was visible at that time',
    async store => {
      await load(2019)(store)
      await store.write([{ ...TILE, time: yearStart(2020), gone: true }])
      await load(2023)(store)
    }, [HEAD, past(2020)]]
]

onEachStore('A mirror since a time', backend => {
  let from, to, store

  beforeEach(async () => {
    [from, to] = [await backend.database(), await backend.database()]
    store = await Store.create(from)
  })

  /** The ids of the versions of the tile in a database. */
  const versionsIn = async url => (await documentsOf(url)).map(({ _id: id }) => id).filter(id => id.startsWith(HEAD))

  /** The mirror shows the same as the source at all times from `SINCE` on. */
  async function assertSameView () {
    const times = [SINCE, '2021-12-01T00:00:00Z', yearStart(2022), yearStart(2023), yearStart(2024), yearStart(2099)]
    const [source, mirror] = (await Promise.all([from, to].map(documentsOf))).map(tilesOf)
    for (const [tile, versions] of source) {
      assert.equal(shownAt(mirror.get(tile) ?? [], times), shownAt(versions, times), tile)
    }
  }

  for (const [expectation, fill, firstIds, ...steps] of cases) {
    it(`holds ${expectation}`, async () => {
      await fill(store)
      const stop = new AbortController()
      const live = await replicationOf(from, to, { since: SINCE }, { live: true, signal: stop.signal })
      const running = live.run().catch(error => error)
      try {
        for (const [applyChange, expectedIds] of [[async () => {}, firstIds], ...steps]) {
          await applyChange(store)
          await caughtUp(live, from)
          assert.deepEqual(await versionsIn(to), expectedIds)
          await assertSameView()
        }
      } finally {
        stop.abort()
        assert.equal((await running).code, 'ABORTED')
      }
    })
  }

  it('holds the version before the head when it reads only the last of several changes', async () => {
    const runMirror = async () => {
      await (await replicationOf(from, to, { since: SINCE })).run()
      return versionsIn(to)
    }
    await load(2019, 2020)(store)
    assert.deepEqual(await runMirror(), [HEAD])
    await remove(HEAD)(store)
    await load(2024)(store)
    assert.deepEqual(await versionsIn(from), [HEAD, past(2019)])
    assert.deepEqual(await runMirror(), [HEAD, past(2019)])
    await assertSameView()
  })

  it('copies the same documents through the /db of a gateway', async () => {
    await load(2019, 2020, 2023)(store)
    for (const [year, seed] of [[2019, x => x], [2020, x => x + 1], [2022, (x, y) => y % 2 ? x + 2 : undefined]]) {
      await store.write(square({ layer: 'day', time: yearStart(year), seed }))
    }
    const { url, close } = await startGateway({ db: from, port: 0, logLevel: 'silent', dbAccess: true })
    try {
      const status = await (await replicationOf(`${url.replace(/\/$/, '')}/db`, to, { since: SINCE })).run()
      assert.equal(status.refused + status.absent, 0)
    } finally {
      await close()
    }
    assert.deepEqual((await documentsOf(to)).map(({ _id: id }) => id),
      [...belonging(await documentsOf(from), { since: SINCE })])
    await assertSameView()
  })
})
