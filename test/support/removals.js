// What tests of removal share: a layer with a past of every kind, a model of it, a couch that dies or lets others in
// between.
import assert from 'node:assert/strict'
import { Store } from '../../loader/store/index.js'
import { checkInvariants } from './invariants.js'
import { png } from './tiles.js'
import { publishFunctions } from './published.js'

/** Writes between two at which something happens: each of them in a long run. */
export const STEP = process.env.TILECOUCH_LONG ? 1 : 3

export const T = year => `${year}-01-01T00:00:00Z`
export const Z = 4

/**
 * Images by tile and year; null: gone. A tile without a past, with one, with gaps, one that is gone, rows that go on
 * with the same digits.
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
      yield { layer, z: Z, x, y, time: T(year), ...(seed === null ? { gone: true } : { bytes: png(seed) }) }
    }
  }
}

/** A published store that holds a history, edition by edition, with their documents. */
export async function storeOf (url, history = HISTORY) {
  const store = await Store.create(url)
  await store.defineLayer('osm', { format: 'png' })
  await fill(store, history)
  await publishFunctions(store)
  return store
}

export async function fill (store, history = HISTORY) {
  const all = [...versionsOf(history)]
  for (const time of [...new Set(all.map(version => version.time))].sort()) {
    const { failed } = await store.write(all.filter(version => version.time === time))
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
    stage = { store, url, reset: await keeperOf(store) }
    onReady(stage)
  })
  afterEach(() => stage.reset())
  after(() => stage.store.destroy())
}

/** Puts a store back to what it is now, in three requests. */
export async function keeperOf (store) {
  const { couch } = store
  const documents = async qs => (await couch.request({ path: '_all_docs', qs }))
    .rows.filter(({ id }) => !id.startsWith('_design/'))
  const kept = (await documents({ include_docs: true, attachments: true })).map(({ doc: { _rev, ...doc } }) => doc)
  return async () => {
    const ended = (await documents({})).map(({ id, value: { rev } }) => ({ _id: id, _rev: rev, _deleted: true }))
    for (const docs of [ended, kept]) {
      for (const { id, error } of await couch.bulk(docs)) assert.equal(error, undefined, id)
    }
  }
}

/** What a store holds, in the form of a history; every invariant holds. */
export async function historyOf (url) {
  const seeds = new Map()
  for (let seed = 0; seed < 60; seed++) seeds.set(png(seed).toString('base64'), seed)
  const history = {}
  for (const [id, versions] of await checkInvariants(url)) {
    const [layer, , x, y] = id.split(':')
    if (layer !== 'osm') continue
    const years = history[`${x}/${y}`] = {}
    for (const { time, bytes } of versions) {
      years[time.slice(0, time.slice(5, 7) === '01' ? 4 : 7)] = bytes && seeds.get(bytes.toString('base64'))
    }
  }
  return history
}

/** The model: what is left of a history when versions go. @param {(tile: string, year: string) => boolean} isRemoved */
export function without (history, isRemoved) {
  const left = Object.entries(history)
    .map(
      ([tile, years]) => [tile, Object.fromEntries(Object.entries(years).filter(([year]) => !isRemoved(tile, year)))]
    )
  return Object.fromEntries(left.filter(([, years]) => Object.keys(years).length))
}

const isWrite = ({ method = 'GET', path = '' }) => method !== 'GET' &&
  !/^(_bulk_get|_all_docs.*|_design\/.*)$/.test(path)

/**
 * A store whose process is killed before its n-th request to write: neither that one nor any other comes through.
 * @param {string} url @param {number} writes
 */
export async function dyingStore (url, writes) {
  const store = await Store.open(url)
  const { couch } = store
  const request = couch.request.bind(couch)
  const life = { left: writes, isDead: false }
  couch.request = asked => {
    if (isWrite(asked) && --life.left < 0) life.isDead = true
    if (life.isDead) return Promise.reject(Object.assign(new Error('killed'), { code: 'KILLED' }))
    return request(asked)
  }
  return { store, life }
}

/**
 * A store that lets others in right before, or right after, a request of its own.
 * @param {string} url
 * @param {(asked: any) => boolean} isMoment asked until it says so once
 * @param {() => Promise<any>} others what they do then
 * @param {'before' | 'after'} [when]
 */
export async function interruptedStore (url, isMoment, others, when = 'before') {
  const store = await Store.open(url)
  const { couch } = store
  const request = couch.request.bind(couch)
  const moment = { come: false }
  couch.request = async asked => {
    const isNow = !moment.come && isMoment(asked)
    if (isNow) moment.come = true
    if (isNow && when === 'before') await others()
    const answer = await request(asked)
    if (isNow && when === 'after') await others()
    return answer
  }
  return { store, moment }
}

/** The documents of a request to write. */
export const docsOf = ({ path, body }) => path === '_bulk_docs' ? JSON.parse(body.toString()).docs : []
