// The histories of histories.test.js on real stores with their own replication: random loads on separate stores,
// replicated in any order, resolved at any moment, with a run that is stopped in the middle.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { random } from '../../bench/tiles.js'
import { json } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { differences } from '../mirror/compare.js'
import { digestOf } from '../../loader/store/tile.js'
import { png } from '../support/tiles.js'
import { Masters, S, T, onEachMixture } from './masters.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const STEPS = +(process.env.TILECOUCH_RESOLVE_STEPS ?? 25)

onEachMixture(`stores loaded apart (seed ${SEED})`, mixture => {
  it('become the same, lose nothing and have no conflicts left, after random actions', async () => {
    const next = random(SEED)
    const below = limit => Math.floor(next() * limit)
    const masters = await Masters.open(mixture, 3)
    const stored = new Set()
    const actions = {
      async load (index) {
        const time = T(1 + below(4))
        const versions = Array.from({ length: 6 }, (_, x) => ({ layer: 'osm', z: 4, x, y: 0, time, image: below(5) }))
          .filter(() => next() < 0.7)
        const failed = new Set()
        await masters.stores[index].write(versions.map(
          ({ image, ...version }) => image ? { ...version, bytes: png(image) } : { ...version, gone: true }
        ), { stored: S(below(5)), onFailure: ({ id }) => failed.add(id) })
        // only versions that were stored: an unchanged one was not
        for (const { x, image } of versions) {
          const [doc] = (await masters.stores[index].versions('osm', 4, x, 0))
            .filter(version => version.time === time && !version.contested)
          if (doc && (doc.digest ?? '') === (image ? digestOf(png(image)) : '') && !failed.has(`osm:4:${x}:0`)) {
            stored.add(`${x} ${time} ${doc.digest ?? ''}`)
          }
        }
      },
      hand: index => masters.hand(below(3), index),
      mend: index => masters.resolve(index),
      async stop (index) {
        const controller = new AbortController()
        const running = masters.resolve(index, { signal: controller.signal, limits: { tiles: 1, batch: 1 } })
          .catch(error => { assert.equal(error.code, 'ABORTED') })
        await sleep(below(30))
        controller.abort()
        await running
      }
    }
    const order = ['load', 'load', 'load', 'hand', 'hand', 'mend', 'stop']
    for (let step = 0; step < STEPS; step++) await actions[order[below(order.length)]](below(3))
    for (let turn = 0; turn < 10; turn++) {
      await masters.meet()
      const summaries = await Promise.all([0, 1, 2].map(index => masters.resolve(index)))
      if (summaries.every(({ conflicts }) => !conflicts)) break
    }
    for (const url of masters.urls.slice(1)) {
      assert.deepEqual(
        await differences(masters.urls[0], url, { revpos: mixture.every(({ name }) => name === 'CouchDB') }), []
      )
    }
    await checkInvariants(masters.urls[0], { settled: false })
    const { rows } = await json(`${masters.urls[0]}/_all_docs?include_docs=true`)
    const storedVersions = new Set(rows.filter(({ doc }) => doc.type === 'tile')
      .map(({ doc }) => `${doc.x} ${doc.contested ?? doc.time} ${doc._attachments?.tile.digest ?? ''}`))
    assert.ok(stored.size > 0)
    for (const version of stored) assert.ok(storedVersions.has(version), `${version} is there`)
    for (const time of [1, 2, 3, 4].map(T)) {
      for (let x = 0; x < 6; x++) {
        const answers = await Promise.all(
          masters.stores.map(store => store.at('osm', 4, x, 0, time).then(({ digest }) => digest, ({ code }) => code))
        )
        assert.equal(new Set(answers).size, 1, `${x} as of ${time}`)
      }
    }
    await masters.close()
  }).timeout(300000)
})
