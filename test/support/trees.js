// Helpers for tests of trees: exports a store to trees of files, and compares them with the store.
import assert from 'node:assert/strict'
import { lstatSync, readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import path from 'node:path'
import { asOf, endOf, inspectTile, isExactTime } from '../../core/index.js'
import { until } from '../../bench/wait.js'
import { exportTree } from '../../loader/export/tree/index.js'
import { useFolder } from './folder.js'
import { readWholeStore } from './invariants.js'
import { useStore } from './store.js'
import { png } from './tiles.js'

export const tile = (x, y, time, seed, layer = 'osm',
  z = 5) => ({ layer, z, x, y, time, ...(seed === null ? { gone: true } : { bytes: png(seed) }) })

/** Short intervals, so that changes of a store are noticed at once. */
const QUICK = { heartbeat: 100, look: 50 } // milliseconds

/** Writes an edition as load does. @param {any[]} tiles all of one layer and time */
export async function edition (store, tiles, { finished = true, layer = tiles[0].layer, time = tiles[0].time } = {}) {
  await store.putEdition(layer, time, { started: time, finished: undefined })
  const { failed } = await store.write(tiles)
  assert.equal(failed, 0)
  if (finished) await store.putEdition(layer, time, { finished: time })
}

/**
 * A published store with the layer `osm`, and a folder for its trees, for each test.
 * @param {(store: any) => Promise<any>} [fill]
 */
export function useTrees (backend, fill = async () => {}) {
  const trees = {
    get store () { return context.store },
    set store (store) { context.store = store },
    get url () { return context.url },
    get folder () { return folder },
    /** @type {Promise<any> | undefined} */ following: undefined,
    stop: new AbortController(),
    /** @type {any[]} */ states: [],
    to: () => folder.path('tiles'),
    file: (name, time) => path.join(treeOf(trees.to(), time), name),
    run: options => exportTree(context.store, 'osm', trees.to(), options),
    /** @param {import('../../loader/export/tree/index.js').TreeOptions} [options] */
    async follow ({ limits, ...options } = {}, store = context.store) {
      trees.stop = new AbortController()
      trees.states = []
      const settings = {
        follow: true,
        signal: trees.stop.signal,
        onState: state => trees.states.push(state),
        limits: { ...QUICK, ...limits },
        ...options
      }
      trees.following = exportTree(store, 'osm', trees.to(), settings)
      trees.following.catch(() => {})
      await until(() => trees.states.some(({ state }) => state === 'following'), { what: 'following' })
    },
    async end () {
      trees.stop.abort()
      const summary = await trees.following
      trees.following = undefined
      return summary
    },
    /** Waits until all trees match the store. */
    async settles (options) {
      let error
      const isRight = () => checkTrees(context.url, trees.to(), options).then(() => true, reason => { error = reason })
      await until(isRight, { every: 50, timeout: 20000 }).catch(() => { throw error })
    }
  }
  afterEach(() => trees.end().catch(() => {})) // before its folder and store are removed
  const folder = useFolder()
  const context = useStore(backend, {
    published: 'functions',
    async fill (store) {
      await store.defineLayer('osm', { format: 'png' })
      await fill(store)
    }
  })
  return trees
}

/**
 * Every file below a folder.
 * @returns {Map<string, {file: string, stat: import('node:fs').Stats}>} by z/x/y.ext
 */
export function filesIn (root) {
  const files = new Map()
  const walk = (dir, name) => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const below = name ? `${name}/${entry.name}` : entry.name
      if (entry.isDirectory()) walk(path.join(dir, entry.name), below)
      else files.set(below, { file: path.join(dir, entry.name), stat: lstatSync(path.join(dir, entry.name)) })
    }
  }
  walk(root, '')
  return files
}

/** Trees and links of a layer in a folder: names of times, '' for the present. */
export function treesIn (folder, layer = 'osm') {
  const names = readdirSync(folder).filter(name => name === layer || name.startsWith(`${layer}@`))
  const times = names.map(name => name.slice(layer.length + 1)).sort()
  return {
    trees: times.filter(time => !lstatSync(treeOf(folder, time, layer)).isSymbolicLink()),
    links: times.filter(time => lstatSync(treeOf(folder, time, layer)).isSymbolicLink())
  }
}

export const treeOf = (folder, time = '', layer = 'osm') => path.join(folder, time ? `${layer}@${time}` : layer)

export const linkOf = (folder, time, layer = 'osm') => readlinkSync(treeOf(folder, time, layer))

/**
 * Checks every tree and link against the store: the same files, byte for byte, with the times of their versions. All
 * trees share one file for each version.
 * @param {string} url of the database
 * @param {string} folder
 * @param {{layer?: string, selected?: (z: number, x: number, y: number) => boolean, moved?: boolean}} [options] moved:
 *   files may have a time some seconds later, if another image had the first
 */
export async function checkTrees (url, folder, { layer = 'osm', selected = () => true, moved = false } = {}) {
  const stored = new Map([...await readWholeStore(url)].filter(([id]) => id.startsWith(`${layer}:`)))
  const { trees, links } = treesIn(folder, layer)
  const inodes = new Map()
  for (const time of [...trees, ...links]) {
    const expected = new Map()
    for (const [id, versions] of stored) {
      const [z, x, y] = id.split(':').slice(1).map(Number)
      if (!selected(z, x, y)) continue
      const sorted = versions.sort((a, b) => a.time < b.time ? -1 : 1)
      const version = time ? asOf(sorted, endOf(time)) : sorted.find(({ current }) => current)
      if (version?.bytes) expected.set(`${z}/${x}/${y}.${inspectTile(version.bytes).ext}`, version)
    }
    const files = filesIn(treeOf(folder, time, layer))
    assert.deepEqual([...files.keys()].sort(), [...expected.keys()].sort(), `files of ${layer}@${time}`)
    for (const [name, version] of expected) {
      const { file, stat } = files.get(name)
      assert.ok(readFileSync(file).equals(version.bytes), `${name} as of ${time || 'now'} is what the store has`)
      const late = (stat.mtimeMs - Date.parse(version.time)) / 1000
      if (version.time > '1902') {
        assert.ok(late === 0 || (moved && late > 0 && late < 10),
          `${name} as of ${time || 'now'} carries its time, and not one ${late} s later`)
      }
      const key = `${name} ${version.time}`
      assert.equal(inodes.get(key) ?? stat.ino, stat.ino, `${key} is one file`)
      inodes.set(key, stat.ino)
    }
  }
  return { trees, links, tiles: stored.size }
}

/** Checks that no temporary files and no lock are left. */
export function checkTidy (folder, layer = 'osm') {
  const hidden = path.join(folder, '.tilecouch')
  for (const name of ['tmp', 'new', 'trash']) assert.deepEqual(readdirSync(path.join(hidden, layer, name)), [], name)
  assert.ok(!readdirSync(hidden).includes(`${layer}.lock`), 'the lock is given back')
}

export const isThere = file => Boolean(statSync(file, { throwIfNoEntry: false }))

export const exact = times => times.filter(time => isExactTime(time))
