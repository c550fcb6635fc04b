// Layers that may not be taken along say so, in every place where somebody could begin with it.
import assert from 'node:assert/strict'
import { TilecouchError } from '../../client/offline/index.js'
import { onEachStore } from '../support/backends.js'
import { box, useShelf } from '../support/offline/shelf.js'

const OSM = { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png' }

onEachStore('layers that forbid offline use', backend => {
  describe('', function () {
    this.timeout(20000)
    const shelf = useShelf(backend)
    const wish = { name: 'Area', layer: 'osm', bbox: box([0, 3], [0, 3]), zooms: 6 }
    const define =
      fields => shelf.store.defineLayer('osm', stored => ({ ...stored, offline: null, upstream: null, ...fields }))
    const refusal = promise => promise.then(() => undefined, error => {
      assert.ok(error instanceof TilecouchError && error.code === 'OFFLINE_FORBIDDEN', error.stack)
      return error.message
    })
    let offline
    beforeEach(async () => {
      await define({})
      offline = await shelf.open()
    })

    it('are refused by their field offline, with their name', async () => {
      await define({ offline: false })
      assert.equal(await refusal(offline.areas.add(wish)), 'the layer "osm" does not allow offline use')
      assert.equal(await refusal(offline.areas.estimate(wish)), 'the layer "osm" does not allow offline use')
      assert.deepEqual(offline.areas.list(), [])
    })

    it('are refused when the terms of their upstream forbid it, with the name of the upstream', async () => {
      await define({ upstream: OSM })
      assert.equal(await refusal(offline.areas.add(wish)),
        'the terms of tile.openstreetmap.org, where the tiles of osm come from, forbid offline use')
      await define({ upstream: { ...OSM, seed: true } })
      assert.equal((await offline.areas.add(wish)).state, 'new')
    })

    it('are downloaded with the option permission, also after a restart', async () => {
      await define({ offline: false, upstream: OSM })
      await offline.areas.add({ ...wish, permission: true })
      await offline.close()
      offline = await shelf.open()
      assert.equal((await offline.areas.get('Area').download()).tiles, 16)
      assert.equal((await offline.areas.get('Area').refresh()).state, 'complete')
    })

    it('are neither refreshed nor downloaded when they forbid it later, but keep their tiles', async () => {
      const area = await offline.areas.add(wish)
      await area.download()
      await define({ offline: false })
      await refusal(area.refresh())
      const { state, tiles, error, reason } = area.status()
      assert.deepEqual([state, tiles, error, reason],
        ['complete', 16, 'OFFLINE_FORBIDDEN', 'the layer "osm" does not allow offline use'])
      await define({})
      const other = await offline.areas.add({ ...wish, name: 'Other' })
      await define({ upstream: OSM })
      await refusal(other.download())
      assert.equal(other.state, 'new')
      await define({})
      assert.equal((await other.download()).error, undefined)
    })
  })
})
