// A time that was taken out and filled again with other bytes of the same size is another version: an export that goes on with what
// an earlier run has written, or brings a folder up to date, does not keep the old ones.
import path from 'node:path'
import { Store, exportLayer, publish, removeEdition } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png, square } from '../support/tiles.js'
import { assertSame, contentsOf } from './helpers.js'

const TIME = '2021-01-01T00:00:00Z'
const SIDE = 12
const load = (store, first) => store.write(square({ layer: 'osm', time: TIME, side: SIDE, seed: (x, y) => first + x * SIDE + y }))

onEachStore('exports of a time that was corrected', backend => {
  const folder = useFolder()
  for (const [target, options] of Object.entries({ out: {}, 'out.mbtiles': {}, 'cache.mbtiles': { cache: true }, 'out.pmtiles': {} })) {
    it(`hold what is there now: ${target}`, async function () {
      this.timeout(30000)
      const store = await Store.create(await backend.database())
      await store.defineLayer('osm', { format: 'png' })
      await publish(store)
      await load(store, 0)
      const file = path.join(folder.dir, target)
      const stop = new AbortController()
      // what is a file is broken off in the middle, and what is a folder is whole
      const onProgress = ({ tiles }) => { if (target !== 'out' && tiles === 100) stop.abort() }
      await exportLayer(store, 'osm', file, { time: TIME, ...options, signal: stop.signal, onProgress }).catch(error => { if (error.code !== 'ABORTED') throw error })
      await removeEdition(store, 'osm', TIME)
      await load(store, 1000)
      await exportLayer(store, 'osm', file, { time: TIME, ...options })
      const wanted = new Map(square({ layer: 'osm', time: TIME, side: SIDE, seed: (x, y) => 1000 + x * SIDE + y }).map(({ z, x, y, bytes }) => [`${z}/${x}/${y}`, bytes ?? png(0)]))
      assertSame(await contentsOf(file, { asked: wanted.keys() }), wanted)
      await store.destroy()
    })
  }
})
