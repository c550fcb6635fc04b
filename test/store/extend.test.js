// `store.extend`: it changes the expiry time and origin of heads without a new version.
import assert from 'node:assert/strict'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants, checkLoaded } from '../support/invariants.js'
import { useStore } from '../support/store.js'
import { png, square } from '../support/tiles.js'
import { publishFunctions } from '../support/published.js'

const [T1, T2, T3, T4] =
  ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z', '2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
const ID = 'osm:3:1:2'
const tile = (time, seed, fields) => ({ layer: 'osm', z: 3, x: 1, y: 2, time, bytes: png(seed), ...fields })
const origin = { url: 'https://example.org/3/1/2.png', etag: '"a"' }

onEachStore('extending heads', backend => {
  const fixture = useStore(backend)

  const head = () => fixture.store.head('osm', 3, 1, 2)

  it('changes only their expiry time and their origin', async () => {
    await fixture.store.write([tile(T1, 1, { expires: T2, origin })], { stored: T1 })
    const doc = await fixture.store.couch.get(ID)
    await fixture.store.couch.put({ ...doc, timestamp: 1234.5 }) // a field of another program
    const headBefore = await head()
    const latest = { ...origin, etag: '"b"', checked: T2 }
    const { extended, changed } =
      await fixture.store.extend([{ id: ID, rev: headBefore.rev, expires: T3, origin: latest }])
    const headAfter = await head()
    assert.deepEqual([[...extended], changed], [[[ID, headAfter.rev]], []])
    assert.notEqual(headAfter.rev, headBefore.rev)
    assert.deepEqual(headAfter, { ...headBefore, rev: headAfter.rev, expires: T3, origin: latest })
    assert.equal((await fixture.store.couch.get(ID)).timestamp, 1234.5)
    assert.equal((await fixture.store.versions('osm', 3, 1, 2)).length, 1, 'no new version')
    await checkLoaded(fixture.url, [tile(T1, 1)])
  })

  it('removes an expiry time, keeps fields that are not named, and writes nothing without a change', async () => {
    await fixture.store.write([tile(T1, 1, { expires: T2, origin })])
    const { extended: first } = await fixture.store.extend([{ id: ID, expires: T3 }])
    assert.deepEqual((await head()).origin, origin)
    const { extended: second } = await fixture.store.extend([{ id: ID, expires: T3, origin: { ...origin } }])
    assert.deepEqual([...second], [...first], 'the same revision')
    await fixture.store.extend([{ id: ID, expires: null }])
    assert.equal((await fixture.store.couch.get(ID)).expires, undefined)
  })

  it('skips heads that others overwrote or deleted, and returns their ids', async () => {
    await fixture.store.write([tile(T1, 1)])
    const { rev } = await head()
    await fixture.store.write([tile(T2, 2)])
    assert.deepEqual(await fixture.store.extend([{ id: ID, rev, expires: T4 }, { id: 'osm:3:0:0', rev, expires: T4 }]),
      { extended: new Map(), changed: [ID, 'osm:3:0:0'] })
    assert.equal((await head()).expires, undefined)
    const laterHead = await head()
    await fixture.store.couch.request({ method: 'DELETE', path: ID, qs: { rev: laterHead.rev } })
    assert.deepEqual((await fixture.store.extend([{ id: ID, rev: laterHead.rev, expires: T4 }])).changed, [ID])
  })

  it('refuses ids that are not heads, and times that are not exact', async () => {
    await fixture.store.write([tile(T1, 1), tile(T2, 2)])
    await assert.rejects(fixture.store.extend([{ id: `${ID}@${T1}`, expires: T4 }]), { code: 'BAD_ID' })
    await assert.rejects(fixture.store.extend([{ id: 'layer:osm', expires: T4 }]), { code: 'BAD_ID' })
    await assert.rejects(fixture.store.extend([{ id: ID, expires: '2024' }]), { code: 'BAD_TIME' })
    assert.deepEqual(await fixture.store.extend([]), { extended: new Map(), changed: [] })
  })

  it('keeps a gone tile gone', async () => {
    await fixture.store.write([tile(T1, 1)])
    await fixture.store.write([{ layer: 'osm', z: 3, x: 1, y: 2, time: T2, gone: true }])
    assert.equal((await fixture.store.extend([{ id: ID, expires: T4 }])).extended.size, 1)
    const doc = await fixture.store.couch.get(ID)
    assert.deepEqual([doc.gone, doc.expires, doc._attachments], [true, T4, undefined])
    await checkInvariants(fixture.url)
  })

  it('extends more than a thousand heads in one call', async () => {
    const tiles = square({ layer: 'osm', time: T1, side: 33, z: 6, seed: (x, y) => x * 33 + y })
    await fixture.store.write(tiles)
    const { extended, changed } =
      await fixture.store.extend(tiles.map(({ z, x, y }) => ({ id: `osm:${z}:${x}:${y}`, expires: T4, origin })))
    assert.deepEqual([extended.size, changed.length], [33 * 33, 0])
    await checkLoaded(fixture.url, tiles)
  })

  it('loses no version of a load that runs at the same time', async () => {
    const editions =
      [T1, T2, T3, T4].map((time, index) => square({ layer: 'osm', time, seed: (x, y) => index * 100 + x * 8 + y }))
    await fixture.store.write(editions[0])
    const ids = editions[0].map(({ z, x, y }) => `osm:${z}:${x}:${y}`)
    let loading = true
    const extending = (async () => {
      const counts = { extended: 0, changed: 0 }
      for (let round = 0; loading; round++) {
        const roundIds = ids.slice(round % 16 * 4, round % 16 * 4 + 4)
        const heads = await fixture.store.couch.docs(roundIds)
        const checked = new Date(1e12 + round * 1000).toISOString().slice(0, 19) + 'Z'
        const result = await fixture.store.extend(
          heads.map(({ id, doc }) => ({ id, rev: doc._rev, expires: T4, origin: { ...origin, checked } }))
        )
        counts.extended += result.extended.size
        counts.changed += result.changed.length
      }
      return counts
    })()
    for (const edition of editions.slice(1)) {
      // a write may fail for a tile that is extended all the time: repeat it until no tile fails
      for (let failed = 1; failed; ({ failed } = await fixture.store.write(edition, { batch: 16, concurrency: 2 })));
    }
    loading = false
    const { extended } = await extending
    assert.ok(extended > 0)
    await checkLoaded(fixture.url, editions.flat())
  })

  it('is allowed by a published store for its writers only', async () => {
    await fixture.store.write([tile(T1, 1)])
    await publishFunctions(fixture.store)
    assert.equal((await fixture.store.extend([{ id: ID, expires: T4, origin }])).extended.size, 1)
    assert.deepEqual((await head()).bytes, png(1))
    if (!backend.supports.users) return
    const anonymousUrl = new URL(fixture.url)
    anonymousUrl.username = anonymousUrl.password = ''
    await assert.rejects((await Store.open(anonymousUrl.href)).extend([{ id: ID, expires: T3 }]),
      error => ['REFUSED', 'UNAUTHORIZED', 'FORBIDDEN'].includes(error.code))
  })
})
