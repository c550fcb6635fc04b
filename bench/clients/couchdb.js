// A benchmark client of CouchDB: the store of tilecouch as a library.
import { parseTileId } from '../../core/index.js'
import { Store } from '../../loader/store/index.js'

/** @param {{url: string, time: string}} options url: of the database; time: of all written versions */
export async function openCouchDb ({ url, time }) {
  const store = await Store.open(url)
  const setMany = async entries => {
    const { failed, failures } =
      await store.write(entries.map(([key, bytes]) => ({ ...parseTileId(key), time, bytes })))
    if (failed) throw new Error(`${failed} tiles were not stored: ${failures[0]?.reason}`)
  }
  return {
    set: (key, bytes) => setMany([[key, bytes]]),
    setMany,
    async get (key) {
      const { layer, z, x, y } = parseTileId(key)
      try {
        return (await store.head(layer, z, x, y)).bytes ?? null
      } catch (error) {
        if (error.code === 'TILE_NOT_FOUND') return null
        throw error
      }
    },
    close: async () => {}
  }
}
