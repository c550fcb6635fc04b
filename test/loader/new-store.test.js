// A command that fills a new store: the index is built while tiles are written, everything else follows at the end.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { fillStore } from '../../loader/cli/new-store.js'
import { Output } from '../../loader/cli/output.js'
import { publish, startIndex } from '../../loader/couchapp/publish.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { memory } from '../support/cli.js'
import { useStore } from '../support/store.js'
import { square } from '../support/tiles.js'

const TIME = '2024-01-01T00:00:00Z'
const INDEX = '_design/versions'
const VALIDATION = '_design/tiles'
const tiles = square({ layer: 'osm', time: TIME, side: 2, seed: (x, y) => x * 2 + y })

/** Remembers the requests that change something or read a view. */
class Remembering extends Couch {
  asked = /** @type {string[]} */ ([])

  async request (request) {
    const { method = 'GET', path = '' } = request
    if (method === 'PUT' || path.includes('/_view/')) this.asked.push(`${method} ${path}`)
    return super.request(request)
  }
}

onEachStore('a new store', backend => {
  const context = () => {
    const output = new Output(/** @type {any} */ ({ json: false, stdout: memory(), stderr: memory() }))
    return /** @type {any} */ ({ output, signal: new AbortController().signal, args: [] })
  }

  it('has its index from the first tiles on, and its validation function after the last', async function () {
    this.timeout(60000)
    const url = await backend.database()
    const designs = []
    const run = async ({ store, onProgress }) => {
      onProgress({ tiles: 1, failed: 1 })
      const summary = await store.write(tiles, { onProgress })
      await until(() => store.couch.get(INDEX), { what: 'the index to be deployed' })
      designs.push(await store.couch.get(VALIDATION))
      return { ...summary, layer: 'osm' }
    }
    assert.equal(await fillStore(context(), { db: url }, { command: 'load', layer: 'osm', unit: 'tiles', run }), 0)
    assert.deepEqual(designs, [undefined])
    const store = await Store.open(url)
    assert.ok(await store.couch.get(VALIDATION))
    await store.destroy()
  })

  it('has no index while no tile is stored', async function () {
    this.timeout(60000)
    const url = await backend.database()
    const run = async ({ store, onProgress }) => {
      onProgress({ tiles: 1, failed: 1 })
      return { layer: 'osm', ...await store.write([]), tiles: 1, failed: 1 }
    }
    assert.equal(await fillStore(context(), { db: url }, { command: 'load', layer: 'osm', unit: 'tiles', run }), 1)
    const store = await Store.open(url)
    assert.equal(await store.couch.get(INDEX), undefined)
    await store.destroy()
  })

  const filled = useStore(backend, { public: false, fill: store => store.write(tiles) })

  it('is opened after its index is built, also if that was deployed before', async function () {
    this.timeout(60000)
    await startIndex(filled.store)
    const store = new Store(new Remembering(filled.url))
    assert.equal((await publish(store)).opened, true)
    const { asked } = /** @type {Remembering} */ (store.couch)
    const [view, opening] = [`GET ${INDEX}/_view/`, 'PUT _security'].map(part =>
      asked.findIndex(request => request.startsWith(part)))
    assert.ok(view >= 0 && view < opening, asked.join('\n'))
    assert.ok(!asked.includes(`PUT ${INDEX}`), 'it is not deployed twice')
  })
})
