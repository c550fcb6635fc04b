/* global window, document -- of the page, in functions that run there */
// A survey in a browser: drawn without a net, kept over a reload, seen by other tabs and by the map, sent when the net
// is back.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { digestOf } from '../../loader/store/tile.js'
import { json } from '../support/backends.js'
import { field, onField, take } from './support/stage.js'
import { T } from './support/world.js'

const PART = { name: 'Part', layer: 'small', bbox: [-180, 0, 0, 85], zooms: '0-4', history: true }
const WHEN = '2031-05-06T00:00:00Z'
const PLACES = [[4, 1, 2], [4, 2, 2], [6, 9, 9]] // the last one is deeper than the layer goes

onField('a survey in a browser', ['small'], stage => {
  /** Draws tiles, and answers digests of what canvases gave. @param {import('playwright-core').Page} page */
  const survey = (page, places = PLACES) => page.evaluate(async ([time, tiles]) => {
    const edition = await /** @type {any} */ (window).offline.edits.begin({ layer: 'small', time, title: 'Survey' })
    for (const [z, x, y] of tiles) {
      const canvas = document.createElement('canvas')
      canvas.width = canvas.height = 64
      const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'))
      context.fillStyle = `rgb(${x * 20}, ${y * 20}, 99)`
      context.fillRect(0, 0, 64, 64)
      await edition.put(z, x, y, await new Promise(resolve => canvas.toBlob(resolve)))
    }
    await edition.gone(4, 3, 3)
    return edition.status()
  }, /** @type {any} */ ([WHEN, places]))

  /** The newest image of places as the device has it: text of its bytes. */
  const seen = (page, places = [...PLACES, [4, 3, 3]]) => page.evaluate(tiles => Promise.all(tiles.map(async ([z, x, y]) => {
    const found = await /** @type {any} */ (window).offline.device.head('small', z, x, y)
    return found ? [found.version.time, [...new Uint8Array(await found.blob.arrayBuffer())], found.blob.type] : null
  })), places)

  const status = page => page.evaluate(async () => {
    const [edition] = await /** @type {any} */ (window).offline.edits.list()
    return edition?.status()
  })

  const upload = (page, options = {}) => page.evaluate(async given => {
    const [edition] = await /** @type {any} */ (window).offline.edits.list()
    return edition.upload(given).catch(({ code }) => code)
  }, options)

  it('is made without a net, kept over a reload, and sent', async () => {
    const device = await stage.device()
    const page = await device.open()
    await device.install(page)
    await take(page, PART)
    const other = await device.open()
    await device.leave()
    const made = await survey(page)
    assert.deepEqual([made.state, made.unsent, made.gone], ['open', 4, 1])
    const images = await seen(page)
    assert.deepEqual(images.map(found => found?.[0]), [WHEN, WHEN, WHEN, undefined])
    assert.deepEqual(images.map(found => found?.[2]), ['image/png', 'image/png', 'image/png', undefined])
    await until(async () => (await status(other))?.tiles === 4, { what: 'the other tab to know' })
    assert.deepEqual(await seen(other), images)
    assert.equal(await page.evaluate(async () => (await /** @type {any} */ (window).offline.device.layer('small')).maxzoom), 6)
    await device.reload(page)
    assert.deepEqual(await seen(page), images)
    await device.comeBack()
    const { username: name, password: secret } = new URL(stage.url)
    const done = await upload(page, name ? { name, password: secret } : {})
    assert.deepEqual([done.state, done.sent, done.refused, done.here], ['sent', 4, 0, 3], 'what lies in the area waits for it')
    assert.deepEqual((await seen(page)).filter((found, at) => at !== 2), images.filter((found, at) => at !== 2))
    for (const [at, [z, x, y]] of PLACES.entries()) {
      const { time, current, _attachments: { tile } } = await json(`${stage.url}/small:${z}:${x}:${y}`)
      assert.deepEqual([time, current, tile.digest], [WHEN, true, digestOf(Buffer.from(images[at][1]))])
    }
    assert.equal((await json(`${stage.url}/small:4:3:3`)).gone, true)
    assert.ok((await json(`${stage.url}/small:4:1:2@${T(2)}`))._attachments.tile, 'what it was before')
    const { result } = await field(page, 'call', 'Part', 'refresh')
    assert.equal(result?.state, 'complete')
    await until(async () => await status(page) === undefined, { what: 'the copies to go' })
    assert.deepEqual((await seen(page)).slice(0, 2), images.slice(0, 2), 'from the area now')
    await until(async () => await status(other) === undefined, { what: 'the other tab to know' })
  })

  it('may be made and sent by two tabs at once', async () => {
    const device = await stage.device()
    const pages = [await device.open(), await device.open()]
    const places = [0, 1].map(at => Array.from({ length: 12 }, (_, x) => [5, x + at * 6, 7])) // half of them twice
    await Promise.all(pages.map((page, at) => survey(page, places[at])))
    assert.equal((await status(pages[0])).tiles, 19)
    const { username: name, password: secret } = new URL(stage.url)
    const done = await Promise.all(pages.map(page => upload(page, name ? { name, password: secret } : {})))
    // the second may find it gone
    assert.ok(done.every(one => one === 'EDITION_NOT_FOUND' || one.state === 'gone'), JSON.stringify(done))
    const { rows } = await json(`${stage.url}/_all_docs?startkey="small:5"&endkey="small:5%3B"`)
    assert.deepEqual([rows.length, rows.every(({ value: { rev } }) => rev.startsWith('1-'))], [18, true])
  })
})
