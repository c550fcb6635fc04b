/* global window -- of the page, in functions that run there */
// The contract of a history layer on a map of any library. The suites of the three libraries run it, each with its own
// targets.
import assert from 'node:assert/strict'
import { until } from '../../../bench/wait.js'
import { createGate, seconds } from './front.js'
import { T, stepAt, tilesOf } from './gallery.js'
import { UNHURRIED, call, eventsOf, expected, frames, onStage, pictureOf } from './suite.js'

/**
 * A map library, or one of its renderers.
 * @typedef {object} Target
 * @property {string} name
 * @property {import('./suite.js').Library} [library] Leaflet, if it is not given
 * @property {Record<string, any>} [options] of each layer
 * @property {RegExp[]} [console] messages of the library itself on the console
 * @property {boolean} isPixels its picture is read from pixels, so a part of the map without a tile is a hole
 * @property {(z: number) => number} mapZoom the zoom of a map that shows tiles of 256 pixels of zoom z
 * @property {(place: [number, number]) => any} mapCenter as the options of a map have it
 * @property {(page: import('playwright-core').Page, place: [number, number]) => Promise<any>} moveTo longitude and
 *   latitude; resolves when the map is there
 * @property {(page: import('playwright-core').Page, z: number) => Promise<any>} zoomTo resolves when the map is there
 * @property {(page: import('playwright-core').Page) => Promise<any>} remove takes the layer off the map
 * @property {(page: import('playwright-core').Page) => Promise<any>} add puts it on the map again
 */

const STEPS = [1, 2, 3, 4, 5]
const BACK = [4, 3, 2, 1, 5]
const PROVOKED = [/Failed to load resource/, /net::ERR/]

/** The step that a tile shows, without marks of how it is drawn; with `<zoom` where an ancestor is enlarged. */
const plain = text => text.replace(/[~]|\.\d/g, '')
const plainPicture = picture => Object.fromEntries(Object.entries(picture).map(([key, text]) => [key, plain(text)]))

/** The steps that a picture shows, each once, without holes. */
const stepsIn = picture => [
  ...new Set(Object.values(picture).flatMap(text => text.split('+')).map(text => plain(text).split(/[<@ ]/)[0]))
].filter(step => step !== '-')

const tileOf = key => key.split('#')[0].split('/').map(Number)

const shows = (picture, layer, step) => assert.deepEqual(plainPicture(picture),
  expected(picture, (...tile) => stepAt(layer, step, ...tile)), `${layer} at step ${step}`)

/** The tiles that differ between two steps of a layer. */
const differing = (tiles, from, to, layer = 'steps') => tiles.filter(key =>
  stepAt(layer, from, ...tileOf(key)) !== stepAt(layer, to, ...tileOf(key)))

/** @param {Target} target */
export function mapContract (target) {
  const { name, library, options = {}, console: messages = [], isPixels, mapZoom, mapCenter, moveTo, zoomTo } = target

  /** A suite with its stage. `show` has the options of the target. */
  const suite = (title, layers, body, everywhere = false) =>
    onStage(`${name}: ${title}`, { layers, library, everywhere }, stage => {
      beforeEach(() => stage.allow(...messages))
      const show = (layer, { z = 3, center = [0, 0], map = {}, ...layerOptions } = {}) => stage.show(layer, {
        ...options, ...layerOptions, map: { zoom: mapZoom(z), center: mapCenter(center), ...map }
      })
      body(stage, show)
    })

  suite('a step of the clock', ['steps'], (stage, show) => {
    it('follows a first picture that takes one request for the index and one for each image', async () => {
      const page = await show('steps')
      const picture = await stage.rest(page)
      shows(picture, 'steps', 5)
      assert.ok(Object.keys(picture).length >= 6)
      for (const kind of ['index', 'layer', 'extent']) {
        assert.equal(stage.front.requests(kind).length, 1, kind)
      }
      const requested = stage.front.tiles()
      assert.equal(new Set(requested).size, requested.length)
      assert.deepEqual(Object.keys(picture).filter(key => !requested.includes(key)), [])
    })

    it('requests only the versions that differ, and nothing on the way back', async () => {
      const page = await show('steps', { time: T(1) })
      const inView = stage.front.tiles()
      for (const step of STEPS.slice(1)) {
        stage.front.forget()
        shows(await stage.at(page, T(step)), 'steps', step)
        assert.deepEqual(stage.front.requests().map(({ tile }) => tile).sort(),
          differing(inView, step - 1, step), `step ${step}`)
      }
      stage.front.forget()
      for (const step of BACK) shows(await stage.at(page, T(step)), 'steps', step)
      assert.deepEqual(stage.front.requests(), [])
    })
  }, true)

  suite('the frames of a step', ['steps'], (stage, show) => {
    it('show the old or the new picture, never a mixture or a hole, while some tiles are slow', async () => {
      const page = await show('steps', { time: T(1), together: UNHURRIED })
      stage.front.rule(({ tile }) => seconds({ '3/3/3': 0.3, '3/4/4': 0.15 }[tile] ?? 0))
      for (const step of STEPS.slice(1)) {
        const pictures = await frames(page, () => stage.at(page, T(step)))
        assert.equal(pictures.length, 2, `step ${step}: ${JSON.stringify(pictures)}`)
        shows(pictures[0], 'steps', step - 1)
        shows(pictures[1], 'steps', step)
      }
    })

    it('keep the old picture until the time to wait for a late tile is over', async () => {
      await stepsWithLateTile(stage, await show('steps', { time: T(1), together: 200 }))
    })

    it('end at the right picture after many quick steps, and request no version twice', async () => {
      await stormOfSteps(stage, await show('steps', { time: T(1), together: UNHURRIED }))
    })

    it('change together again in a quick step after a slow one', async () => {
      const page = await show('steps', { time: T(1), together: 600 })
      const late = createGate()
      stage.front.rule(({ path }) => { if (/01-03/.test(path)) return late.opened })
      await call(page, 'layer.setTime', T(3))
      await page.waitForFunction(() => Object.values(window.see.picture()).includes('2'))
      // the quick step may take any time: the test checks that the layer waits for it again
      await page.evaluate(together => {
        const { layer } = window
        const { options: layerOptions } = layer.history ?? layer
        layerOptions.together = together
      }, UNHURRIED)
      stage.front.rule(({ tile }) => { if (tile === '3/4/4') return seconds(0.15) })
      const pictures = await frames(page, () => stage.at(page, T(5)))
      assert.equal(pictures.length, 2, JSON.stringify(pictures))
      late.open()
    })
  })

  suite('a map that moves', ['steps'], (stage, show) => {
    it('shows one time in each frame of a step, and no older time when it is shown again', async () => {
      const page = await show('steps', { time: T(1), together: UNHURRIED })
      const open = createGate()
      stage.front.rule(({ tile, kind }) => kind === 'tile' && tile === '3/5/3' ? open.opened : undefined)
      const pictures = await frames(page, async () => {
        await call(page, 'layer.setTime', T(5))
        await moveTo(page, [80, -10])
        await until(() => stage.front.tiles().some(tile => tile.startsWith('3/6/')))
        open.open()
        await stage.rest(page)
      })
      for (const picture of pictures) assert.equal(stepsIn(picture).length, 1, JSON.stringify(pictures))
      assert.deepEqual(stepsIn(pictures.at(-1)), ['5'])
      await stage.at(page, T(4))
      stage.front.rule(({ tile }) => /3\/3/.test(tile) ? seconds(0.3) : undefined)
      const laterPictures = await frames(page, async () => {
        await moveTo(page, [0, 0])
        shows(await stage.rest(page), 'steps', 4)
      })
      for (const picture of laterPictures) assert.ok(!stepsIn(picture).includes('5'), JSON.stringify(laterPictures))
    })

    it('requests a tile again that left the view before it came', async () => {
      const slow = createGate()
      const page = await show('steps', { time: T(1) })
      stage.front.rule(({ kind }) => kind === 'tile' ? slow.opened : undefined)
      await moveTo(page, [130, 0])
      await until(() => stage.front.requests('tile').some(({ tile, done }) => !done && tile === '3/7/4'))
      await moveTo(page, [0, 0])
      slow.open()
      shows(await stage.rest(page), 'steps', 1)
      await moveTo(page, [130, 0])
      shows(await stage.rest(page), 'steps', 1)
    })

    it('requests nothing when it returns to the view of a moment before', async () => {
      const page = await show('steps', { time: T(1) })
      await moveTo(page, [120, 0])
      await stage.rest(page)
      stage.front.forget()
      await moveTo(page, [0, 0])
      shows(await stage.rest(page), 'steps', 1)
      assert.deepEqual(stage.front.requests(), [])
    })
  })

  suite('a map that zooms', ['depths'], (stage, show) => {
    for (const [from, to] of [[3, 4], [4, 3]]) {
      it(`from ${from} to ${to} shows one time in each frame of a step`, async () => {
        const page = await show('depths', { time: T(1), together: UNHURRIED, z: from })
        const open = createGate()
        stage.front.rule(({ tile, kind }) =>
          kind === 'tile' && tile === (to === 4 ? '4/8/8' : '3/4/4') ? open.opened : undefined)
        const pictures = await frames(page, async () => {
          await call(page, 'layer.setTime', T(2))
          await zoomTo(page, to)
          open.open()
          await stage.rest(page)
        }, true)
        for (const picture of pictures) {
          assert.equal(stepsIn(picture).length, 1, JSON.stringify(pictures))
          // zooming out uncovers parts without tiles
          const hasHole = Object.values(picture).some(text => text.split('+').includes('-'))
          assert.ok(!isPixels || to < from || !hasHole, JSON.stringify(pictures))
        }
        assert.deepEqual(stepsIn(await stage.rest(page)), ['2'])
      })
    }
  })

  suite('places', ['holes', 'deep', 'bounded', 'pacific'], (stage, show) => {
    it('without a tile at a time are empty, and change like others, without errors or needless requests', async () => {
      const page = await show('holes', { time: T(1) })
      shows(await stage.rest(page), 'holes', 1)
      for (const [step, requested] of [[2, []], [3, ['3/3/3', '3/4/3']], [2, []], [1, []]]) {
        stage.front.forget()
        const pictures = await frames(page, () => stage.at(page, T(step)))
        assert.equal(pictures.length, 2)
        shows(pictures[1], 'holes', step)
        assert.equal(plain(pictures[1]['3/3/4']), '-')
        assert.deepEqual(stage.front.tiles(), requested, `step ${step}`)
      }
      const types = (await eventsOf(page)).map(({ type }) => type)
      assert.ok(!types.includes('tileerror') && !types.includes('storeerror'), String(types))
      const [tile] = await call(page, 'layer.changedTiles', T(1), T(2))
      assert.deepEqual([tile.z, tile.x, tile.y, tile.before.time, tile.after.gone, tile.bytes],
        [3, 3, 3, T(1), true, 0])
    })

    it('without a tile show their part of the nearest ancestor of the same time', async () => {
      const page = await show('deep', { time: T(1) })
      // columns 0 to 3 have parents at zoom 2, the others grandparents at zoom 1
      const rule = step => (z, x, y) => {
        if (step >= 2 && x === 3 && y === 3) return '2'
        return x < 4 ? '1<2' : `${step === 3 ? 3 : 1}<1`
      }
      for (const step of [1, 2, 3, 2]) {
        const picture = await stage.at(page, T(step))
        assert.deepEqual(plainPicture(picture), expected(picture, rule(step)), `step ${step}`)
      }
      const paths = stage.front.requests('tile').map(({ path }) => path)
      assert.equal(new Set(paths).size, paths.length, 'no image twice, though many tiles show parts of it')
    })

    it('outside of the bounds are not requested, also where the bounds cross the antimeridian', async () => {
      const bounded = await show('bounded', { center: [20, -20] })
      const shownTiles = picture => Object.keys(picture).filter(key => picture[key] !== '-').sort()
      assert.deepEqual(shownTiles(await stage.rest(bounded)).filter(key => !/^3\/4\/[23]$/.test(key)), [])
      assert.deepEqual(stage.front.tiles().filter(tile => !/^3\/4\/[23]$/.test(tile)), [])
      stage.front.forget()
      const pacific = await show('pacific', { time: T(1), center: [179, 0] })
      assert.deepEqual(shownTiles(await stage.rest(pacific)), ['3/0/3#1', '3/0/4#1', '3/7/3', '3/7/4'])
      assert.deepEqual(stage.front.tiles(), ['3/0/3', '3/0/4', '3/7/3', '3/7/4'], 'each image once')
      assert.equal((await stage.at(pacific, T(2)))['3/0/3#1'], '2')
    })
  })

  suite('a layer', ['steps'], (stage, show) => {
    it('reports a tile that fails, and shows it when it comes', async () => {
      stage.allow(...PROVOKED)
      const stopFailing =
        stage.front.rule(({ kind, tile }) => kind === 'tile' && tile === '3/3/3' ? { status: 503 } : undefined)
      const page = await show('steps', { attempts: 1, wait: false })
      await page.waitForFunction(() => window.events.some(({ type }) => type === 'tileerror') && window.layer.isShown())
      assert.equal((await pictureOf(page))['3/3/3'].slice(0, 1), '-')
      assert.deepEqual((await eventsOf(page, 'tileerror'))[0],
        { type: 'tileerror', code: 'COUCHDB_ERROR', tile: '3/3/3' })
      stopFailing()
      await call(page, 'layer.retry')
      await page.waitForFunction(() => window.see.picture()['3/3/3'] === '5')
    })

    it('keeps the older image of a tile whose newer one fails', async () => {
      stage.allow(...PROVOKED)
      const page = await show('steps', { time: T(1), attempts: 1 })
      const stopFailing =
        stage.front.rule(({ kind, tile }) => kind === 'tile' && tile === '3/3/3' ? { status: 503 } : undefined)
      await call(page, 'layer.setTime', T(5))
      await page.waitForFunction(() => Object.values(window.see.picture()).filter(text => text !== '5').length === 1)
      assert.equal((await pictureOf(page))['3/3/3'].replace('!', ''), '1')
      stopFailing()
      await call(page, 'layer.retry')
      await page.waitForFunction(() => window.see.picture()['3/3/3'] === '5')
    })

    it('requests nothing while it is off the map, and returns at the time of its clock', async () => {
      const page = await show('steps', { time: T(1) })
      await target.remove(page)
      stage.front.forget()
      await call(page, 'layer.setTime', T(5))
      assert.deepEqual(stage.front.requests(), [])
      await target.add(page)
      shows(await stage.rest(page), 'steps', 5)
    })

    it('is drawn again from memory when it is put back while the store is away', async () => {
      stage.allow(...PROVOKED)
      const page = await show('steps', { time: T(1) })
      await target.remove(page)
      stage.front.rule(() => ({ status: 503 }))
      await target.add(page)
      shows(await stage.rest(page), 'steps', 1)
    })

    it('shows a new version of the store by itself', async () => {
      const layer = `live-${name.toLowerCase().replace(/\W+/g, '-')}`
      await stage.store.defineLayer(layer, { minzoom: 3, maxzoom: 3 })
      await stage.write(layer, { 1: tilesOf(3) })
      const page = await show(layer, { live: true })
      await until(() => stage.front.requests('changes').length > 1, { what: 'the feed' })
      await stage.write(layer, { 2: [[3, 3, 3], [3, 4, 4]] })
      await page.waitForFunction(() => {
        const { '3/3/3': first, '3/4/4': second, '3/3/4': third } = window.see.picture()
        return first === '2' && second === '2' && third === '1'
      })
    })

    it('holds no more images and textures after many steps than after few', async () => {
      const page = await stage.page()
      await page.evaluate(countImages)
      await stage.draw(page, 'steps', { ...options, time: T(1), map: { zoom: mapZoom(3), center: mapCenter([0, 0]) } })
      const readCounts = () => page.evaluate(() => ({ ...window.counts }))
      for (const step of [...STEPS, ...BACK]) await stage.at(page, T(step))
      const initialCounts = await readCounts()
      for (const step of [...STEPS, ...BACK, ...BACK]) shows(await stage.at(page, T(step)), 'steps', step)
      assert.deepEqual(await readCounts(), initialCounts)
    })
  })
}

/**
 * A step from 1 to 5 in which one tile is later than `together`: it keeps its older image, the others change.
 * @param {import('./suite.js').Stage} stage
 */
export async function stepsWithLateTile (stage, page) {
  const late = createGate()
  stage.front.rule(({ tile }) => { if (tile === '3/3/3') return late.opened })
  const pictures = await frames(page, async () => {
    await call(page, 'layer.setTime', T(5))
    await page.waitForFunction(() => Object.values(window.see.picture()).filter(text => text !== '5').length === 1)
    late.open()
    await stage.rest(page)
  })
  shows(pictures[0], 'steps', 1)
  shows(pictures.at(-1), 'steps', 5)
  for (const picture of pictures.slice(0, -1)) {
    assert.ok(picture['3/3/3'] === '1' && Object.values(picture).every(text => text === '1' || text === '5'),
      JSON.stringify(picture))
  }
}

/**
 * Two hundred steps at once, from 1 to 4: the picture changes once, with few requests.
 * @param {import('./suite.js').Stage} stage
 * @returns {Promise<Record<string, string>[]>} the pictures of the frames
 */
export async function stormOfSteps (stage, page) {
  stage.front.forget()
  let running = 0
  let maxRunning = 0
  stage.front.rule(async () => {
    maxRunning = Math.max(maxRunning, ++running)
    await seconds(0.03)
    running--
  })
  const pictures = await frames(page, async () => {
    await page.evaluate(times => {
      const { layer } = window
      for (let index = 0; index < 200; index++) layer.setTime(times[index * 7 % times.length])
      layer.setTime(times[3])
    }, STEPS.map(T))
    shows(await stage.rest(page), 'steps', 4)
  })
  const paths = stage.front.requests('tile').map(({ path }) => path)
  assert.equal(new Set(paths).size, paths.length)
  assert.ok(maxRunning <= 6, `${maxRunning} at the same time`)
  assert.ok(paths.length <= 6 + Object.keys(pictures[0]).length, `${paths.length} requests`)
  assert.equal(pictures.length, 2)
  return pictures
}

/** Runs in the page: counts open images, textures and object URLs. */
export function countImages () {
  const view = window
  const counts = view.counts = { bitmaps: 0, textures: 0, urls: 0 }
  const count = (owner, method, kind, change) => {
    const original = owner[method]
    owner[method] = function (...args) {
      counts[kind] += change
      return original.apply(this, args)
    }
  }
  count(view, 'createImageBitmap', 'bitmaps', 1)
  count(URL, 'createObjectURL', 'urls', 1)
  count(URL, 'revokeObjectURL', 'urls', -1)
  for (const { prototype } of [view.WebGLRenderingContext, view.WebGL2RenderingContext]) {
    count(prototype, 'createTexture', 'textures', 1)
    count(prototype, 'deleteTexture', 'textures', -1)
  }
  const { close } = view.ImageBitmap.prototype
  view.ImageBitmap.prototype.close = function () {
    if (this.width) counts.bitmaps-- // a second call closes nothing
    close.call(this)
  }
}
