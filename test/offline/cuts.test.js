/* global window -- of the page, in functions that run there */
// Tests downloads that are aborted, get damaged or failed answers, or run in two tabs at once.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { holdRequests } from '../client/requests.js'
import { field, isBulk, onField, take } from '../support/offline/suite.js'
import { PLAIN, SMALL, completed, resultOf } from './areas.js'

const BROKEN = new Set(['plain:5:3:4', 'plain:5:20:20', 'plain:4:7:7'])
const SILENCE = 2000 // milliseconds without a byte until an answer counts as lost; half a minute by default
const MARGIN = 40 // bytes on each side of a changed byte

/** Small batches, so that a download has many. `batchTime` keeps their size constant on a slow machine. */
const limits = { batch: 50, smallBytes: 0, batchMost: 50, batchBytes: 64 * 1024, batchTime: 60000 }

onField('a download', ['plain', 'small'], stage => {
  it('stops at once when it is aborted, keeps its tiles, and later fetches only the rest', async () => {
    const page = await (await stage.device()).open({ limits })
    await field(page, 'add', PLAIN)
    const batchHold = holdRequests(stage.front, isBulk, 15)
    await field(page, 'begin', 'Plain', 'download')
    await batchHold.reached()
    await until(async () => (await field(page, 'status', 'Plain')).versions >= 500,
      { timeout: 30000, what: 'what has come to be written' })
    await field(page, 'abort', 'Plain')
    assert.equal((await field(page, 'ended', 'Plain')).code, 'ABORTED')
    const requestCount = stage.front.requests().length
    batchHold.open()
    await until(async () => (await field(page, 'list'))[0].state === 'incomplete')
    const { versions } = await field(page, 'status', 'Plain')
    assert.ok(versions >= 500 && versions < 1365, `${versions} are kept`)
    assert.equal(stage.front.requests().length, requestCount, 'nothing more is asked for')
    stage.front.forget()
    await resultOf(field(page, 'call', 'Plain', 'download'))
    assert.ok(stage.asked().length <= 1365 - versions, `${stage.asked().length} asked for, ${versions} were there`)
    await stage.isWhole(page, PLAIN)
  })

  it('stays paused after a reload, and continues on request', async () => {
    const device = await stage.device({ at: 'store' })
    const page = await device.open({ limits })
    await field(page, 'add', PLAIN)
    const batchHold = holdRequests(stage.front, isBulk, 6)
    await field(page, 'begin', 'Plain', 'download')
    await batchHold.reached()
    await field(page, 'call', 'Plain', 'pause')
    assert.equal((await field(page, 'ended', 'Plain')).code, 'ABORTED')
    batchHold.open()
    assert.equal((await field(page, 'status', 'Plain')).state, 'paused')
    await device.reload(page, { limits })
    assert.equal((await field(page, 'status', 'Plain')).state, 'paused')
    await field(page, 'call', 'Plain', 'download')
    await stage.isWhole(page, PLAIN)
  })

  for (const [condition, answer] of /** @type {const} */ ([
    ['the store fails for some tiles', { status: 500, body: '{"error":"internal_server_error","reason":"badmatch"}' }],
    ['answers lack some tiles', { status: 200, body: '{"results":[]}' }]
  ])) {
    it(`fetches the other tiles when ${condition}, and later only the failed ones`, async () => {
      const device = await stage.device()
      device.allow(/status of 500/)
      const page = await device.open({ limits: { ...limits, tries: 2, retryDelay: 20 } })
      await field(page, 'add', PLAIN)
      const removeRule = stage.front.rule(entry => {
        if (isBulk(entry) && entry.body.docs.some(({ id }) => BROKEN.has(id))) return answer
      })
      const result = await resultOf(field(page, 'call', 'Plain', 'download'))
      assert.deepEqual([result.state, result.failed, result.versions], ['incomplete', BROKEN.size, 1365 - BROKEN.size])
      const reopened = await field(await device.open(), 'status', 'Plain')
      assert.deepEqual([reopened.state, reopened.failed], ['incomplete', BROKEN.size],
        'in a page that is opened later as well')
      removeRule()
      stage.front.forget()
      await completed(field(page, 'call', 'Plain', 'download'))
      assert.deepEqual(stage.asked().sort(), [...BROKEN].sort(), 'only those')
      await stage.isWhole(page, PLAIN)
    })
  }

  it('is complete and correct although answers are cut, changed, failed or never end', async () => {
    const device = await stage.device()
    device.allow(/status of 50/)
    const page = await device.open({ limits })
    await page.evaluate(silence => { /** @type {any} */ (window).offline.couch.options.silence = silence }, SILENCE)
    await field(page, 'add', SMALL)
    const bad = [{ cut: 3000 }, { hang: 3000 }, { change: flip }, { status: 500, body: '{"error":"timeout"}' },
      { cut: 0 }, { status: 502, body: '<html>' }]
    let turn = 0
    const spoiltAnswers = []
    stage.front.rule(entry => {
      if (!isBulk(entry) || ++turn % 2) return
      const answer = bad[spoiltAnswers.length % bad.length]
      if (spoiltAnswers.length < 15) return spoiltAnswers.push(answer) && answer
    })
    await until(async () => {
      const { result, code, message } = await field(page, 'call', 'Small', 'download')
      assert.ok(result || ['UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR'].includes(code), message)
      return result?.state === 'complete'
    }, { timeout: 60000 })
    assert.ok(spoiltAnswers.length > 4, `${spoiltAnswers.length} answers were spoilt`)
    await stage.isWhole(page, SMALL)
  })

  it('runs in one of two tabs, and continues in the other when its tab is closed', async () => {
    const device = await stage.device()
    const first = await device.open({ limits })
    const second = await device.open({ limits })
    await field(first, 'add', PLAIN)
    await until(async () => (await field(second, 'list')).length === 1)
    const batchHold = holdRequests(stage.front, isBulk, 6)
    await Promise.all([first, second].map(page => field(page, 'begin', 'Plain', 'download')))
    await batchHold.reached()
    const states = await Promise.all([first, second].map(async page => (await field(page, 'status', 'Plain')).state))
    assert.deepEqual(states.sort(), ['downloading', 'waiting'])
    const [workingPage, waitingPage] = (await field(first, 'status', 'Plain')).state === 'downloading'
      ? [first, second]
      : [second, first]
    await until(async () => (await field(waitingPage, 'status', 'Plain')).versions > 0)
    await workingPage.close()
    batchHold.open()
    await completed(field(waitingPage, 'ended', 'Plain'))
    assert.ok(stage.asked().length <= 1365 + 600,
      `${stage.asked().length} asked for: once each, but what was on its way, and what each tab weighed`)
    await stage.isWhole(waitingPage, PLAIN)
  })

  it('completes for two areas in two tabs at the same time', async () => {
    const device = await stage.device()
    const [first, second] = [await device.open(), await device.open()]
    const [plain, small] = await Promise.all([take(first, PLAIN), take(second, SMALL)])
    assert.deepEqual([plain.state, small.state], ['complete', 'complete'])
    await until(async () => (await field(first, 'list')).filter(({ isComplete }) => isComplete).length === 2)
    await stage.isWhole(second, PLAIN)
    await stage.isWhole(first, SMALL)
  })
})

/**
 * Changes one byte of an attachment. Only attachments have such a long run of bytes without a quote or line end.
 */
function flip (piece) {
  let run = 0
  for (let index = 0; index < piece.length; index++) {
    run = piece[index] === 0x22 || piece[index] === 0x0d ? 0 : run + 1
    if (run < 2 * MARGIN) continue
    piece[index - MARGIN] ^= piece[index - MARGIN] === 0x41 ? 3 : 1 // A to B, and other letters of base64 to letters
    return
  }
}
