// The same as in memory, on real stores and with the replication that they have: random loads apart, heard of in any
// order, put right at any moment, with a run that is stopped in the middle.
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
    const below = most => Math.floor(next() * most)
    const masters = await Masters.open(mixture, 3)
    const stored = new Set()
    const actions = {
      async load (at) {
        const time = T(1 + below(4))
        const versions = Array.from({ length: 6 }, (_, x) => ({ layer: 'osm', z: 4, x, y: 0, time, image: below(5) }))
          .filter(() => next() < 0.7)
        const failed = new Set()
        await masters.stores[at].write(versions.map(
          ({ image, ...version }) => image ? { ...version, bytes: png(image) } : { ...version, gone: true }
        ), { stored: S(below(5)), onFailure: ({ id }) => failed.add(id) })
        // what came to stand: an unchanged one did not
        for (const { x, image } of versions) {
          const [doc] = (await masters.stores[at].versions('osm', 4, x, 0))
            .filter(version => version.time === time && !version.contested)
          if (doc && (doc.digest ?? '') === (image ? digestOf(png(image)) : '') && !failed.has(`osm:4:${x}:0`)) {
            stored.add(`${x} ${time} ${doc.digest ?? ''}`)
          }
        }
      },
      hand: at => masters.hand(below(3), at),
      mend: at => masters.resolve(at),
      async stop (at) {
        const stop = new AbortController()
        const running = masters.resolve(at, { signal: stop.signal, limits: { tiles: 1, batch: 1 } })
          .catch(error => { assert.equal(error.code, 'ABORTED') })
        await sleep(below(30))
        stop.abort()
        await running
      }
    }
    const order = ['load', 'load', 'load', 'hand', 'hand', 'mend', 'stop']
    for (let step = 0; step < STEPS; step++) await actions[order[below(order.length)]](below(3))
    for (let turn = 0; turn < 10; turn++) {
      await masters.meet()
      const found = await Promise.all([0, 1, 2].map(at => masters.resolve(at)))
      if (found.every(({ conflicts }) => !conflicts)) break
    }
    for (const url of masters.urls.slice(1)) {
      assert.deepEqual(
        await differences(masters.urls[0], url, { revpos: mixture.every(({ name }) => name === 'CouchDB') }), []
      )
    }
    await checkInvariants(masters.urls[0], { settled: false })
    const { rows } = await json(`${masters.urls[0]}/_all_docs?include_docs=true`)
    const there = new Set(rows.filter(({ doc }) => doc.type === 'tile')
      .map(({ doc }) => `${doc.x} ${doc.contested ?? doc.time} ${doc._attachments?.tile.digest ?? ''}`))
    assert.ok(stored.size > 0)
    for (const version of stored) assert.ok(there.has(version), `${version} is there`)
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
