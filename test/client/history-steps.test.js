/* global window, L -- of the page, in functions that run there */
// Tests the steps of the clock of a history layer: kept images, frames, moves of the map and events.
import assert from 'node:assert/strict'
import { LENGTH, T, stepAt } from '../support/client/gallery.js'
import { stepsWithLateTile, stormOfSteps } from '../support/client/map-contract.js'
import { UNHURRIED, call, frames, onStage, shows } from '../support/client/suite.js'
import { holdRequests } from './requests.js'

const STEPS = [1, 2, 3, 4, 5]
const differing = (picture, from, to) => Object.keys(picture).filter(key => {
  const [z, x, y] = key.split('/').map(Number)
  return stepAt('steps', from, z, x, y) !== stepAt('steps', to, z, x, y)
}).sort()

/** Marks every image in view, to distinguish it from an image that replaces it. */
const markImages = page => page.locator('.tilecouch-tile img')
  .evaluateAll(images => images.forEach(image => { image.marked = true }))
const markedImages = page => page.locator('.tilecouch-tile img')
  .evaluateAll(images => images.filter(image => image.marked).length)

/** The steps that a picture shows, each once. */
const stepsOf = picture => [
  ...new Set(Object.values(picture).flatMap(text => text.replace('~', '').split('+')))
].filter(text => text !== '-')

onStage('a step of the clock', { layers: ['steps'], everywhere: true }, stage => {
  it('follows a first picture, with which the layer tells its title, its extent and its changes', async () => {
    const page = await stage.show('steps')
    const picture = await stage.rest(page)
    assert.deepEqual(stage.front.tiles(), Object.keys(picture).sort())
    assert.deepEqual(await call(page, 'layer.extent'), { first: T(1), last: T(5) })
    assert.equal(await call(page, 'layer.title'), 'Steps')
    const changes = STEPS.map(step => {
      const tiles = differing(picture, step - 1, step).length
      return { time: T(step), tiles, bytes: tiles * LENGTH }
    })
    assert.deepEqual(await call(page, 'layer.changes'), changes)
    await page.waitForFunction(() => window.events.length === 4)
    assert.deepEqual((await call(page, 'events.slice')).sort((a, b) => a.type < b.type ? -1 : 1), [
      { type: 'changes', changes }, { type: 'extent', first: T(1), last: T(5) },
      { type: 'layerload' }, { type: 'timeload', time: null }
    ])
  })

  it('keeps the images that are equal at both times', async () => {
    const page = await stage.show('steps', { time: T(1) })
    for (const step of STEPS.slice(1)) {
      const count = await page.locator('.tilecouch-tile img').count()
      await markImages(page)
      const differingCount = differing(await stage.at(page, T(step)), step - 1, step).length
      assert.equal(await markedImages(page), count - differingCount)
      assert.equal(await page.locator('.tilecouch-tile img').count(), count)
    }
  })
})

onStage('the frames of a step', { layers: ['steps'] }, stage => {
  const isPictureOf = (picture, step) => Object.entries(picture)
    .every(([key, text]) => text === stepAt('steps', step, ...key.split('/').map(Number)))

  for (const map of [{ fadeAnimation: false }, { zoomAnimation: false }]) {
    it(`keep the old images until the wait for a late tile is over (map: ${JSON.stringify(map)})`, async () => {
      const page = await stage.show('steps', { time: T(1), together: 200, map })
      await stepsWithLateTile(stage, page)
    })
  }

  it('fade from one image into the next, and leave one image in each tile', async () => {
    const page = await stage.show('steps', { time: T(1), fade: 150, together: UNHURRIED })
    const pictures = await frames(page, () => stage.at(page, T(5)))
    assert.ok(isPictureOf(pictures[0], 1) && isPictureOf(pictures.at(-1), 5))
    assert.ok(pictures.slice(1, -1)
      .every(picture => Object.values(picture).every(text => text === '1+5' || text === '5')), JSON.stringify(pictures))
    await page.evaluate(times => { for (const time of times) window.layer.setTime(time) }, [T(1), T(2), T(3)])
    shows(await stage.rest(page), 'steps', 3)
    assert.equal(await page.locator('.tilecouch-tile img').count(), Object.keys(pictures[0]).length)
    assert.deepEqual(await page.locator('.tilecouch-tile img')
      .evaluateAll(images => images.map(image => image.style.mixBlendMode).filter(Boolean)), [])
  })

  it('change without a fade for users who prefer reduced motion', async () => {
    const page =
      await stage.show('steps', { time: T(1), fade: 500, together: UNHURRIED, page: { reducedMotion: 'reduce' } })
    assert.equal((await frames(page, () => stage.at(page, T(5)))).length, 2)
  })

  it('end many fast steps with each image decoded once and one timeload of the last step', async () => {
    const page = await stage.show('steps', { time: T(1), together: UNHURRIED })
    const before = await page.evaluate(() => window.see.urls().made)
    const pictures = await stormOfSteps(stage, page)
    const decoded = await page.evaluate(() => window.see.urls().made) - before
    assert.equal(decoded, differing(pictures[0], 1, 4).length, 'each image that is shown, once')
    assert.equal((await call(page, 'events.slice')).filter(({ type, time }) => type === 'timeload' && time === T(4))
      .length, 1)
  })
})

onStage('a step of the clock while the map moves', { layers: ['steps', 'depths'] }, stage => {
  for (const zoomAnimation of [true, false]) {
    for (const [from, to] of [[3, 4], [4, 3]]) {
      it(`shows one time in each frame from zoom ${from} to ${to} (zoomAnimation: ${zoomAnimation})`, async () => {
        const page = await stage.show('depths', { time: T(1), together: UNHURRIED, map: { zoom: from, zoomAnimation } })
        const lateTile = to === 4 ? '4/8/8' : '3/4/4'
        const barrier = holdRequests(stage.front, ({ tile, kind }) => kind === 'tile' && tile === lateTile)
        for (const order of ['step', 'zoom']) {
          const step = order === 'step' ? 2 : 1
          const pictures = await frames(page, async () => {
            const zoom = order === 'step' ? to : from
            await page.evaluate(([time, next, first]) => {
              const { layer, map } = window
              if (first === 'step') layer.setTime(time)
              map.setZoom(next)
              if (first === 'zoom') layer.setTime(time)
            }, [T(step), zoom, order])
            await page.waitForFunction(next => window.layer._tileZoom === next, zoom)
            barrier.open()
            await stage.rest(page)
          }, true)
          for (const picture of pictures) {
            assert.ok(stepsOf(picture).length === 1 || (!zoomAnimation && !stepsOf(picture).length),
              `${order}: ${JSON.stringify(pictures)}`)
          }
          assert.deepEqual(stepsOf(await stage.rest(page)), [String(step)])
        }
      })
    }
  }
})

onStage('the state of a history layer', { layers: ['steps'] }, stage => {
  it('is not shown from the moment its clock moves, also for a listener that was added earlier', async () => {
    const page = await stage.page()
    const answers = await page.evaluate(async ([first, last]) => {
      const view = window
      const clock = L.couch.clock({ time: first })
      const shownStates = []
      let layer = null
      clock.on('timechange', () => shownStates.push(layer.isShown())) // before the layer listens
      view.layer = layer = L.tileLayer.couch.history(view.db, { layer: 'steps', clock, preload: 0 })
      view.map = L.map('map', { center: [0, 0], zoom: 3 })
      layer.addTo(view.map)
      await new Promise(resolve => { layer.once('timeload', resolve) })
      shownStates.push(layer.isShown())
      clock.setTime(last)
      shownStates.push(layer.isShown())
      return shownStates
    }, [T(1), T(5)])
    assert.deepEqual(answers, [true, false, false])
    shows(await stage.rest(page), 'steps', 5)
  })

  it('is reported by timechange first and then by timeload, also when no tile changes', async () => {
    const page = await stage.show('steps', { time: T(1) })
    const eventTexts = await page.evaluate(async ([same, last]) => {
      const { layer } = window
      const texts = []
      layer.on('timechange timeload', ({ type }) => texts.push(`${type} ${layer.isShown()}`))
      for (const time of [same, last]) {
        layer.setTime(time)
        await new Promise(resolve => { layer.isShown() ? resolve(undefined) : layer.once('timeload', resolve) })
      }
      return texts
    }, ['2024-01-01T12:00:00Z', T(5)])
    assert.deepEqual(eventTexts, ['timechange false', 'timeload true', 'timechange false', 'timeload true'])
  })

  it('needs no request at preloaded times, and preload stops when its signal aborts', async () => {
    const page = await stage.show('steps', { time: T(1), requests: 1 })
    await page.evaluate(times => window.layer.preload(times), [T(2), T(3)])
    stage.front.forget()
    for (const step of [2, 3]) shows(await stage.at(page, T(step)), 'steps', step)
    assert.deepEqual(stage.front.tiles(), [])
    const barrier = holdRequests(stage.front, ({ kind }) => kind === 'tile')
    await page.evaluate(time => {
      const stop = new AbortController()
      const { layer } = window
      const loaded = layer.preload([time], stop.signal)
      stop.abort()
      return loaded
    }, T(5))
    barrier.open()
    await stage.rest(page)
    assert.ok(stage.front.tiles().length <= 1, 'only what had begun')
  })
})
