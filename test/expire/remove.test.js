// Removing what has expired loses no history, and takes nothing from whoever else is at work.
import assert from 'node:assert/strict'
import { check } from '../../loader/check/index.js'
import { expire } from '../../loader/maintain/expired/index.js'
import { load } from '../../loader/load/index.js'
import { removeEdition } from '../../loader/maintain/remove/index.js'
import { resolve } from '../../loader/check/conflicts.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { HOUR, T, at, useExpiry } from '../support/expiry.js'

onEachStore('removing expired tiles', backend => {
  const map = useExpiry(backend)
  const remove = (seconds, options = {}) => expire(map.store, { action: 'remove', now: () => at(seconds), ...options })
  const counts = ({ expired, removed, ended, changed, refused }) => ({ expired, removed, ended, changed, refused })

  /** Tiles of some columns, as another edition has them. */
  const sourceOf = (...columns) => memorySource(Object.fromEntries(columns.map(x => [`6/${x}/0`, x])))

  it('deletes a tile without a past, and makes a tile with a past gone from its expiry on', async () => {
    await map.store.defineLayer('osm', { ttl: HOUR })
    await map.write([map.tile(1, { image: 7, time: at(-100) })], at(-100))
    await map.write([map.tile(0), map.tile(1), map.tile(2), map.tile(3, { expires: at(2 * HOUR) })])
    // a map of tomorrow, which expires today
    await map.write([map.tile(2, { time: at(90000), image: 8, expires: at(10) })])
    const planned = await remove(HOUR, { dryRun: true })
    assert.deepEqual(await map.history(0), ['0 tile head'])
    const done = await remove(HOUR)
    assert.deepEqual(counts(done), { expired: 3, removed: 1, ended: 2, changed: 0, refused: 0 })
    assert.deepEqual(counts(planned), counts(done))
    assert.deepEqual(await map.history(0), [])
    assert.deepEqual(await map.history(1), ['-100 tile', '0 tile', `${HOUR} gone head ${HOUR}`])
    assert.deepEqual(await map.history(2), ['0 tile', '90000 tile', '90001 gone head 90001'], 'never before the head')
    assert.deepEqual(await map.history(3), [`0 tile head ${2 * HOUR}`])
    const { bytes } = await map.store.at('osm', 6, 1, 0, at(HOUR - 1))
    assert.deepEqual(bytes, png(1), 'what was shown then is shown')
    await assert.rejects(map.store.at('osm', 6, 1, 0, at(HOUR)), { code: 'TILE_NOT_FOUND' })
    await checkInvariants(map.url)
  })

  it('changes nothing in another run', async () => {
    const again = await remove(HOUR)
    assert.deepEqual([counts(again), again.gone], [{ expired: 0, removed: 0, ended: 0, changed: 0, refused: 0 }, 1])
  })

  it('with the past deletes all versions, of at most as many tiles as the limit', async () => {
    await map.write([map.tile(10, { expires: at(1), image: 5, time: at(-9) }),
      map.tile(11, { expires: at(1) }), map.tile(12, { expires: at(2) })])
    await map.write([map.tile(10, { expires: at(1) })])
    assert.deepEqual(counts(await remove(3, { withPast: true, limit: 2 })),
      { expired: 2, removed: 2, ended: 0, changed: 0, refused: 0 })
    assert.deepEqual([await map.history(10), await map.history(11), await map.history(12)], [[], [], ['0 tile head 2']])
    await remove(3)
  })

  it('makes a tile gone only after the time at which it was last found unchanged', async () => {
    await map.store.defineLayer('survey')
    const tile = (x, fields) => map.tile(x, fields, 'survey')
    await map.write([60, 61].map(x => tile(x, { image: 1, time: at(-50) })))
    await map.write([60, 61].map(x => tile(x, { expires: at(5) })))
    await map.write([tile(60, { time: at(10) })])
    await load(map.store, sourceOf(61), { layer: 'survey', time: at(12) })
    assert.equal((await remove(20, { layers: ['survey'] })).ended, 2)
    const shown = async (x, seconds) => (await map.store.at('survey', 6, x, 0, at(seconds)).catch(error => error.code))
      .time ?? 'TILE_NOT_FOUND'
    for (let time = 0; time < 2; time++) {
      assert.deepEqual([await shown(60, 10), await shown(60, 11), await shown(61, 12), await shown(61, 13)],
        [T, 'TILE_NOT_FOUND', T, 'TILE_NOT_FOUND'])
      await resolve(map.store)
    }
  })

  it('deletes a tile whose head fell back to its only other version, with the copy in the past', async () => {
    await map.write([map.tile(62, { expires: at(5), image: 1 })])
    await map.write([map.tile(62, { time: at(2) })])
    await removeEdition(map.store, 'osm', at(2))
    assert.deepEqual(counts(await remove(6, { layers: ['osm'] })),
      { expired: 1, removed: 1, ended: 0, changed: 0, refused: 0 })
    assert.deepEqual(await map.history(62), [])
    await checkInvariants(map.url)
  })

  it('twice at once gives the same as once', async () => {
    await map.write(Array.from({ length: 12 }, (_, x) => map.tile(20 + x, { image: 50 + x, time: at(-50) })))
    await map.write(Array.from({ length: 12 }, (_, x) => map.tile(20 + x, { expires: at(5) })).filter(({ x }) => x % 2))
    await map.write(Array.from({ length: 6 }, (_, x) => map.tile(40 + x, { expires: at(5) })))
    const both = await Promise.all([remove(6, { limits: { past: 3 } }), remove(6, { limits: { past: 4 } })])
    assert.ok(both[0].ended + both[1].ended >= 6)
    for (let x = 20; x < 32; x++) {
      assert.deepEqual(await map.history(x), x % 2 ? ['-50 tile', '0 tile', '5 gone head 5'] : ['-50 tile head'])
    }
    for (let x = 40; x < 46; x++) assert.deepEqual(await map.history(x), [])
    await checkInvariants(map.url)
  }).timeout(20000)

  it('keeps tiles that a gateway refreshed after they were listed', async () => {
    await map.write([map.tile(50, { image: 1, time: at(-50) }), map.tile(52, { image: 1, time: at(-50) })])
    await map.write(
      [map.tile(50, { expires: at(5) }), map.tile(51, { expires: at(5) }), map.tile(52, { expires: at(5) })]
    )
    const { couch } = map.store
    const { queries } = couch
    // the past is looked up after the heads were judged: now the gateway is quicker
    couch.queries = async function (...args) {
      const answer = await queries.apply(couch, args)
      if (args[0] === '_all_docs' && couch.queries !== queries) {
        couch.queries = queries
        await map.store.extend([50, 51].map(x => ({ id: `osm:6:${x}:0`, expires: at(HOUR) })))
        await map.write([map.tile(52, { time: at(6), image: 9, expires: at(HOUR) })], at(6))
      }
      return answer
    }
    const tally = await remove(7).finally(() => { couch.queries = queries })
    assert.deepEqual(counts(tally), { expired: 3, removed: 0, ended: 0, changed: 3, refused: 0 })
    assert.deepEqual(await map.history(50), ['-50 tile', `0 tile head ${HOUR}`])
    assert.deepEqual(await map.history(51), [`0 tile head ${HOUR}`])
    assert.deepEqual(await map.history(52), ['-50 tile', '0 tile', `6 tile head ${HOUR}`])
    await checkInvariants(map.url)
  })

  it('withdraws the statements of editions about tiles of several layers', async () => {
    const layers = ['one', 'two']
    for (const layer of layers) {
      await map.store.defineLayer(layer)
      await map.write([map.tile(9, { time: at(-50), expires: at(5) }, layer)])
      await load(map.store, sourceOf(9), { layer, time: at(-10) })
    }
    assert.equal((await remove(20, { layers })).removed, 2)
    const { settled, unknown } = await resolve(map.store, { layers })
    assert.deepEqual([settled, unknown], [0, 0])
  })

  it('leaves no statement without its image when it is killed, and is completed by another run', async () => {
    for (let most = 6, isKilled = true; isKilled; most += 3) {
      const layer = `killed${most}`
      await map.store.defineLayer(layer, { ttl: HOUR })
      await load(map.store, sourceOf(0, 1, 2), { layer, time: at(-10) })
      let requests = 0
      const dying = new Store(new Couch(map.url))
      const { request } = dying.couch
      dying.couch.request = function (...args) {
        return requests++ < most ? request.apply(dying.couch, args) : Promise.reject(new Error('killed'))
      }
      const options = { now: () => at(1e9), layers: [layer], withPast: true }
      isKilled = await expire(dying, { action: 'remove', ...options }).then(() => false, () => true)
      const { unknown } = await resolve(map.store, { layers: [layer] })
      assert.equal(unknown, 0, `request ${most}`)
      await expire(map.store, { action: 'remove', ...options })
      const { kinds } = await check(map.store, { layers: [layer] })
      const others = Object.keys(kinds).filter(kind => kind !== 'short-edition') // that tells of what was removed
      assert.deepEqual(others, [], `request ${most}`)
    }
  }).timeout(60000)

  it('refuses bad options', async () => {
    for (const options of [{ before: at(99) }, { live: true, limit: 1 }, { live: true, dryRun: true }]) {
      await assert.rejects(remove(9, options), { code: 'BAD_OPTION' })
    }
    await assert.rejects(remove(9, { signal: AbortSignal.abort() }), { code: 'ABORTED' })
    assert.deepEqual(T, at(0))
  })
})
