// History in OpenLayers: what a step of the clock asks for, and what every frame of it shows, on canvas and WebGL.
/* global window -- of the page, in functions that run there */
import assert from 'node:assert/strict'
import { gate, seconds } from '../support/client/front.js'
import { T, stepAt } from '../support/client/gallery.js'
import { READING, move, openlayers } from '../support/client/openlayers-page.js'
import { UNHURRIED, call, expected, frames, onStage } from '../support/client/suite.js'

const STEPS = [1, 2, 3, 4, 5]
const shows = (picture, step) => assert.deepEqual(picture,
  expected(picture, (...tile) => stepAt('steps', step, ...tile)), `the picture of step ${step}`)
const differing = (picture, from, to) => Object.keys(picture).filter(key => {
  const [z, x, y] = key.split('/').map(Number)
  return stepAt('steps', from, z, x, y) !== stepAt('steps', to, z, x, y)
}).sort()

for (const webgl of [false, true]) {
  const renderer = webgl ? 'WebGL' : 'canvas'

  onStage(`a step of the clock in OpenLayers (${renderer})`, {
    layers: ['steps'], library: openlayers, everywhere: true
  }, stage => {
    beforeEach(() => stage.allow(READING))

    it('follows a first picture that took one question for the index and one request for each image', async () => {
      const page = await stage.show('steps', { webgl })
      const picture = await stage.rest(page)
      shows(picture, 5)
      assert.ok(Object.keys(picture).length >= 8)
      for (const kind of /** @type {const} */ (['index', 'layer', 'extent'])) {
        assert.equal(stage.front.requests(kind).length, 1, kind)
      }
      assert.deepEqual(stage.front.tiles(), Object.keys(picture).sort())
    })

    it('asks for exactly the versions that differ, and on the way back for nothing', async () => {
      const page = await stage.show('steps', { webgl, time: T(1) })
      for (const step of STEPS.slice(1)) {
        stage.front.forget()
        const picture = await stage.at(page, T(step))
        shows(picture, step)
        assert.deepEqual(stage.front.requests().map(({ tile }) => tile).sort(),
          differing(picture, step - 1, step), `step ${step}`)
      }
      stage.front.forget()
      for (const step of [4, 3, 2, 1, 5]) shows(await stage.at(page, T(step)), step)
      assert.deepEqual(stage.front.requests(), [])
    })

    it('shows the one picture or the other in every frame, though some tiles are slow', async () => {
      const page = await stage.show('steps', { webgl, time: T(1), together: UNHURRIED })
      stage.front.rule(({ tile }) => seconds({ '3/3/3': 0.3, '3/4/4': 0.15 }[tile] ?? 0))
      for (const step of STEPS.slice(1)) {
        const seen = await frames(page, () => stage.at(page, T(step)))
        assert.equal(seen.length, 2, `step ${step}: ${JSON.stringify(seen)}`)
        shows(seen[0], step - 1)
        shows(seen[1], step)
      }
    })

    it('keeps what is there until a tile that is very late is not waited for any longer', async () => {
      const page = await stage.show('steps', { webgl, time: T(1), together: 200 })
      const late = gate()
      stage.front.rule(({ tile }) => { if (tile === '3/3/3') return late.opened })
      const seen = await frames(page, async () => {
        await call(page, 'layer.setTime', T(5))
        await page.waitForFunction(() => Object.values(/** @type {any} */ (window).see.picture())
          .filter(text => text !== '5').length === 1)
        late.open()
        await stage.rest(page)
      })
      shows(seen[0], 1)
      shows(seen.at(-1), 5)
      for (const picture of seen.slice(0, -1)) {
        assert.ok(picture['3/3/3'] === '1' && Object.values(picture).every(text => text === '1' || text === '5'),
          JSON.stringify(picture))
      }
    })

    it('ends at the right picture after a storm of steps, with no version asked for twice', async () => {
      const page = await stage.show('steps', { webgl, time: T(1), together: UNHURRIED })
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

    it('leaves nothing of the time before beside the view', async () => {
      const page = await stage.show('steps', { webgl, time: T(1) })
      await move(page, [120, 0])
      await stage.rest(page)
      await stage.at(page, T(5))
      stage.front.rule(() => seconds(0.1))
      const seen = await frames(page, async () => {
        await move(page, [0, 0])
        await stage.rest(page)
      })
      for (const picture of seen) for (const text of Object.values(picture)) {
        assert.match(text, /^(5|-|-\+5)$/, JSON.stringify(picture))
      }
      shows(seen.at(-1), 5)
    })

    it('shows at once again what was left for a moment, and asks for nothing', async () => {
      const page = await stage.show('steps', { webgl, time: T(1) })
      await move(page, [120, 0])
      await stage.rest(page)
      stage.front.forget()
      const seen = await frames(page, async () => {
        await move(page, [0, 0])
        await stage.rest(page)
      })
      for (const picture of seen.slice(1)) shows(picture, 1)
      assert.deepEqual(stage.front.requests(), [])
    })
  })

  onStage(`zooming during a step in OpenLayers (${renderer})`, { layers: ['depths'], library: openlayers }, stage => {
    beforeEach(() => stage.allow(READING))

    for (const [from, to] of [[3, 4], [4, 3]]) {
      it(`from ${from} to ${to} mixes no times and leaves no hole`, async () => {
        const page = await stage.show('depths', { webgl, time: T(1), together: UNHURRIED, map: { zoom: from } })
        stage.front.rule(({ kind }) => kind === 'tile' ? seconds(0.2) : undefined)
        const seen = await frames(page, async () => {
          await page.evaluate(([time, zoom]) => {
            const { layer, map } = /** @type {any} */ (window)
            layer.setTime(time)
            map.getView().animate({ zoom, duration: 150 })
          }, /** @type {const} */ ([T(2), to]))
          await stage.rest(page)
        })
        for (const picture of seen) {
          // what is sampled at the edge of a tile may be of its neighbour while the scale is between two zooms
          const times =
            new Set(Object.values(picture).flatMap(text => text.split('+')).map(text => text.split(/[<@]/)[0]))
          if (to < from) times.delete('-') // what is new in view has nothing yet
          assert.equal(times.size, 1, JSON.stringify(seen))
        }
        assert.deepEqual(new Set(Object.values(seen.at(-1))), new Set(['2']))
      })
    }
  })
}

onStage('the way of OpenLayers itself', { layers: ['steps'], library: openlayers }, stage => {
  for (const webgl of [false, true]) {
    it(`fetches every tile at every step, and mixes times (${webgl ? 'WebGL' : 'canvas'})`, async () => {
      stage.allow(READING)
      const url = step => `${stage.front.url}/_design/tiles/_rewrite/steps@${T(step)}/{z}/{x}/{y}.png`
      const page = await stage.show('steps', { webgl, own: url(1), minZoom: 3, maxZoom: 3 })
      const asked = () => stage.front.requests().filter(({ path }) => path.endsWith('.png')).length
      stage.front.rule(({ path }) => path.endsWith('.png')
        ? seconds(0.06 * (+(/(\d+)\/\d+\.png/.exec(path)?.[1] ?? 0))) : undefined)
      const figures = { requests: 0, mixed: 0 }
      for (const step of STEPS.slice(1)) {
        stage.front.forget()
        const seen = await frames(page, async () => {
          await page.evaluate(address => {
            const view = /** @type {any} */ (window)
            view.expectFrame()
            view.layer.setUrl(address)
          }, url(step))
          await stage.rest(page)
        })
        shows(seen.at(-1), step)
        figures.requests += asked()
        figures.mixed += seen.length - 2
      }
      assert.equal(figures.requests, 4 * Object.keys(await stage.rest(page)).length)
      assert.ok(figures.mixed >= 1)
    })
  }
})

onStage('the memory of OpenLayers', { layers: ['steps'], library: openlayers }, stage => {
  for (const webgl of [false, true]) {
    it(`holds one image for each tile in view, however many steps there were (${webgl ? 'WebGL' : 'canvas'})`,
      async () => {
      stage.allow(READING)
      const page = await stage.page()
      await page.evaluate(() => {
        const view = /** @type {any} */ (window)
        const open = view.open = { bitmaps: 0, textures: 0 }
        const count = (owner, name, kind, change) => {
          const own = owner[name]
          owner[name] = function (...given) {
            open[kind] += change
            return own.apply(this, given)
          }
        }
        count(view, 'createImageBitmap', 'bitmaps', 1)
        count(view.ImageBitmap.prototype, 'close', 'bitmaps', -1)
        count(view.WebGLRenderingContext.prototype, 'createTexture', 'textures', 1)
        count(view.WebGLRenderingContext.prototype, 'deleteTexture', 'textures', -1)
      })
      await openlayers.draw(page, 'steps', { webgl, time: T(1) })
      const tiles = Object.keys(await stage.rest(page)).length
      const { textures } = await page.evaluate(() => /** @type {any} */ (window).open)
      for (const step of [2, 3, 4, 5, 4, 3, 2, 1]) await stage.at(page, T(step))
      assert.deepEqual(await page.evaluate(() => /** @type {any} */ (window).open), { bitmaps: tiles, textures })
      await page.evaluate(() => { /** @type {any} */ (window).map.removeLayer(/** @type {any} */ (window).olLayer) })
      assert.equal(await page.evaluate(() => /** @type {any} */ (window).open.bitmaps), 0)
    })
  }
})
