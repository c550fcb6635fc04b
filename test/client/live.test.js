/* global window, requestAnimationFrame -- of the page, in functions that run there */
// Tests layers that follow the change feed of a store.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { createGate, seconds } from '../support/client/front.js'
import { T, picture, tilesOf } from '../support/client/gallery.js'
import { call, onStage, pictureOf } from '../support/client/suite.js'

const WAIT = 15000 // milliseconds after which a request for changes is answered without any
const GATHER_TIME = 250 // milliseconds that a layer waits for more changes before it asks again
const ALL = tilesOf(3)
let counter = 0

onStage('layers that follow a store', { layers: [], everywhere: true }, stage => {
  /** Creates a layer with step 1 in every tile, and opens a page that follows it. */
  async function follow (options = {}) {
    const layer = `live${counter++}`
    await stage.store.defineLayer(layer, { minzoom: 3, maxzoom: 3, name: 'First' })
    await stage.write(layer, { 1: ALL })
    const page = await stage.show(layer, { live: true, isPatient: true, ...options, wait: false })
    await until(() => stage.front.requests('changes').length > 1, { what: 'the feed' })
    await (options.kind === 'couch' ? waitForTiles(page, ALL, '1') : page.waitForFunction(() => window.see.isAtRest()))
    await until(() => stage.front.requests().every(({ kind, done }) => kind === 'changes' || done))
    stage.front.forget()
    return { page, layer }
  }

  /** Waits until `tiles` show `step`, and all other tiles `otherStep`. */
  async function waitForTiles (page, tiles, step, otherStep = step) {
    const changed = new Set(tiles.map(tile => tile.join('/')))
    await page.waitForFunction(([keys, text, otherText]) => {
      const entries = Object.entries(window.see.picture())
      return entries.length > 0 && entries.every(([key, value]) => value === (keys.includes(key) ? text : otherText))
    }, [[...changed], step, otherStep])
  }

  /** Deletes a document, and returns its last content. */
  async function remove (id) {
    const doc = await stage.store.couch.get(id)
    await stage.store.couch.request({ method: 'DELETE', path: encodeURIComponent(id), qs: { rev: doc._rev } })
    return doc
  }

  const outsideTile = [3, 0, 0]

  it('a history layer at the newest time shows a new edition, and requests only changed tiles', async () => {
    const { page, layer } = await follow()
    const changed = [[3, 3, 3], [3, 4, 4], outsideTile]
    await stage.write(layer, { 2: changed })
    await waitForTiles(page, changed, '2', '1')
    assert.deepEqual(stage.front.tiles(), ['3/3/3', '3/4/4'])
    await until(async () => (await call(page, 'layer.extent')).last === T(2), { what: 'the new extent' })
    assert.deepEqual((await call(page, 'layer.changes')).map(({ time, tiles }) => [time, tiles]),
      [[T(1), 8], [T(2), 2]])
    const rows = stage.front.requests('index')
      .flatMap(({ body }) => body.queries.map(({ startkey, endkey }) => endkey[3] - startkey[3] + 1))
    assert.ok(rows.length <= 4 && rows.every(count => count === 4), `only the blocks of those tiles: ${rows}`)
  })

  it('a history layer in the past keeps its picture, and shows a new edition when its clock goes there', async () => {
    const { page, layer } = await follow({ time: T(1) })
    await stage.write(layer, { 2: [[3, 3, 3]] })
    await until(async () => (await call(page, 'layer.changes'))?.length === 2)
    await stage.rest(page)
    assert.deepEqual(stage.front.tiles(), [], 'what is shown is no other image because it is past now')
    await stage.at(page, null)
    await waitForTiles(page, [[3, 3, 3]], '2', '1')
    await stage.at(page, T(1))
    await waitForTiles(page, [], '', '1')
    assert.deepEqual(stage.front.tiles(), ['3/3/3'])
  })

  it('a history layer shows editions that are loaded later for an earlier time', async () => {
    const { page, layer } = await follow()
    await stage.write(layer, { 3: [[3, 3, 3]] })
    await waitForTiles(page, [[3, 3, 3]], '3', '1')
    await stage.write(layer, { 2: [[3, 3, 3], [3, 3, 4]] })
    await until(async () => (await call(page, 'layer.changes'))?.length === 3, { what: 'the time between' })
    await stage.at(page, T(2))
    await waitForTiles(page, [[3, 3, 3], [3, 3, 4]], '2', '1')
  })

  it('a history layer shows the new image of a head or past version that was deleted and rewritten', async () => {
    const { page, layer } = await follow()
    await stage.write(layer, { 3: [[3, 3, 3]] })
    await waitForTiles(page, [[3, 3, 3]], '3', '1')
    await stage.at(page, T(1))
    await waitForTiles(page, [], '', '1')
    for (const [step, id] of [[1, `3:3:3@${T(1)}`], [1, '3:4:4'], [3, '3:3:3']]) {
      const [z, x, y] = id.split(/[:@]/).map(Number)
      const doc = await remove(`${layer}:${id}`)
      const data = Buffer.from(await picture(7, z, x, y)).toString('base64')
      const _attachments = { tile: { content_type: 'image/png', data } }
      await stage.store.couch.put({ ...doc, _rev: undefined, _attachments })
      await stage.at(page, T(step))
      await page.waitForFunction(tile => window.see.picture()[tile] === '7', `${z}/${x}/${y}`)
    }
  })

  it('tiles that are gone and tiles whose document is deleted leave the map', async () => {
    const { page, layer } = await follow()
    await stage.write(layer, { 2: [[3, 3, 3, true]] })
    await waitForTiles(page, [[3, 3, 3]], '-', '1')
    await remove(`${layer}:3:4:4`)
    await waitForTiles(page, [[3, 3, 3], [3, 4, 4]], '-', '1')
    assert.deepEqual(stage.front.tiles(), [])
  })

  it('a couch layer refreshes the tiles that changed, and no others', async () => {
    const { page, layer } = await follow({ kind: 'couch' })
    await stage.write(layer, { 2: [[3, 3, 3], [3, 4, 4], outsideTile] })
    await waitForTiles(page, [[3, 3, 3], [3, 4, 4]], '2', '1')
    assert.deepEqual(stage.front.tiles(), ['3/3/3', '3/4/4'])
    await stage.write(layer, { 3: [[3, 3, 3]] })
    await page.waitForFunction(() => window.see.picture()['3/3/3'] === '3')
  })

  it('a couch layer empties tiles that are deleted, and fills those that come back', async () => {
    stage.allow(/404/, /Failed to load/)
    const { page, layer } = await follow({ kind: 'couch' })
    await remove(`${layer}:3:4:4`)
    await waitForTiles(page, [[3, 4, 4]], '-', '1')
    await stage.write(layer, { 3: [[3, 4, 4]] })
    await waitForTiles(page, [[3, 4, 4]], '3', '1')
  })

  it('a couch layer keeps the newest image when an older one arrives later', async () => {
    const { page, layer } = await follow({ kind: 'couch' })
    const lateAnswer = createGate()
    let first = true
    stage.front.rule(({ kind }) => {
      if (kind !== 'tile' || !first) return
      first = false
      return lateAnswer.opened
    })
    await stage.write(layer, { 2: [[3, 3, 3]] })
    await until(() => stage.front.requests('tile').length === 1)
    await stage.write(layer, { 3: [[3, 3, 3]] })
    await waitForTiles(page, [[3, 3, 3]], '3', '1')
    lateAnswer.open()
    await until(() => stage.front.requests('tile').every(({ done }) => done))
    await page.evaluate(() => new Promise(resolve => { requestAnimationFrame(() => requestAnimationFrame(resolve)) }))
    await page.evaluate(() => new Promise(resolve => { setTimeout(resolve, 100) }))
    assert.equal((await pictureOf(page))['3/3/3'], '3')
  })

  for (const kind of ['history', 'couch']) {
    it(`a ${kind} layer that is put back shows the changes that happened while it was off the map`, async () => {
      const { page, layer } = await follow({ kind })
      await stage.write(layer, { 2: [[3, 3, 3]] })
      await waitForTiles(page, [[3, 3, 3]], '2', '1')
      await call(page, 'layer.remove')
      await stage.write(layer, { 3: [[3, 3, 3], [3, 4, 4]] })
      await page.evaluate(() => { window.layer.addTo(window.map) })
      await waitForTiles(page, [[3, 3, 3], [3, 4, 4]], '3', '1')
    })
  }

  it('a couch layer shows a tile that changed after it was drawn and before the feed could begin', async () => {
    stage.allow(/503/)
    const layer = `live${counter++}`
    await stage.store.defineLayer(layer, { minzoom: 3, maxzoom: 3 })
    await stage.write(layer, { 1: ALL })
    const endFault = stage.front.rule(({ kind }) => kind === 'changes' ? { status: 503 } : undefined)
    const page = await stage.show(layer, { live: true, kind: 'couch', wait: false })
    await waitForTiles(page, ALL, '1')
    await stage.write(layer, { 2: [[3, 3, 3]] })
    endFault()
    await waitForTiles(page, [[3, 3, 3]], '2', '1')
  })

  it('both kinds of layers apply new fields of the layer document', async () => {
    for (const kind of ['history', 'couch']) {
      const { page, layer } = await follow({ kind })
      await stage.store.defineLayer(layer,
        { name: 'Second', attribution: '<b>Somebody</b> <a href="https://example.org/">else</a>' })
      await page.waitForFunction(() => window.layer.title === 'Second')
      assert.match(await page.locator('.leaflet-control-attribution').innerHTML(),
        /Somebody <a href="https:\/\/example\.org\/"[^>]*>else<\/a>/)
      await stage.store.defineLayer(layer, { attribution: null, bounds: [0, 0, 44, 40] })
      await page.waitForFunction(() => Object.keys(window.see.picture()).join() === '3/4/3')
      assert.doesNotMatch(await page.locator('.leaflet-control-attribution').innerHTML(), /Somebody/)
      await page.context().close()
    }
  })

  it('a history layer sends only a few questions for changes while another layer is loaded', async () => {
    const { page } = await follow()
    const began = performance.now()
    for (let step = 1; step <= 10; step++) await stage.write('another', { [step]: ALL.slice(step) })
    const questions = stage.front.requests('changes').length
    const unanswered = Math.floor((performance.now() - began) / WAIT)
    assert.ok(questions <= 2 + unanswered, `${questions} questions`)
    assert.deepEqual(stage.front.requests().filter(({ kind }) => kind !== 'changes'), [])
    assert.ok(await pictureOf(page))
  })

  it('a history layer sends only a few index requests during a bulk load', async () => {
    const { page, layer } = await follow()
    let pendingWrite = Promise.resolve()
    // a slow store would answer during a write: here each request for changes waits for the end of the write
    stage.front.rule(({ kind }) => kind === 'changes' ? pendingWrite : undefined)
    for (let step = 2; step <= 6; step++) await (pendingWrite = stage.write(layer, { [step]: ALL }))
    await waitForTiles(page, [], '', '6')
    assert.ok(stage.front.requests('index').length <= 12, `${stage.front.requests('index').length} questions`)
  })

  it('a history layer waits for more changes before it asks for the next ones', async () => {
    const { layer } = await follow()
    const questions = []
    const barrier = createGate()
    stage.front.rule(({ kind, path }) => {
      if (kind !== 'changes' || questions.length === 6) return
      questions.push(performance.now())
      if (questions.length === 6) barrier.open()
      const results = [{ id: `${layer}:3:3:3`, changes: [{ rev: '2-a' }] }]
      return { status: 200, body: JSON.stringify({ results, last_seq: new URLSearchParams(path).get('since') }) }
    })
    await stage.write(layer, { 2: [[3, 3, 3]] }) // answers the request from before the rule
    await barrier.opened
    const gaps = questions.slice(1).map((time, index) => time - questions[index])
    const passed = questions[5] - questions[0]
    assert.ok(passed >= 5 * GATHER_TIME - 10, `${gaps.map(Math.round)} milliseconds`) // timers round
    assert.ok(stage.front.requests('index').length <= 7, `${stage.front.requests('index').length} index requests`)
  })

  it('a history layer shows changes that happen while its first index loads', async () => {
    const layer = `live${counter++}`
    await stage.store.defineLayer(layer, { minzoom: 3, maxzoom: 3 })
    await stage.write(layer, { 1: ALL })
    // the first index answer shows the state before the change, but arrives after it
    const oldAnswer = createGate()
    let first = true
    stage.front.rule(async ({ kind }) => {
      if (kind === 'changes') await seconds(0.1)
      if (kind !== 'index' || !first) return
      first = false
      const value = { rev: '1-a', bytes: 98, gone: false, expires: null }
      const rowOf = (x, y) => ({ id: `${layer}:3:${x}:${y}`, key: [layer, 3, x, y, T(1)], value })
      const body = JSON.stringify({ results: [2, 3, 4, 5].map(x => ({ rows: [rowOf(x, 3), rowOf(x, 4)] })) })
      await oldAnswer.opened
      return { status: 200, body }
    })
    const page = await stage.show(layer, { live: true, wait: false })
    await until(() => stage.front.requests('changes').length > 1 && stage.front.requests('index').length > 0)
    stage.allow(/404/)
    await stage.write(layer, { 2: ALL })
    await until(() => stage.front.requests('changes').length > 2)
    oldAnswer.open()
    await waitForTiles(page, [], '', '2')
  })

  it('a history layer shows tiles that changed while its connection was lost', async () => {
    stage.allow(/Failed to load/, /net::ERR/)
    const { page, layer } = await follow()
    await stage.front.stop()
    await stage.write(layer, { 2: [[3, 3, 3]] })
    await stage.front.restart()
    await waitForTiles(page, [[3, 3, 3]], '2', '1')
  })
})
