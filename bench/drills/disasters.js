// What may happen, and what is done then. Every drill answers figures, and fails when something is missing afterwards.
import assert from 'node:assert/strict'
import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Store, backup, check, copyLayer, mirror, removeLayer, restore, warmIndexes } from '../../loader/index.js'
import { until } from '../wait.js'
import { LAYER, contentOf, editionOf, timed } from './data.js'

/** @typedef {{server: any, other: any, folder: string, tiles: number, url: string, signal: AbortSignal, log: (text: string) => void}} Stage */

const answers = url => until(() => fetch(url.replace(/\/\/.*@/, '//').replace(/\/[^/]*$/, '/_up')).then(({ ok }) => ok, () => false), { timeout: 60000, what: 'the server to answer' })

async function isSound (url) {
  const { faults } = await check(await Store.open(url), { decode: false })
  assert.equal(faults, 0, 'faults that check finds')
}

/** SIGKILL in the middle of a load; started again; loaded again. @param {Stage} stage */
export async function killedInLoad ({ server, url, tiles }) {
  const time = '2024-07-01T00:00:00Z'
  const store = await Store.open(url, { retries: 1 })
  /** @type {Promise<void> | undefined} */
  let killing
  const broken = await store.write(editionOf(3, tiles, time), { stored: time, onProgress: ({ advanced }) => { if (advanced > tiles / 20) killing ??= server.kill() } })
    .then(() => 'ended before', error => error.code)
  await killing
  const back = await timed(async () => { await server.start(); await answers(url) })
  const again = await timed(async () => (await Store.open(url)).write(editionOf(3, tiles, time), { stored: time }))
  assert.equal(again.answer.failed, 0)
  await isSound(url)
  return { drill: 'a server killed in a load', figures: { 'the load said': broken, 'seconds until it answers': back.seconds, 'seconds to load again': again.seconds, unchanged: again.answer.unchanged, written: again.answer.created + again.answer.advanced } }
}

/** Index files that are gone or damaged: CouchDB builds them anew. @param {Stage} stage */
export async function indexesLost ({ server, url }) {
  const before = await contentOf(url)
  await server.kill()
  const lost = (await readdir(path.join(server.dir, 'data'), { recursive: true })).filter(name => /_design$/.test(name))
  for (const name of lost) await rm(path.join(server.dir, 'data', name), { recursive: true, force: true })
  await server.start()
  await answers(url)
  const store = await Store.open(url)
  const head = await timed(() => store.head(LAYER, 14, 1000, 1000))
  const rebuilt = await timed(() => warmIndexes(store))
  assert.equal(await contentOf(url), before)
  return { drill: 'indexes lost', figures: { 'folders removed': lost.length, 'seconds to the first tile': head.seconds, 'seconds until every index is there': rebuilt.seconds } }
}

/** The database is dropped; a full and an incremental backup bring it back. @param {Stage} stage */
export async function databaseLost ({ url, folder, tiles }) {
  const [full, later] = ['full.tcb', 'later.tcb'].map(name => path.join(folder, name))
  const store = await Store.open(url)
  const whole = await timed(() => backup(store, full))
  await store.write(editionOf(4, tiles, '2024-10-01T00:00:00Z'), { stored: '2024-10-01T00:00:00Z' })
  const more = await timed(() => backup(store, later, { base: full }))
  const before = await contentOf(url)
  await store.destroy()
  const brought = await timed(() => restore([full, later], url))
  assert.equal(await contentOf(url), before)
  await isSound(url)
  const megabytes = async file => `${Math.round((await stat(file)).size / 1e6)} MB`
  return { drill: 'a database lost', figures: { 'seconds to back up': whole.seconds, full: await megabytes(full), 'seconds for what was new': more.seconds, later: await megabytes(later), 'seconds to restore': brought.seconds } }
}

/** A layer is removed by mistake, and comes back from a backup with all of its past. @param {Stage} stage */
export async function layerRemoved ({ url, folder }) {
  const file = path.join(folder, 'before.tcb')
  const store = await Store.open(url)
  const before = await contentOf(url)
  await backup(store, file)
  const removed = await timed(() => removeLayer(store, LAYER))
  const beside = url.replace(/[^/]*$/, 'beside')
  const restored = await timed(() => restore([file], beside))
  const source = await Store.open(beside)
  const back = await timed(() => copyLayer(store, LAYER, LAYER, { source }))
  assert.equal(await contentOf(url), before)
  await source.destroy()
  await isSound(url)
  return { drill: 'a layer removed by mistake', figures: { 'seconds to remove': removed.seconds, 'seconds to restore beside it': restored.seconds, 'seconds to copy it back': back.seconds } }
}

/** The server is gone for good: its mirror takes over, and a new mirror is made of that. @param {Stage} stage */
export async function serverLost ({ server, other, url }) {
  const there = `${other.url}/drill`
  const made = await timed(() => mirror(url, there))
  const before = await contentOf(url)
  await server.kill()
  const takes = await timed(async () => (await Store.open(there)).head(LAYER, 14, 1000, 1000))
  assert.equal(await contentOf(there), before)
  await isSound(there)
  await server.start()
  await answers(url)
  await (await Store.open(url)).destroy()
  const anew = await timed(() => mirror(there, url))
  assert.equal(await contentOf(url), before)
  return { drill: 'a server lost', figures: { 'seconds the first mirror took': made.seconds, 'seconds to the first tile of the mirror': takes.seconds, 'seconds to make a new mirror': anew.seconds } }
}
