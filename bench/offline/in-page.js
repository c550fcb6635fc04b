// What the page of the benchmark has, all of it bundled: tilecouch's offline store, PouchDB alone, and leaflet.offline,
// which most maps use today. Each takes the same tiles from the same CouchDB and keeps them in this browser.
import PouchDB from 'pouchdb-browser'
import { downloadTile, getBlobByKey, saveTile, truncate } from 'leaflet.offline'
import { OfflineStore } from '../../client/offline/index.js'

const PARALLEL = 50 // downloads of leaflet.offline at once: its own default
const OPTIONS = { auto_compaction: true, revs_limit: 10 } // as our own databases have them

const longest = { task: 0 }
new PerformanceObserver(
  list => { for (const { duration } of list.getEntries()) longest.task = Math.max(longest.task, duration) }
).observe({ type: 'longtask' })

/** @param {() => Promise<number>} take answers how many tiles there are then */
async function timed (take) {
  longest.task = 0
  const start = performance.now()
  const tiles = await take()
  const ms = performance.now() - start
  await new Promise(resolve => setTimeout(resolve)) // the observer sees the last task after it
  return { tiles, ms, longestTask: Math.round(longest.task) }
}

/** @param {(item: any) => Promise<void>} task */
async function parallel (list, most, task) {
  const rest = list.values()
  await Promise.all(Array.from({ length: most }, async () => { for (const item of rest) await task(item) }))
}

const urlOf = (remote, { layer, z, x, y }) => `${remote}/${layer}:${z}:${x}:${y}/tile`

/**
 * @typedef {{remote: string, area: {layer: string, bbox: number[], zooms: any}, tiles: {layer: string, z: number, x:
 *   number, y: number}[]}} Job
 */

/** Each: take(job) answers how many tiles are there; read(tile) one of them as a Blob; end() removes all of it. */
/** @type {Record<string, any>} */
const contenders = {
  tilecouch: {
    async take ({ remote, area: wanted }) {
      this.offline = new OfflineStore({ remote, name: 'bench', PouchDB })
      await this.offline.ready
      this.area = await this.offline.areas.add({ name: 'all of it', ...wanted })
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
      this.db = new PouchDB('replicated', OPTIONS)
      await this.db.replicate.from(remote, tuning) // all there is: a filter would cost CouchDB time
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
  /** Milliseconds that each of these tiles takes to come from the device, to the last byte. */
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
  /** What an area costs, before anything is taken. */
  async estimate ({ remote, area: wanted }) {
    const offline = new OfflineStore({ remote, name: 'estimate', PouchDB })
    await offline.ready
    const area = await offline.areas.add({ name: 'all of it', ...wanted })
    const start = performance.now()
    const estimate = await area.estimate()
    const ms = performance.now() - start
    await offline.destroy()
    return { ...estimate, ms }
  },
  /** After a new edition, of what `take` has taken. */
  async refresh () {
    const start = performance.now()
    const { changed } = await contenders.tilecouch.area.refresh()
    return { changed, ms: performance.now() - start }
  },
  status: () => contenders.tilecouch.area.status()
}
