// Helpers for tests of removals: a layer with a varied past, a model of it, and stores that die or are interrupted
// between two requests.
import assert from 'node:assert/strict'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { checkInvariants } from './invariants.js'
import { png, seedOf, yearStart } from './tiles.js'
import { publishFunctions } from './published.js'

/** Tests interrupt every third write; in a long run, every write. */
export const STEP = process.env.TILECOUCH_LONG ? 1 : 3

export const Z = 4

/**
 * Images by tile and year; null: gone. The tiles have no past, a past, gaps, or are gone. Some rows begin with the same
 * digits.
 */
export const HISTORY = {
  '1/1': { 2020: 1 },
  '1/2': { 2020: 2, 2021: 12 },
  '1/3': { 2020: 3, 2022: 23 },
  '1/4': { 2020: 4, 2021: 14, 2022: 24 },
  '1/10': { 2021: 15, 2022: null },
  '1/11': { 2022: 26 },
  '2/1': { 2020: 7, 2021: null, 2022: 27 }
}

/** @param {Record<string, Record<string, number | null>>} history @param {string} [layer] */
export function * versionsOf (history, layer = 'osm') {
  for (const [tile, years] of Object.entries(history)) {
    const [x, y] = tile.split('/').map(Number)
    for (const [year, seed] of Object.entries(years)) {
      yield { layer, z: Z, x, y, time: yearStart(year), ...(seed === null ? { gone: true } : { bytes: png(seed) }) }
    }
  }
}

/** Creates a published store that holds a history, with the documents of its editions. */
export async function storeOf (url, history = HISTORY) {
  const store = await Store.create(url)
  await store.defineLayer('osm', { format: 'png' })
  await writeHistory(store, history)
  await publishFunctions(store)
  return store
}

async function writeHistory (store, history = HISTORY) {
  const versions = [...versionsOf(history)]
  for (const time of [...new Set(versions.map(version => version.time))].sort()) {
    const { failed } = await store.write(versions.filter(version => version.time === time))
    assert.equal(failed, 0)
    await store.putEdition('osm', time, { title: time.slice(0, 4) })
  }
}

/**
 * A published store for a suite, with a history that is restored after each test.
 * @param {(stage: {store: Store, url: string, reset: () => Promise<void>}) => void} onReady
 */
export function useStage (backend, onReady) {
  let stage
  before(async function () {
    this.timeout(60000)
    const url = await backend.database()
    const store = await storeOf(url)
    stage = { store, url, reset: await saveDocuments(store) }
    onReady(stage)
  })
  afterEach(() => stage.reset())
  after(() => stage.store.destroy())
}

/** Saves the documents of a store; the returned function restores them in three requests. */
async function saveDocuments (store) {
  const { couch } = store
  const documents = async qs => (await couch.request({ path: '_all_docs', qs }))
    .rows.filter(({ id }) => !id.startsWith('_design/'))
  const savedDocs = (await documents({ include_docs: true, attachments: true })).map(({ doc: { _rev, ...doc } }) => doc)
  return async () => {
    const deletions = (await documents({})).map(({ id, value: { rev } }) => ({ _id: id, _rev: rev, _deleted: true }))
    for (const docs of [deletions, savedDocs]) {
      for (const { id, error } of await couch.bulk(docs)) assert.equal(error, undefined, id)
    }
  }
}

/** Reads a store as a history, and checks its invariants. */
export async function historyOf (url) {
  const history = {}
  for (const [id, versions] of await checkInvariants(url)) {
    const [layer, , x, y] = id.split(':')
    if (layer !== 'osm') continue
    const years = history[`${x}/${y}`] = {}
    for (const { time, bytes } of versions) {
      years[time.slice(0, time.slice(5, 7) === '01' ? 4 : 7)] = bytes && seedOf(bytes)
    }
  }
  return history
}

/** The model: a history without the removed versions. @param {(tile: string, year: string) => boolean} isRemoved */
export function without (history, isRemoved) {
  const remaining = Object.entries(history)
    .map(
      ([tile, years]) => [tile, Object.fromEntries(Object.entries(years).filter(([year]) => !isRemoved(tile, year)))]
    )
  return Object.fromEntries(remaining.filter(([, years]) => Object.keys(years).length))
}

const isWrite = ({ method = 'GET', path = '' }) => method !== 'GET' &&
  !/^(_bulk_get|_all_docs.*|_design\/.*)$/.test(path)

/**
 * A store that imitates a killed process: after `writes` write requests, all its requests fail.
 * @param {string} url @param {number} writes
 */
export async function dyingStore (url, writes) {
  const store = await Store.open(url)
  const { couch } = store
  const request = couch.request.bind(couch)
  const state = { left: writes, isDead: false }
  couch.request = options => {
    if (isWrite(options) && --state.left < 0) state.isDead = true
    if (state.isDead) return Promise.reject(Object.assign(new Error('killed'), { code: 'KILLED' }))
    return request(options)
  }
  return { store, life: state }
}

/**
 * A store that calls `otherWork` right before, or right after, one of its requests.
 * @param {string} url
 * @param {(options: any) => boolean} isMoment chooses the request; not called again after it returned true
 * @param {() => Promise<any>} otherWork
 * @param {'before' | 'after'} [when]
 */
export async function interruptedStore (url, isMoment, otherWork, when) {
  const store = await Store.open(url)
  return { store, moment: interrupt(store, isMoment, otherWork, when) }
}

function interrupt ({ couch }, isMoment, otherWork, when = 'before') {
  const request = couch.request.bind(couch)
  const moment = { come: false }
  couch.request = async options => {
    const isNow = !moment.come && isMoment(options)
    if (isNow) moment.come = true
    if (isNow && when === 'before') await otherWork()
    const answer = await request(options)
    if (isNow && when === 'after') await otherWork()
    return answer
  }
  return moment
}

/**
 * Runs `action` on a store, and the work of another program before its request of this number.
 * @param {string} url @param {number} number from 0
 * @param {(store: Store) => Promise<any>} action @param {() => Promise<any>} otherWork
 * @returns {Promise<boolean>} whether there were that many requests
 */
export async function runBeside (url, number, action, otherWork) {
  let count = 0
  const store = new Store(new Couch(url))
  const moment = interrupt(store, () => count++ === number, otherWork)
  await action(store)
  return moment.come
}

/** The documents of a bulk write. */
export const docsOf = ({ path, body }) => path === '_bulk_docs' ? JSON.parse(body.toString()).docs : []
