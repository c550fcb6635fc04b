/* global window -- of the page, in functions that run there */
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { gate, seconds } from '../support/client/front.js'
import { T, stepAt, tilesOf } from '../support/client/gallery.js'
import { maplibre } from '../support/client/maplibre-page.js'
import { UNHURRIED, call, expected, frames, onStage } from '../support/client/suite.js'

const STEPS = [1, 2, 3, 4, 5]
const shows = (picture, step) => assert.deepEqual(picture,
  expected(picture, (...tile) => stepAt('steps', step, ...tile)), `the picture of step ${step}`)
const inView = tilesOf(3, (x, y) => x >= 2 && x <= 5 && y >= 3 && y <= 4).map(tile => tile.join('/'))
const differing = (from, to) => inView.filter(key => {
  const [z, x, y] = key.split('/').map(Number)
  return stepAt('steps', from, z, x, y) !== stepAt('steps', to, z, x, y)
})
const isOf = (picture, step) => Object.entries(picture)
  .every(([key, text]) => text === stepAt('steps', step,
    .../** @type {[number, number, number]} */ (key.split('/').map(Number))))

/** The steps that a frame shows tiles of. */
const timesOf = picture => [...new Set(Object.values(picture).filter(text => text !== '-'))]

onStage('a step of the clock in MapLibre', { layers: ['steps'], everywhere: true, library: maplibre }, stage => {
  it('asks for exactly the versions that differ, and on the way back for nothing', async () => {
    const page = await stage.show('steps', { time: T(1) })
    const first = stage.front.tiles()
    shows(await stage.rest(page), 1)
    assert.deepEqual(first, inView)
    for (const step of STEPS.slice(1)) {
      stage.front.forget()
      shows(await stage.at(page, T(step)), step)
      assert.deepEqual(stage.front.requests().map(({ tile }) => tile).sort(), differing(step - 1, step), `step ${step}`)
    }
    stage.front.forget()
    for (const step of [4, 3, 2, 1, 5]) shows(await stage.at(page, T(step)), step)
    assert.deepEqual(stage.front.requests(), [])
  })
})

onStage('the frames of a step in MapLibre', { layers: ['steps'], library: maplibre }, stage => {
  it('show the one picture or the other, nothing between and nothing empty, though some tiles are slow', async () => {
    const page = await stage.show('steps', { time: T(1), together: UNHURRIED })
    stage.front.rule(({ tile }) => seconds({ '3/3/3': 0.3, '3/4/4': 0.15 }[tile] ?? 0))
    for (const step of STEPS.slice(1)) {
      const seen = await frames(page, () => stage.at(page, T(step)))
      assert.ok(isOf(seen[0], step - 1) && isOf(seen[1], step), `step ${step}: ${JSON.stringify(seen)}`)
      assert.equal(seen.length, 2)
    }
  })

  it('keep what is there until a tile that is very late is not waited for any longer', async () => {
    const page = await stage.show('steps', { time: T(1), together: 200 })
    const late = gate()
    stage.front.rule(({ tile }) => { if (tile === '3/3/3') return late.opened })
    const seen = await frames(page, async () => {
      await call(page, 'layer.setTime', T(5))
      await page.waitForFunction(() => Object.values(/** @type {any} */ (window).see.picture())
        .filter(text => text !== '5').length === 1)
      late.open()
      await stage.rest(page)
    })
    assert.ok(isOf(seen[0], 1) && isOf(seen.at(-1), 5))
    for (const picture of seen.slice(0, -1)) {
      assert.ok(picture['3/3/3'] === '1' && Object.values(picture).every(text => text === '1' || text === '5'),
        JSON.stringify(picture))
    }
  })

  it('end at the right picture after a storm of steps, with no version asked for twice', async () => {
    const page = await stage.show('steps', { time: T(1), together: UNHURRIED })
    stage.front.forget()
    stage.front.rule(() => seconds(0.03))
    const seen = await frames(page, async () => {
      await page.evaluate(times => {
        const { layer } = /** @type {any} */ (window)
        for (let at = 0; at < 200; at++) layer.setTime(times[at * 7 % times.length])
        layer.setTime(times[3])
      }, STEPS.map(T))
      shows(await stage.rest(page), 4)
    })
    const paths = stage.front.requests('tile').map(({ path }) => path)
    assert.equal(new Set(paths).size, paths.length)
    assert.equal(seen.length, 2)
  })

  it('are complete although another source of the map keeps every request of images waiting', async () => {
    const page = await stage.show('steps', { time: T(5), together: UNHURRIED })
    shows(await stage.at(page, T(1)), 1)
    const never = gate()
    stage.front.rule(({ path }) => { if (/other/.test(path)) return never.opened })
    await page.evaluate(async () => {
      const { map, db } = /** @type {any} */ (window)
      map.addSource('other', { type: 'raster', tileSize: 64, tiles: [`${db}/other/{z}/{x}/{y}`] })
      map.addLayer({ id: 'other', type: 'raster', source: 'other' }, 'steps')
    })
    await until(() => stage.front.requests().filter(({ path }) => /other/.test(path)).length >= 6)
    const seen = await frames(page, async () => {
      await call(page, 'layer.setTime', T(5))
      await page.waitForFunction(() => Object.values(/** @type {any} */ (window).see.picture())
        .every(text => text === '5'))
    })
    assert.equal(seen.length, 2)
    await page.evaluate(() => {
      const { map } = /** @type {any} */ (window)
      map.removeLayer('other')
      map.removeSource('other')
    })
    never.open()
  })

  it('show one time while the map moves during a step, and none of a time before when it comes back', async () => {
    const page = await stage.show('steps', { time: T(1), together: UNHURRIED })
    const open = gate()
    stage.front.rule(({ path, tile }) => { if (tile === '3/5/3' && /tile/.test(path)) return open.opened })
    const seen = await frames(page, async () => {
      await call(page, 'layer.setTime', T(5))
      await page.evaluate(() => /** @type {any} */ (window).map.panBy([600, 100], { duration: 200 }))
      await page.waitForFunction(() => !/** @type {any} */ (window).map.isMoving())
      await until(() => stage.front.tiles().includes('3/6/5'))
      open.open()
      await stage.rest(page)
    })
    for (const picture of seen) assert.equal(timesOf(picture).length, 1, JSON.stringify(picture))
    await stage.at(page, T(4))
    stage.front.rule(({ tile }) => { if (/3\/3/.test(tile)) return seconds(0.3) })
    const back = await frames(page, async () => {
      await page.evaluate(() => /** @type {any} */ (window).map.panBy([-600, -100], { duration: 200 }))
      await page.waitForFunction(() => !/** @type {any} */ (window).map.isMoving())
      shows(await stage.rest(page), 4)
    })
    for (const picture of back) assert.ok(!timesOf(picture).includes('5'), JSON.stringify(picture))
  })
})

onStage('zooming in MapLibre', { layers: ['zooms'], library: maplibre }, stage => {
  const stepsOf = picture => [...new Set(Object.values(picture).map(text => text[0]))]
  const withoutNew = steps => steps.filter(text => text !== '-') // zooming out uncovers what was never there

  for (const [way, from, to] of /** @type {const} */ ([['in', 1, 2], ['out', 2, 1]])) {
    it(`${way} shows one time in each frame, also during a step`, async () => {
      const page = await stage.show('zooms', { time: T(1), together: UNHURRIED, map: { zoom: from } })
      for (const step of [2, 3, 1]) {
        const open = gate()
        const isOpen = stage.front.rule(
          ({ tile, kind }) => { if (kind === 'tile' && tile === (to === 2 ? '3/3/3' : '2/1/1')) return open.opened }
        )
        const seen = await frames(page, async () => {
          await call(page, 'layer.setTime', T(step))
          await page.evaluate(zoom => /** @type {any} */ (window).map.easeTo({ zoom, duration: 200 }), to)
          await page.waitForFunction(() => !/** @type {any} */ (window).map.isMoving())
          open.open()
          await stage.rest(page)
        })
        for (const picture of seen) {
          assert.equal((to === 2 ? stepsOf(picture) : withoutNew(stepsOf(picture))).length,
            1, `step ${step}: ${JSON.stringify(picture)}`)
        }
        assert.deepEqual(stepsOf(seen.at(-1)), [String(step)])
        isOpen()
        await page.evaluate(zoom => /** @type {any} */ (window).map.jumpTo({ zoom }), from)
        const back = await stage.rest(page)
        assert.deepEqual(stepsOf(back), [String(step)])
      }
    })
  }
})
