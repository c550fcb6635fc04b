import assert from 'node:assert/strict'
import { loadBesideMapLibre } from '../support/client/maplibre-stub.js'

describe('a source of MapLibre', () => {
  it('loads a tile at the second request when the first one failed', async () => {
    const { owners, register, sourceOf } = await loadBesideMapLibre('client/maplibre/sources.js', undefined, `
      globalThis.attempts = (globalThis.attempts ?? 0) + 1
      if (globalThis.attempts === 1) throw new Error('the request failed')
      tile.texture = { update () {} }`)
    const image = { width: 1, close () {} }
    const history = {
      isOnMap: true,
      add (entry) {
        entry.view.show(image)
        entry.ready()
      }
    }
    owners.set('owner', { history, _connect () {} })
    register()
    const { type } = sourceOf('owner', false)
    const source = new /** @type {any} */ (globalThis).sourceTypes[type]('id')
    source._options = { owner: 'owner' }
    source.maxzoom = 3
    source.onAdd({ painter: { getTileTexture: () => undefined } })
    const tile = { tileID: { canonical: { z: 1, x: 0, y: 0 } } }
    await assert.rejects(source.loadTile(tile), /the request failed/)
    await source.loadTile(tile)
    assert.equal(/** @type {any} */ (tile).state, 'loaded')
  })
})
