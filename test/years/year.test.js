// A year of a store that only its own commands maintain: an edition every few hours, cached tiles that expire,
// retention, a mirror and compaction, by a clock of the test. The result is compared with a model in memory.
// TILECOUCH_YEAR=365 plays a whole year of hourly editions of a thousand tiles, which takes most of an hour.
import assert from 'node:assert/strict'
import { random } from '../../bench/tiles.js'
import { Store, compact, expire, mirror, pruneAll } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { Model } from './model.js'
import { contentOf, hour, versionsOf } from './world.js'
import { publishFunctions } from '../support/published.js'

const DAYS = +(process.env.TILECOUCH_YEAR ?? 4)
const LONG = DAYS > 30
// hours between two editions, and between two compactions
const [TILES, STEP, WEEK] = LONG ? [1000, 1, 168] : [60, 4, 48]
const CHANGED = 0.1 // share of the tiles that change in each edition
const HOLDS = 6 // hours until a cached tile expires
const SEED = +(process.env.TILECOUCH_SEED ?? 8)
const PICTURES = 500
const RETENTION = LONG
  ? { survey: { hourly: 48, daily: 31, weekly: 8, monthly: 12 }, cache: { within: 2 * 86400 } }
  : { survey: { last: 3, hourly: 8, daily: 2 }, cache: { within: 86400 } }

const idOf = (layer, number) => `${layer}:6:${number >> 5}:${number & 31}`

class Year {
  /** @type {Record<string, Model>} */
  models = { survey: new Model(), cache: new Model() }
  sizes = []
  totals = { editions: 0, written: 0, pruned: 0, expired: 0 }

  /** @param {string[]} urls the store and its mirror @param {{purge: boolean}} options */
  constructor (urls, { purge }) {
    this.urls = urls
    this.purge = purge
    this.next = random(SEED)
  }

  async open () {
    this.store = await Store.create(this.urls[0], { public: false })
    await publishFunctions(this.store)
    for (const [layer, retention] of Object.entries(RETENTION)) {
      await this.store.defineLayer(layer, { format: 'png', retention })
    }
    await mirror(this.urls[0], this.urls[1])
    this.stores = [this.store, await Store.open(this.urls[1])]
    return this
  }

  async play () {
    for (let now = 0; now < DAYS * 24; now += STEP) {
      await this.#load(now)
      await this.#expire(now)
      if (now % 24 >= 24 - STEP) await this.#endOfDay(now)
      if (now % WEEK >= WEEK - STEP) await this.#endOfWeek()
    }
  }

  async #load (now) {
    const time = hour(now)
    const pick = count => new Set(Array.from({ length: count }, () => Math.floor(this.next() * TILES)))
    const survey = new Map([...(now ? pick(TILES * CHANGED) : Array(TILES).keys())].map(
      number => [idOf('survey', number), this.next() < 0.02 ? null : Math.floor(this.next() * PICTURES)]
    ))
    const cache = new Map([...pick(10)].map(number => [idOf('cache', number), Math.floor(this.next() * PICTURES)]))
    const { created, advanced, failed } = await this.store.write(
      [...versionsOf(time, survey), ...versionsOf(time, cache, hour(now + HOLDS))], { stored: time }
    )
    assert.equal(failed, 0)
    await this.store.putEdition('survey', time, { title: time })
    this.models.survey.editions.add(time)
    this.models.survey.load(time, survey)
    this.models.cache.load(time, cache, hour(now + HOLDS))
    this.totals.editions++
    this.totals.written += created + advanced
  }

  async #expire (now) {
    const summary = await expire(this.store, { layers: ['cache'], action: 'remove', now: () => hour(now) })
    this.totals.expired += summary.expired ?? 0
    this.models.cache.expire(hour(now))
  }

  // A mirror does not see purges, so each store applies the policy by itself. Only past versions are purged: a head
  // that came back after a purge would be in conflict with the copy of the mirror.
  async #endOfDay (now) {
    await mirror(this.urls[0], this.urls[1])
    for (const store of this.stores) await pruneAll(store, { now: () => hour(now), purge: this.purge })
    for (const [layer, policy] of Object.entries(RETENTION)) {
      const before = this.models[layer].versions
      this.models[layer].prune(policy, hour(now))
      this.totals.pruned += before - this.models[layer].versions
    }
  }

  async #endOfWeek () {
    for (const store of this.stores) await compact(store, { when: 'always' })
    const { sizes, doc_count: documents, doc_del_count: deleted } = await this.store.info()
    this.sizes.push({ file: sizes?.file, active: sizes?.active, documents, deleted })
    await this.compare()
    if (LONG) {
      console.log(JSON.stringify({ weeks: this.sizes.length, ...this.totals, ...this.sizes[this.sizes.length - 1] }))
    }
  }

  async compare () {
    const content = { ...this.models.survey.content, ...this.models.cache.content }
    for (const url of this.urls) {
      assert.deepEqual(await contentOf(url),
        Object.fromEntries(Object.entries(content).sort(([a], [b]) => a < b ? -1 : 1)))
    }
    await this.#compareAnswers()
    assert.deepEqual((await this.store.editions('survey')).map(({ time }) => time),
      [...this.models.survey.editions].sort())
    for (const [layer, model] of Object.entries(this.models)) {
      assert.equal((await this.store.stats(layer)).versions, model.versions, `versions of ${layer}`)
    }
  }

  /** Compares the answers for random tiles at kept moments. */
  async #compareAnswers () {
    const moments = [...this.models.survey.kept(RETENTION.survey, '9999').moments].sort()
    for (let tries = 0; tries < 20; tries++) {
      const time = moments[Math.floor(this.next() * moments.length)]
      const number = Math.floor(this.next() * TILES)
      const [, z, x, y] = idOf('survey', number).split(':').map(Number)
      const expected = this.models.survey.at(idOf('survey', number), time)
      const answer = await this.store.at('survey', z, x, y, time).catch(error => error.code)
      assert.deepEqual(answer.time ?? answer, expected?.image == null ? 'TILE_NOT_FOUND' : expected.time)
    }
  }
}

onEachStore(`${DAYS} days of a store on its own (seed ${SEED})`, backend => {
  it('leave the same as a model in memory, at the store and at its mirror', async function () {
    if (LONG && backend.name === 'embedded') this.skip()
    this.timeout(LONG ? 4 * 3600e3 : 120000)
    const year = await new Year([await backend.database(), await backend.database()],
      { purge: backend.name !== 'embedded' }).open()
    try {
      await year.play()
      await year.compare()
      if (backend.name !== 'embedded') assertBounded(year.sizes)
    } finally {
      for (const store of year.stores) await store.destroy()
    }
  })
})

/** Checks that the compacted file is bounded by the kept documents, and does not grow with removed ones. */
function assertBounded (sizes) {
  const lastSize = sizes[sizes.length - 1]
  assert.ok(lastSize.deleted <= TILES, `${lastSize.deleted} tombstones: at most one for each place of the cache`)
  const perDocument = sizes.map(({ file, documents }) => file / documents)
  assert.ok(perDocument[perDocument.length - 1] < 2 * Math.min(...perDocument),
    `bytes a document: ${perDocument.map(Math.round)}`)
}
