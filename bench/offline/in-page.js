// The code of the benchmark's page: tilecouch's offline store, PouchDB alone, and leaflet.offline. Each takes the same
// tiles from the same CouchDB and keeps them in this browser.
import PouchDB from 'pouchdb-browser'
import { downloadTile, getBlobByKey, saveTile, truncate } from 'leaflet.offline'
import { OfflineStore } from '../../client/offline/index.js'

const PARALLEL = 50 // concurrent downloads of leaflet.offline: its default
const POUCH_OPTIONS = { auto_compaction: true, revs_limit: 10 } // as in our own databases

const longest = { task: 0 }
new PerformanceObserver(
  list => { for (const { duration } of list.getEntries()) longest.task = Math.max(longest.task, duration) }
).observe({ type: 'longtask' })

/** @param {() => Promise<number>} take returns the number of stored tiles */
async function timed (take) {
  longest.task = 0
  const start = performance.now()
  const tiles = await take()
  const ms = performance.now() - start
  await new Promise(resolve => setTimeout(resolve)) // the observer receives the last task in the next turn
  return { tiles, ms, longestTask: Math.round(longest.task) }
}

/** @param {(item: any) => Promise<void>} task */
async function parallel (list, limit, task) {
  const items = list.values()
  await Promise.all(Array.from({ length: limit }, async () => { for (const item of items) await task(item) }))
}

const urlOf = (remote, { layer, z, x, y }) => `${remote}/${layer}:${z}:${x}:${y}/tile`

/**
 * @typedef {{remote: string, area: {layer: string, bbox: number[], zooms: any}, tiles: {layer: string, z: number, x:
 *   number, y: number}[]}} Job
 */

/**
 * Each contender: take(job) returns the number of stored tiles; read(job, tile) returns a tile as a Blob; end() removes
 * everything.
 */
/** @type {Record<string, any>} */
const contenders = {
  tilecouch: {
    async take ({ remote, area: areaOptions }) {
      this.offline = new OfflineStore({ remote, name: 'bench', PouchDB })
      await this.offline.ready
      this.area = await this.offline.areas.add({ name: 'all of it', ...areaOptions })
      return (await this.area.download()).tiles
    },
    async read (_, { layer, z, x, y }) {
      return (await this.offline.device.head(layer, z, x, y)).blob
    },
    async end () {
      await this.offline.destroy()
    }
  },
  ...Object.fromEntries(Object.entries({
    replicate: {}, 'replicate, tuned': { batch_size: 1000, batches_limit: 10 }
  }).map(([name, tuning]) => [name, /** @type {any} */ ({
    async take ({ remote, area: { layer } }) {
      this.db = new PouchDB('replicated', POUCH_OPTIONS)
      await this.db.replicate.from(remote, tuning) // the whole database: a filter would slow down CouchDB
      const { rows } = await this.db.allDocs({ startkey: `${layer}:`, endkey: `${layer};` })
      return rows.length
    },
    read (_, { layer, z, x, y }) {
      return this.db.getAttachment(`${layer}:${z}:${x}:${y}`, 'tile')
    },
    async end () {
      await this.db.destroy()
    }
  })])),
  'leaflet.offline': {
    async take ({ remote, tiles }) {
      let count = 0
      await parallel(tiles, PARALLEL, async tile => {
        const key = urlOf(remote, tile)
        await saveTile({ key, url: key, urlTemplate: remote, x: tile.x, y: tile.y, z: tile.z, createdAt: Date.now() },
          await downloadTile(key))
        count++
      })
      return count
    },
    read ({ remote }, tile) {
      return getBlobByKey(urlOf(remote, tile))
    },
    end: () => truncate()
  }
}

globalThis.bench = {
  names: Object.keys(contenders),
  /** @param {Job} job */
  take: (name, job) => timed(() => contenders[name].take(job)),
  /** The milliseconds of reading each of these tiles from the device, to the last byte. */
  async read (name, job, tiles) {
    const times = []
    for (const tile of tiles) {
      const start = performance.now()
      const { byteLength } = await (await contenders[name].read(job, tile)).arrayBuffer()
      if (!byteLength) throw new Error(`${name}: an empty tile`)
      times.push(performance.now() - start)
    }
    return times
  },
  end: name => contenders[name].end(),
  /** Estimates an area before anything is downloaded. */
  async estimate ({ remote, area: areaOptions }) {
    const offline = new OfflineStore({ remote, name: 'estimate', PouchDB })
    await offline.ready
    const area = await offline.areas.add({ name: 'all of it', ...areaOptions })
    const start = performance.now()
    const estimate = await area.estimate()
    const ms = performance.now() - start
    await offline.destroy()
    return { ...estimate, ms }
  },
  /** Refreshes the area of `take` after a new edition. */
  async refresh () {
    const start = performance.now()
    const { changed } = await contenders.tilecouch.area.refresh()
    return { changed, ms: performance.now() - start }
  },
  status: () => contenders.tilecouch.area.status()
}
