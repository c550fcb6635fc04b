// An edition on its way over bad lines, to stores that do not want it, that somebody changes meanwhile, and that are
// loaded apart.
import assert from 'node:assert/strict'
import { random } from '../../bench/tiles.js'
import { mirror } from '../../client/mirror/index.js'
import { Store, resolve } from '../../loader/index.js'
import { publish } from '../../loader/publish.js'
import { digestOf } from '../../loader/store/tile.js'
import { furnish } from '../client/support/designs.js'
import { startFront } from '../client/support/front.js'
import { openGateway } from '../gateway/support/stand.js'
import { as, json, onEachStore, request } from '../support/backends.js'
import { checkInvariants, checkLoaded } from '../support/invariants.js'
import { withPeople } from '../support/people.js'
import { png, square } from '../support/tiles.js'
import { useDevices } from './support/devices.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 13999)
const T = year => `${year}-01-01T00:00:00Z`
const SIDE = 12

/** What a flight makes: some tiles new, some others, some the same, some gone. */
const seedOf = (x, y) => (x + y) % 7 === 0 ? null : (x * SIDE + y) % 3 ? 1000 + x * SIDE + y : x * SIDE + y
const flown = () => square({ layer: 'osm', time: T(2024), side: SIDE, seed: seedOf }).map(({ bytes, ...tile }) => ({ ...tile, image: bytes }))
const earlier = () => square({ layer: 'osm', time: T(2023), side: SIDE - 2, seed: (x, y) => x * SIDE + y })

onEachStore(`an edition on its way (seed ${SEED})`, backend => {
  const device = useDevices()
  let url, store, front

  beforeEach(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.write(earlier())
    front = await startFront(url, { files: async () => ({}) })
  })
  afterEach(() => front.close())

  /** A device with the flight on it, which does not wait long for anything. */
  async function ready (limits = { firstBytes: 4096, mostBytes: 4096, leastBytes: 1024 }) {
    const offline = await device(front.url, { limits: { upload: limits } })
    Object.assign(offline.couch.options, { firstDelay: 1, longestDelay: 4 })
    const edition = await offline.edits.begin({ layer: 'osm', time: T(2024) })
    await edition.putAll(flown())
    return { offline, edition }
  }
  const loaded = () => [...earlier(), ...flown().map(({ image, ...tile }) => ({ ...tile, ...(image ? { bytes: image } : { gone: true }) }))]
  const isBulk = ({ path, body }) => path.startsWith('_bulk_docs') && body?.docs?.[0]?.type === 'tile'

  /** Each version stands once, and was written once. */
  async function checkOnce () {
    await checkLoaded(url, loaded())
    const { rows } = await json(`${url}/_all_docs?include_docs=true`)
    for (const { doc } of rows) {
      if (doc.type !== 'tile') continue
      const isAdvanced = doc.current && doc.time === T(2024) && rows.some(({ id }) => id.startsWith(`${doc._id}@`))
      assert.equal(Number.parseInt(doc._rev), 1 + (isAdvanced ? 1 : 0) + (doc.seen?.length ?? 0), doc._id)
    }
  }

  it('arrives once over a line that breaks at any place', async function () {
    this.timeout(60000)
    const next = random(SEED)
    const { edition, offline } = await ready()
    // two of five requests fail: of the usual six tries one question in two hundred gets no answer
    offline.couch.options.retries = 20
    front.rule(() => {
      const dice = next()
      if (dice < 0.15) return { status: 503, body: '{"error":"busy","reason":"busy"}' }
      if (dice < 0.4) return { cut: Math.floor(next() * 40) } // it was done, and nobody heard of it
    })
    await edition.upload()
    assert.ok(front.requests().length > 30)
    await checkOnce()
    const { tiles, created, advanced, unchanged, failed, gone } = await store.edition('osm', T(2024))
    const there = new Set(earlier().map(({ x, y }) => `${x}:${y}`))
    const isThere = ({ x, y }) => there.has(`${x}:${y}`)
    const all = flown()
    assert.deepEqual([tiles, failed], [SIDE * SIDE, 0])
    assert.equal(created, all.filter(tile => !isThere(tile)).length, 'that there is nothing is said as well')
    assert.equal(advanced, all.filter(tile => isThere(tile) && seedOf(tile.x, tile.y) !== tile.x * SIDE + tile.y).length)
    assert.deepEqual([unchanged, gone], [SIDE * SIDE - created - advanced, all.filter(tile => !tile.image).length])
  })

  it('goes on where it broke off, and sends nothing twice', async function () {
    this.timeout(60000)
    const { edition } = await ready()
    let bulks = 0
    const off = front.rule(entry => isBulk(entry) && ++bulks > 8 ? { status: 507, body: '{"error":"disk_full"}' } : undefined)
    await assert.rejects(edition.upload(), { code: 'DISK_FULL' })
    off()
    const { state, sent, unsent } = await edition.status()
    assert.equal(state, 'open')
    assert.ok(sent > 10 && unsent > 10, `${sent} sent, ${unsent} not`)
    assert.equal((await store.edition('osm', T(2024))).finished, undefined, 'it is known to be unfinished')
    front.forget()
    await edition.upload()
    const again = front.requests().filter(isBulk).flatMap(({ body }) => body.docs).filter(({ time }) => time === T(2024))
    assert.ok(again.length <= unsent, `${again.length} documents for ${unsent} tiles`)
    await checkOnce()
    assert.ok((await store.edition('osm', T(2024))).finished)
    assert.equal((await store.edition('osm', T(2024))).tiles, SIDE * SIDE)
  })

  it('stops on request, and says what is not there when nobody answers', async () => {
    const { edition, offline } = await ready()
    const stop = new AbortController()
    await assert.rejects(edition.upload({ signal: stop.signal, onProgress: ({ tiles }) => tiles > 20 && stop.abort() }), { code: 'ABORTED' })
    await assert.rejects(edition.upload({ signal: AbortSignal.abort() }), { code: 'ABORTED' })
    offline.couch.options.retries = 1
    await front.stop()
    await assert.rejects(edition.upload(), { code: 'UNREACHABLE' })
    await front.restart()
    await edition.upload()
    await checkOnce()
  })

  it('is sent once by two who send it at once, and together with another device', async () => {
    const [one, two] = [await ready(), await ready()]
    await Promise.all([one.edition.upload(), one.edition.upload(), two.edition.upload()])
    await checkOnce()
  })

  it('loses nothing to somebody who loads, changes and deletes meanwhile', async () => {
    const { edition } = await ready()
    let rounds = 0
    const later = square({ layer: 'osm', time: T(2025), side: 4, seed: (x, y) => 3000 + x * 4 + y })
    front.rule(async entry => {
      if (!isBulk(entry) || rounds++ > 5) return
      await store.write(later.slice(rounds * 2, rounds * 2 + 6))
      const [{ _id: id }] = entry.body.docs
      const { _rev: rev, current } = await json(`${url}/${id}`)
      if (rounds === 3 && current) await request(`${url}/${id}?rev=${rev}`, { method: 'DELETE' })
    })
    await edition.upload()
    const there = await checkInvariants(url)
    for (const { x, y, image } of flown()) {
      const versions = there.get(`osm:5:${x}:${y}`) ?? []
      const shown = versions.filter(({ time }) => time <= T(2024)).sort((a, b) => a.time < b.time ? -1 : 1).pop()
      assert.ok(image ? shown?.bytes && image.equals(shown.bytes) : !shown?.bytes, `${x}/${y}`)
    }
  })

  it('is refused by what is no store, and by what only reads', async () => {
    const { edition } = await ready()
    const other = await backend.database()
    await request(other, { method: 'PUT' })
    await json(`${other}/_bulk_docs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ docs: [{ _id: 'invoice' }] }) })
    await assert.rejects(edition.upload({ to: other }), { code: 'NOT_A_STORE' })
    await assert.rejects(edition.upload({ to: `${backend.supports.users ? other : url}_none` }), ({ code }) => ['DATABASE_NOT_FOUND', 'UNAUTHORIZED'].includes(code))
    const gateway = await openGateway(url)
    try {
      front.forget()
      await assert.rejects(edition.upload({ to: `${gateway.url}/db` }), { code: 'READ_ONLY' })
    } finally {
      await gateway.close()
    }
    assert.deepEqual((await json(`${other}/_all_docs`)).rows.map(({ id }) => id), ['invoice'])
    assert.equal((await edition.status()).sent, 0)
  })

  it('that went to two masters loses nothing when they meet and are put right', async function () {
    this.timeout(60000)
    const masters = [await backend.database(), await backend.database()]
    const stores = await Promise.all(masters.map(master => Store.create(master)))
    await stores[0].write(square({ layer: 'osm', time: T(2023), side: 4, seed: (x, y) => y ? undefined : x * SIDE }))
    await mirror(masters[0], masters[1])
    for (const one of stores) await furnish(one)
    const devices = [await device(masters[0]), await device(masters[1])]
    const years = [2024, 2025]
    const made = await Promise.all(devices.map((offline, at) => offline.edits.begin({ layer: 'osm', time: T(years[at]) })))
    for (const [at, edition] of made.entries()) {
      await edition.putAll([0, 1, 2, 3].map(x => ({ z: 5, x, y: 0, image: png(500 + at * 10 + x) })))
      await edition.upload()
    }
    for (let turn = 0; turn < 3; turn++) {
      await mirror(masters[0], masters[1])
      await mirror(masters[1], masters[0])
      for (const one of stores) await resolve(one)
    }
    for (const master of masters) {
      const there = await checkInvariants(master)
      for (let x = 0; x < 4; x++) {
        const versions = there.get(`osm:5:${x}:0`).map(({ time, current, bytes }) => [time, current, digestOf(bytes)]).sort()
        assert.deepEqual(versions, [[T(2023), false, digestOf(png(x * SIDE))], [T(2024), false, digestOf(png(500 + x))], [T(2025), true, digestOf(png(510 + x))]])
      }
    }
  })
})

withPeople('the right to send an edition', start => {
  const device = useDevices()
  let server, url, store
  before(async function () {
    this.timeout(60000)
    server = await start()
    url = server.database
    store = await Store.create(url, { public: false })
    await store.write(square({ layer: 'osm', time: T(2023), side: 2, seed: (x, y) => x * 2 + y }))
    await furnish(store)
    await publish(store)
  })
  after(async () => {
    await store?.destroy()
    await server.close()
  })
  const edition = async remote => {
    const offline = await device(remote)
    const made = await offline.edits.begin({ layer: 'osm', time: T(2024) })
    await made.putAll([0, 1].map(x => ({ z: 5, x, y: 0, image: png(50 + x) })))
    return made
  }
  const sequence = async () => (await json(url)).update_seq

  it('is asked for before anything is sent, and may be given with the upload', async () => {
    const made = await edition(as(url))
    const at = await sequence()
    await assert.rejects(made.upload(), { code: 'UNAUTHORIZED' })
    await assert.rejects(made.upload({ name: server.writer[0], password: 'wrong' }), ({ code, message }) => code === 'UNAUTHORIZED' && !/wrong/.test(message))
    await assert.rejects(made.upload({ name: server.reader[0], password: server.reader[1] }), { code: 'FORBIDDEN' })
    await assert.rejects(made.upload({ to: as(url, ...server.reader) }), { code: 'FORBIDDEN' })
    assert.deepEqual([await sequence(), (await made.status()).unsent], [at, 2])
    await made.upload({ name: server.writer[0], password: server.writer[1] })
    assert.equal((await store.head('osm', 5, 0, 0)).time, T(2024))
  })

  it('may hold for a part: what is refused is said, and kept', async () => {
    const doc = { _id: '_design/fence', validate_doc_update: '(function (doc) { if (doc.type === "tile" && doc.x === 1 && doc.time > "2024-06") throw ({ forbidden: "not your country" }) })' }
    await json(`${url}/_design/fence`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(doc) })
    const offline = await device(as(url, ...server.writer))
    const made = await offline.edits.begin({ layer: 'osm', time: T(2025) })
    await made.putAll([0, 1].map(x => ({ z: 5, x, y: 1, image: png(60 + x) })))
    const failures = []
    const { sent, refused, unsent } = await made.upload({ onFailure: failure => failures.push(failure) })
    assert.deepEqual([sent, refused, unsent], [1, 1, 0])
    assert.deepEqual(failures.map(({ x, code, reason }) => [x, code, /not your country/.test(reason)]), [[1, 'REFUSED', true]])
    const kept = []
    for await (const { x, code, image } of made.tiles({ state: 'refused' })) kept.push([x, code, digestOf(Buffer.from(await (await image()).arrayBuffer()))])
    assert.deepEqual(kept, [[1, 'REFUSED', digestOf(png(61))]])
    assert.equal((await store.head('osm', 5, 1, 1)).time, T(2023))
  })
})
