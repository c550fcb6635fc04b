// A copy that is made again, of what was edited and put back, or into a store that has the same version.
import assert from 'node:assert/strict'
import { copyLayer } from '../../loader/maintain/copy/index.js'
import { load } from '../../loader/load/index.js'
import { publish } from '../../loader/couchapp/publish.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { png } from '../support/tiles.js'

const T = year => `${year}-01-01T00:00:00Z`
const [A, B, C] = [1, 2, 3]

onEachStore('a copy of a tile that was edited and reverted', backend => {
  let source, target, urls
  beforeEach(async () => {
    urls = [await backend.database(), await backend.database()]
    ;[source, target] = await Promise.all(urls.map(url => Store.create(url)))
    for (const store of [source, target]) {
      await publish(store)
      await store.defineLayer('osm', { format: 'png' })
    }
  })
  afterEach(() => Promise.all([source.destroy(), target.destroy()]))

  /** One tile: an image a year. */
  const write = async (store, history, layer = 'osm') => {
    for (const [year, seed] of Object.entries(history)) {
      await store.putEdition(layer, T(year), { title: year })
      const { failed } = await store.write(
        [{ layer, z: 4, x: 1, y: 1, time: T(year), ...(seed === null ? { gone: true } : { bytes: png(seed) }) }]
      )
      assert.equal(failed, 0)
    }
  }
  /** What the map shows at the end of each year; null: nothing. */
  const shown = async (store, layer = 'osm') => {
    const years = [2019, 2020, 2021, 2022, 2023, 2024, 2025]
    const seedAt = async year => {
      try {
        const { bytes } = await store.at(layer, 4, 1, 1, `${year}`)
        return [A, B, C].find(seed => png(seed).equals(bytes))
      } catch (error) {
        if (error.code === 'TILE_NOT_FOUND') return null
        throw error
      }
    }
    const seeds = await Promise.all(years.map(seedAt))
    return Object.fromEntries(years.map((year, index) => [year, seeds[index]]))
  }
  const same = async (layer = 'osm') => {
    assert.deepEqual(await shown(target, layer), await shown(source))
    assert.deepEqual((await target.head(layer, 4, 1, 1)).digest, (await source.head('osm', 4, 1, 1)).digest)
    await checkInvariants(urls[1])
  }

  const cases = {
    'after an edit and its revert: A, B, A': [{ 2020: A }, { 2021: B, 2022: A }],
    'after a tile was gone and came back: A, gone, A': [{ 2020: A }, { 2021: null, 2022: A }],
    'after edits between two copied times: A, (B, A), C': [{ 2020: A, 2023: C }, { 2021: B, 2022: A }]
  }
  for (const [what, histories] of Object.entries(cases)) {
    it(`run again ${what}, shows the same as its source`, async () => {
      for (const history of histories) {
        await write(source, history)
        await copyLayer(target, 'osm', 'osm', { source })
        await same()
      }
    })
  }

  it('under another name in the same store shows the same as its source', async () => {
    await write(source, { 2020: A })
    await copyLayer(source, 'osm', 'two')
    await write(source, { 2021: B, 2022: A })
    await copyLayer(source, 'osm', 'two')
    assert.deepEqual(await shown(source, 'two'), await shown(source))
  })

  it('into a store that already has A of the same time shows the same as its source', async () => {
    await write(target, { 2020: A })
    await write(source, { 2020: A, 2021: B, 2022: A })
    await copyLayer(target, 'osm', 'osm', { source })
    await same()
  })

  it('copies statements of editions about tiles of the target: gone and unchanged ones', async () => {
    const edition = (store, year, tiles, complete) => load(store, /** @type {any} */ ({
      name: 'memory', fields: { format: 'png' }, counts: undefined, total: undefined,
      async * tiles () { for (const [y, image] of Object.entries(tiles)) {
        yield { z: 4, x: 1, y: +y, read: async () => png(image) }
      } },
      async close () {}
    }), { layer: 'osm', time: T(year), complete })
    await edition(target, 2020, { 1: A, 2: A })
    await edition(target, 2022, { 1: B, 2: B })
    await edition(source, 2020, { 1: A })
    await edition(source, 2021, { 1: A }, true)
    await edition(source, 2023, { 1: A }, true)
    await copyLayer(target, 'osm', 'osm', { source })
    assert.deepEqual(await shown(target), { 2019: null, 2020: A, 2021: A, 2022: B, 2023: A, 2024: A, 2025: A })
    const other = years => Promise.all(years.map(
      year => target.at('osm', 4, 1, 2, `${year}`).then(({ bytes }) => bytes.equals(png(A)) ? A : B, () => null)
    ))
    assert.deepEqual(await other([2020, 2021, 2022, 2023]), [A, null, B, null])
  })

  // the load of 2022 confirmed A: the source has no version that says so today, and must know it all the same
  it('makes two stores show the same in both directions', async () => {
    await write(source, { 2020: A, 2022: A })
    await write(source, { 2021: B })
    await write(target, { 2020: A, 2021: B, 2022: A })
    await copyLayer(target, 'osm', 'osm', { source })
    await same()
    await copyLayer(source, 'osm', 'osm', { source: target })
    await same()
  })

  it('that was stopped at any write is completed by the next run', async () => {
    await write(source, { 2020: A })
    await copyLayer(target, 'osm', 'osm', { source })
    await write(source, { 2021: B, 2022: A, 2023: C, 2024: A })
    for (let writes = 1; writes < 6; writes++) {
      const { couch } = await Store.open(urls[1])
      const bulk = couch.bulk.bind(couch)
      let left = writes
      couch.bulk = (...given) => left-- > 0 ? bulk(...given)
        : Promise.reject(Object.assign(new Error('killed'), { code: 'KILLED' }))
      await copyLayer(new Store(couch), 'osm', 'osm', { source, limits: { batch: 1 } })
        .catch(error => assert.match(`${error.code} ${error.message}`, /KILLED|killed/))
    }
    await copyLayer(target, 'osm', 'osm', { source })
    await same()
  })
})
