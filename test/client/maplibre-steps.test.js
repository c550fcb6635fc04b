/* global window -- of the page, in functions that run there */
import assert from 'node:assert/strict'
import { seconds } from './support/front.js'
import { T, stepAt, tilesOf } from './support/gallery.js'
import { maplibre } from './support/maplibre-page.js'
import { call, expected, onStage } from './support/stage.js'

const STEPS = [1, 2, 3, 4, 5]
const shows = (picture, step) => assert.deepEqual(picture, expected(picture, (...tile) => stepAt('steps', step, ...tile)), `the picture of step ${step}`)
const inView = tilesOf(3, (x, y) => x >= 2 && x <= 5 && y >= 3 && y <= 4).map(tile => tile.join('/'))
const differing = (from, to) => inView.filter(key => {
  const [z, x, y] = key.split('/').map(Number)
  return stepAt('steps', from, z, x, y) !== stepAt('steps', to, z, x, y)
})
const isOf = (picture, step) => Object.entries(picture).every(([key, text]) => text === stepAt('steps', step, .../** @type {[number, number, number]} */ (key.split('/').map(Number))))

/** Does something while every frame is watched; the pictures that were seen, each once in a row. */
async function frames (page, task) {
  await page.evaluate(() => { /** @type {any} */ (window).see.watch() })
  await task()
  return call(page, 'frames')
}

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
    const page = await stage.show('steps', { time: T(1), together: 5000 })
    stage.front.rule(({ tile }) => seconds({ '3/3/3': 0.3, '3/4/4': 0.15 }[tile] ?? 0))
    for (const step of STEPS.slice(1)) {
      const seen = await frames(page, () => stage.at(page, T(step)))
      assert.ok(isOf(seen[0], step - 1) && isOf(seen[1], step), `step ${step}: ${JSON.stringify(seen)}`)
      assert.equal(seen.length, 2)
    }
  })
})
