/* global document, requestAnimationFrame -- of the page, in functions that run there */
// A store that has grown for years: 200 layers, 300 editions of one of them, 50 mirrors, 10,000 past runs and as many
// notes of activity. Every section opens and draws a part of it.
import assert from 'node:assert/strict'
import { activityId, editionId, layerId, workId } from '../../core/index.js'
import { texts } from '../../attachments/admin/words.js'
import { screens } from '../viewer/browser.js'
import { isRead, onAdmin, runOf, timeOf } from '../support/control-room.js'
import { writeDocuments } from './steps.js'

const LAYERS = 200
const EDITIONS = 300 // of the first layer; 3 of the others
const MIRRORS = 50
const RUNS = 10_000
const NODES = 9000 // most elements of a page, which draws only a part of long lists

const PLACES = [...Object.keys(texts.sections), 'layers/sheet-1', 'editions/sheet-1']
const DAY = 86_400_000 // milliseconds

function * documents (user) {
  const now = Date.now()
  for (let number = 1; number <= LAYERS; number++) {
    const layer = `sheet-${number}`
    const group = `Group ${number % 7}`
    yield { _id: layerId(layer), type: 'layer', layer, name: `Sheet ${number}`, minzoom: 0, maxzoom: 12, group }
    for (let back = 1; back <= (number === 1 ? EDITIONS : 3); back++) {
      const time = timeOf(Date.UTC(2024, 5, 1) - back * DAY)
      const counts = { tiles: 1000, created: 20, advanced: 30, bytes: 500_000 }
      yield {
        _id: editionId(layer, time), type: 'edition', layer, time, title: `Survey ${back}`, complete: true,
        started: time, finished: time, ...counts
      }
    }
  }
  for (let number = 0; number < RUNS; number++) {
    const at = now - Math.floor(number * 80 * DAY / RUNS) - DAY
    const layer = `sheet-${number % LAYERS + 1}`
    const failed = number % 50 === 0 && { error: { code: 'SOURCE_FAILED', message: 'the source does not answer' } }
    yield {
      _id: workId(runOf(at, number)), type: 'work', command: 'load', layer, args: ['load', 'folder', layer],
      state: failed ? 'failed' : 'done', started: timeOf(at), seen: timeOf(at + 9000), finished: timeOf(at + 9000),
      unit: 'tiles', done: 1000, total: 1000, rate: 111, user, ...failed
    }
    yield {
      _id: activityId(runOf(at, number)), type: 'activity', user, at: timeOf(at), what: 'layer', done: 'changed', layer,
      fields: { name: { before: 'Sheet', after: `Sheet ${number}` } }
    }
  }
  for (let number = 0; number < MIRRORS; number++) {
    const at = now - number * 60_000
    yield {
      _id: workId(runOf(at, number)), type: 'work', command: 'mirror',
      args: ['mirror', 'http://origin/tiles'], state: 'running', user,
      started: timeOf(at), seen: timeOf(now), every: 30, unit: 'documents', done: 100 * number, host: `edge-${number}`,
      about: {
        source: 'http://main.example.org/tiles', target: `http://edge-${number}.example.org/tiles`,
        state: 'following', lag: number
      }
    }
  }
}

onAdmin('a large store', stage => {
  before(async function () {
    this.timeout(180000)
    await writeDocuments(stage, documents(stage.owner.name))
  })

  for (const [name, screen] of Object.entries({ desk: screens.desk, phone: screens.phone })) {
    it(`is drawn in every section with fewer than ${NODES} elements (${name})`, async function () {
      this.timeout(180000)
      const page = await stage.enter('', stage.owner, screen)
      await page.getByText('Live', { exact: true }).waitFor()
      for (const place of PLACES) {
        await page.evaluate(hash => { document.location.hash = hash }, place)
        await isRead(page)
        const nodes = await page.evaluate(() => new Promise(resolve => {
          requestAnimationFrame(() => setTimeout(() => resolve(document.querySelectorAll('*').length)))
        }))
        assert.ok(nodes < NODES, `${place} has ${nodes} elements`)
      }
    })
  }
})
