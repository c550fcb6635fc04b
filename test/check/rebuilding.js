// An index that lies, as long as it is not built anew: rows of a disk that was damaged cannot be had over HTTP.
import { Couch } from '../../loader/store/couch.js'
import { BY_TILE } from '../../loader/store/reader.js'

/**
 * @param {import('../../loader/store/index.js').Store} store
 * @param {string} lacks id of a document that the index lacks; it has a layer `ocean` instead
 */
export function rebuiltWhile (store, lacks) {
  const maps = new Set()
  let cleaned = 0
  store.couch.request = async request => {
    const answer = await Couch.prototype.request.call(store.couch, request)
    if (request.method === 'PUT' && request.path === '_design/versions') maps.add(request.body.views.by_tile.map)
    if (request.path === '_view_cleanup') cleaned++
    if (cleaned === 2 || request.path !== `${BY_TILE}/queries`) return answer
    for (const { rows } of answer.results) {
      const at = rows.findIndex(({ id }) => id === lacks)
      if (at >= 0) rows.splice(at, 1)
    }
    const [{ group_level: level, startkey }] = request.body.queries
    if (level === 1 && !startkey) answer.results[0].rows.push({ key: ['ocean'], value: 3 })
    return answer
  }
  return {
    isWhole: () => maps.size === 2 && cleaned === 2,
    /** How many rows somebody else is answered by the view all the while. */
    async during (task) {
      const reader = new Couch(store.url)
      reader.request = Couch.prototype.request.bind(store.couch)
      const served = []
      let isOver = false
      const reading = (async () => {
        while (!isOver) {
          served.push((await reader.view(BY_TILE, { startkey: ['osm', 3], endkey: ['osm', 3, {}], reduce: false }))
            .length)
        }
      })()
      const { report } = await task().finally(() => { isOver = true })
      await reading
      return { served, report }
    }
  }
}
