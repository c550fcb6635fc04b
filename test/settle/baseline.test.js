// What an edition is compared with: the manifest before it where nobody else has written since, else the heads.
import assert from 'node:assert/strict'
import { load } from '../../loader/load/index.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'

const T = year => `${year}-01-01T00:00:00Z`
const [D, E] = [1, 2]
const SIDE = 6
const TILE = { z: 5, x: 3, y: 4 }
const FEW = 20 // tiles of the source that tell how large they are

const squareOf = seed => Object.fromEntries(Array.from({ length: SIDE ** 2 }, (_, index) =>
  [`5/${index % SIDE}/${Math.floor(index / SIDE)}`, seed]))

const workDocuments = length => Array.from({ length }, (_, index) => ({ _id: `work:${index}`, type: 'work' }))

/** Counts the tiles that are asked for, and gives every database the same time of its creation. */
class Counting extends Couch {
  asked = 0

  async request (request) {
    if (request.path === '_bulk_get') this.asked += request.body.docs.filter(({ id }) => /^\w+:5:/.test(id)).length
    const answer = await super.request(request)
    return request.path === '' ? { ...answer, instance_start_time: '1700000000' } : answer
  }
}

onEachStore('the baseline of an edition', backend => {
  let url
  useStore(backend, { once: true, fill: (_, own) => { url = own } })

  const open = address => new Store(new Counting(address))
  const edition = (store, layer, year, seed, options) =>
    load(store, memorySource(squareOf(seed)), { layer, time: T(year), ...options })

  it('is the last manifest, even if other documents and layers were written during its load', async function () {
    this.timeout(60000)
    const store = open(url)
    const other = new Store(new Couch(url))
    let running
    const work = async () => {
      await other.couch.update('work:20260101T000000000-abcd', () => ({ type: 'work', done: 1 }))
      await other.write([{ layer: 'another', ...TILE, time: T(2022), bytes: png(E) }])
    }
    await edition(store, 'first', 2022, D, { onBegin: () => { running = work() } })
    await running
    store.couch.asked = 0
    assert.equal((await edition(store, 'first', 2023, D)).unchanged, SIDE ** 2)
    assert.ok(store.couch.asked < FEW, `${store.couch.asked} tiles were asked for`)
  })

  it('is the head of a tile that another program wrote during the last load', async function () {
    this.timeout(60000)
    const store = open(url)
    const other = new Store(new Couch(url))
    let writing
    await edition(store, 'second', 2022, D, {
      onProgress ({ created }) {
        if (created === SIDE ** 2) writing ??= other.write([{ layer: 'second', ...TILE, time: T(2023), bytes: png(E) }])
      }
    })
    await writing
    await edition(store, 'second', 2024, D)
    assert.deepEqual((await store.head('second', 5, 3, 4)).bytes, png(D))
  })

  it('is the head of a tile that was corrected in a mirror after the mirrored edition', async function () {
    this.timeout(60000)
    const store = open(url)
    await store.couch.bulk(workDocuments(300)) // a mirror leaves these out
    await edition(store, 'third', 2022, D)
    const there = await backend.database()
    const copy = open(there)
    await Store.create(there)
    await mirror(url, there)
    // a correction that the position of the other database is after
    await copy.write([{ layer: 'third', ...TILE, time: T(2023), bytes: png(E) }])
    const version = { layer: 'another', z: 10, y: 0, time: T(2023), bytes: png(E) }
    const others = Array.from({ length: 600 }, (_, x) => ({ ...version, x }))
    assert.equal((await copy.write(others)).failed, 0)
    await edition(copy, 'third', 2024, D)
    assert.deepEqual((await copy.head('third', 5, 3, 4)).bytes, png(D))
    await copy.destroy()
  })
})
