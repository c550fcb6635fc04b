/* global window, L -- of the page, in functions that run there */
// Tests history layers at a store that fails: wrong images, missing documents and lost connections.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { CouchSource } from '../../client/source/couch-source.js'
import { createGate, seconds } from '../support/client/front.js'
import { T, layers, picture as imageOf } from '../support/client/gallery.js'
import { draw } from '../support/client/maps.js'
import { call, eventsOf, onStage, pictureOf, shows, waitForEvent } from '../support/client/suite.js'

const WRONG = Buffer.from(await imageOf(9, 3, 1, 1))
const CACHED = { 'Cache-Control': 'max-age=600' }
const IMAGE = { 'Content-Type': 'image/png', ...CACHED }
const PROVOKED = [/Failed to load resource/, /net::ERR/]

onStage('a history layer at a store that fails', { layers: ['steps', 'holes'], writes: true }, stage => {
  /** Replaces the answers for one tile. @param {(entry: import('../support/client/front.js').Entry) => any} answer */
  const spoil = (answer, tile = '3/3/3') =>
    stage.front.rule(entry => entry.kind === 'tile' && entry.tile === tile ? answer(entry) : undefined)

  const troubles = {
    'is answered with 500': { answer: () => ({ status: 500, body: '{"error":"boom"}' }), code: 'COUCHDB_ERROR' },
    'is answered with 404': {
      answer: () => ({ status: 404, body: '{"error":"not_found","reason":"missing"}', headers: CACHED }),
      code: 'TILE_NOT_FOUND'
    },
    'is cut off in the middle': { answer: () => ({ cut: 40 }), code: 'BAD_ANSWER' },
    'is half an image': {
      answer: () => ({ status: 200, body: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), headers: IMAGE }),
      code: 'BAD_ANSWER'
    },
    'is not an image': {
      answer: () => ({ status: 200, body: '<h1>hello</h1>', headers: { 'Content-Type': 'text/html' } }),
      code: 'BAD_ANSWER'
    },
    'is another image': {
      answer: () => ({ status: 200, body: WRONG, headers: IMAGE }), code: 'BAD_ANSWER'
    }
  }
  for (const [fault, { answer, code }] of Object.entries(troubles)) {
    it(`reports a tile that ${fault}, keeps the older image, and recovers by itself`, async () => {
      stage.allow(...PROVOKED)
      const page = await stage.show('steps', { time: T(1), attempts: 1 })
      const removeRule = spoil(answer)
      await call(page, 'layer.setTime', T(5))
      await waitForEvent(page, 'timeload', 2)
      const picture = await pictureOf(page)
      assert.equal(picture['3/3/3'], '1!')
      shows({ ...picture, '3/3/3': '5' }, 'steps', 5)
      assert.deepEqual(await eventsOf(page, 'tileerror'), [{ type: 'tileerror', code, tile: '3/3/3' }])
      assert.equal(await call(page, 'layer.isShown'), true, 'nobody has to wait for it')
      removeRule()
      await page.waitForFunction(() => window.see.picture()['3/3/3'] === '5')
      assert.deepEqual([...await eventsOf(page, 'storeback'), ...await eventsOf(page, 'storeerror')], [])
    })
  }

  it('ignores the wrong image of a captive portal in the browser’s cache, also after a reload', async () => {
    const page = await stage.page()
    const [[version]] = await new CouchSource(stage.front.url).versions('steps', [{ z: 3, x: 3, y0: 3, y1: 3 }])
    const removeRule = spoil(troubles['is another image'].answer)
    await page.evaluate(async url => { await fetch(url) }, new CouchSource(stage.front.url).tileUrl(version))
    removeRule()
    for (const [visit, requestCount] of [['first', 1], ['second', 0]]) {
      stage.front.forget()
      await page.reload()
      await page.evaluate(db => { Object.assign(window, { db }) }, stage.front.url)
      await draw(page, 'steps', { time: T(1) })
      shows(await stage.rest(page), 'steps', 1)
      assert.deepEqual(await eventsOf(page, 'tileerror'), [])
      assert.equal(stage.front.tiles().filter(tile => tile === '3/3/3').length, requestCount, `${visit} visit`)
    }
  })

  it('gives up a failed tile when the clock moves, and loads it when the clock returns', async () => {
    stage.allow(...PROVOKED)
    const page = await stage.show('steps', { time: T(1), attempts: 1 })
    const removeRule = spoil(() => ({ status: 500 }))
    await call(page, 'layer.setTime', T(5))
    await waitForEvent(page, 'tileerror')
    shows(await stage.at(page, T(1)), 'steps', 1)
    removeRule()
    shows(await stage.at(page, T(5)), 'steps', 5)
  })

  it('reports once that the store is away and once that it is back, then draws all tiles', async () => {
    stage.allow(...PROVOKED)
    const page = await stage.show('steps', { time: T(1), live: true })
    await page.waitForFunction(() => window.layer.isShown())
    await stage.front.stop()
    await page.evaluate(time => {
      const { layer, map } = window
      layer.setTime(time)
      map.panBy([600, 0], { animate: false })
    }, T(5))
    await waitForEvent(page, 'storeerror')
    await waitForEvent(page, 'tileerror')
    await stage.front.restart()
    await waitForEvent(page, 'storeback')
    shows(await stage.rest(page), 'steps', 5)
    assert.deepEqual((await eventsOf(page, 'storeerror')).map(({ code }) => code), ['UNREACHABLE'])
    assert.equal((await eventsOf(page, 'storeback')).length, 1)
  })

  it('draws its tiles when a store starts that was down at first', async () => {
    stage.allow(...PROVOKED)
    const page = await stage.page()
    await stage.front.stop()
    await page.evaluate(() => {
      const view = window
      view.map = L.map('map', { center: [0, 0], zoom: 3 })
      view.layer = L.tileLayer.couch.history(view.db, { layer: 'steps', preload: 0 })
      view.see.listen('storeerror storeback')
      view.layer.addTo(view.map)
    })
    await waitForEvent(page, 'storeerror')
    await stage.front.restart()
    shows(await stage.rest(page), 'steps', 5)
    await waitForEvent(page, 'storeback')
    assert.equal((await call(page, 'events.slice')).length, 2)
  })

  it('fires storeback when the map leaves the place whose index request failed', async () => {
    stage.allow(...PROVOKED)
    const page = await stage.show('steps', { time: T(5) })
    const removeRule = stage.front.rule(({ kind }) => kind === 'index' ? { status: 500 } : undefined)
    await page.evaluate(() => { window.map.panBy([900, 0], { animate: false }) })
    await waitForEvent(page, 'storeerror')
    await page.evaluate(() => { window.map.panBy([-900, 0], { animate: false }) })
    await waitForEvent(page, 'storeback')
    removeRule()
    shows(await stage.rest(page), 'steps', 5)
  })

  it('reports a missing layer, and shows it as soon as it is created', async () => {
    stage.allow(...PROVOKED)
    const page = await stage.show('later', { live: true, wait: false })
    await waitForEvent(page, 'storeerror')
    assert.deepEqual((await eventsOf(page, 'storeerror')).map(({ code }) => code), ['LAYER_NOT_FOUND'])
    await stage.store.defineLayer('later', layers.steps.fields)
    await stage.write('later', { 5: layers.steps.steps[5] })
    await waitForEvent(page, 'storeback')
    await page.waitForFunction(() => Object.values(window.see.picture()).includes('5'))
    shows(await stage.rest(page), 'steps', 5)
    await until(async () => (await call(page, 'layer.extent'))?.last === T(5))
  })

  it('reports a deleted layer, keeps its picture, and continues when it is defined again', async () => {
    stage.allow(...PROVOKED)
    const page = await stage.show('holes', { live: true, time: T(1) })
    await until(() => stage.front.requests('changes').length > 1)
    const doc = await stage.store.couch.get('layer:holes')
    await stage.store.couch.request({ method: 'DELETE', path: 'layer:holes', qs: { rev: doc._rev } })
    await waitForEvent(page, 'storeerror')
    assert.deepEqual((await eventsOf(page, 'storeerror')).map(({ code }) => code), ['LAYER_NOT_FOUND'])
    assert.equal((await pictureOf(page))['3/4/4'], '1')
    await stage.store.defineLayer('holes', { ...layers.holes.fields, name: 'Again' })
    await waitForEvent(page, 'storeback')
    await page.waitForFunction(() => window.layer.title === 'Again')
    await stage.rest(page)
  })

  it('reports a missing database, index, permission or answer with its code', async () => {
    stage.allow(...PROVOKED)
    for (const [kind, answer, code] of [
      ['layer', { status: 404, body: '{"error":"not_found","reason":"no_db_file"}' }, 'DATABASE_NOT_FOUND'],
      ['layer', { status: 401, body: '{"error":"unauthorized"}' }, 'UNAUTHORIZED'],
      ['layer', { status: 200, body: '<h1>' }, 'BAD_ANSWER'],
      ['index', { status: 404, body: '{"error":"not_found","reason":"missing_named_view"}' }, 'INDEX_MISSING']
    ]) {
      const removeRule = stage.front.rule(entry => entry.kind === kind ? answer : undefined)
      const page = await stage.show('steps', { wait: false })
      await waitForEvent(page, 'storeerror')
      assert.equal((await eventsOf(page, 'storeerror'))[0].code, code)
      removeRule()
      await page.context().close()
    }
  })

  it('gives up a request after its timeout, and sends it again', async () => {
    const barrier = createGate()
    let count = 0
    stage.front.rule(({ kind }) => kind === 'index' && count++ === 0 ? barrier.opened : undefined)
    const page = await stage.show('steps', { timeout: 300, wait: false })
    shows(await stage.rest(page), 'steps', 5)
    assert.equal((await eventsOf(page, 'storeerror'))[0].code, 'UNREACHABLE')
    await waitForEvent(page, 'storeback')
    barrier.open()
    await seconds(0)
  })

  it('refuses a bad layer, database or time with a code', async () => {
    const page = await stage.page()
    const codes = await page.evaluate(() => {
      const { history } = L.tileLayer.couch
      const code = make => { try { make(); return 'none' } catch (error) { return `${error.name} ${error.code}` } }
      return [
        () => history('/db'), () => history('/db', {}), () => history('/db', { layer: 'No' }),
        () => history('/db', { layer: 'layer' }), () => L.tileLayer.couch('/db', {}),
        () => history('http://admin:secret@localhost/db', { layer: 'a' }),
        () => history('//admin:secret@localhost/db', { layer: 'a' }),
        () => history('', { layer: 'a' }), () => history(undefined, { layer: 'a' }),
        () => history('/db', { layer: 'a', time: 'yesterday' }),
        () => history('/db', { layer: 'a', time: '2024-02-30' }), () => history('/db', { layer: 'a' }).setTime({}),
        () => history('/db', { layer: 'a' }).setTime(NaN),
        () => history('/db', { layer: 'a' }).setTime(new Date(NaN))
      ].map(code)
    })
    assert.deepEqual(codes, [...Array(5).fill('BAD_LAYER'), ...Array(4).fill('BAD_DATABASE'),
      ...Array(5).fill('BAD_TIME')].map(code => `TilecouchError ${code}`))
  })
})
