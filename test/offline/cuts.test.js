// Downloads that are stopped, spoilt, refused and crowded out.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { gate } from '../support/client/front.js'
import { field, isBulk, onField, take } from '../support/offline/suite.js'

const PLAIN = { name: 'Plain', layer: 'plain', bbox: [-180, -85, 180, 85], zooms: '0-5' }
const SMALL = { name: 'Small', layer: 'small', bbox: [-180, -85, 180, 85], zooms: '0-4', history: true }
const SOME = new Set(['plain:5:3:4', 'plain:5:20:20', 'plain:4:7:7'])

// with answers that never end: each is waited for for half a minute
const isLong = Boolean(process.env.TILECOUCH_OFFLINE_ROUNDS)
const AROUND = 40 // bytes

/** Batches small enough to have many, and not smaller where the machine is slow. */
const limits = { batch: 50, smallBytes: 0, batchMost: 50, batchBytes: 64 * 1024, batchTime: 60000 }

onField('a download', ['plain', 'small'], stage => {
  /** Lets so many batches pass, and holds the others until it is opened. */
  function hold (most) {
    const { opened, open } = gate()
    let passed = 0
    let waiting = 0
    stage.front.rule(async entry => {
      if (!isBulk(entry) || ++passed <= most) return
      waiting++
      await opened
    })
    return { open, isHolding: () => waiting > 0 }
  }

  it('stops at once when it is aborted, keeps its tiles, and later fetches only the rest', async () => {
    const device = await stage.device()
    const page = await device.open({ limits })
    await field(page, 'add', PLAIN)
    const held = hold(15)
    await field(page, 'begin', 'Plain', 'download')
    await until(held.isHolding, { timeout: 30000 })
    await until(async () => (await field(page, 'status', 'Plain')).versions >= 500,
      { timeout: 30000, what: 'what has come to be written' })
    await field(page, 'abort', 'Plain')
    assert.equal((await field(page, 'ended', 'Plain')).code, 'ABORTED')
    const asked = stage.front.requests().length
    held.open()
    await until(async () => (await field(page, 'list'))[0].state === 'incomplete')
    const { versions } = await field(page, 'status', 'Plain')
    assert.ok(versions >= 500 && versions < 1365, `${versions} are kept`)
    assert.equal(stage.front.requests().length, asked, 'nothing more is asked for')
    stage.front.forget()
    const { result, ...error } = await field(page, 'call', 'Plain', 'download')
    assert.ok(result, error.message)
    assert.ok(stage.asked().length <= 1365 - versions, `${stage.asked().length} asked for, ${versions} were there`)
    await stage.isWhole(page, PLAIN)
  })

  it('stays paused after a reload, and continues on request', async () => {
    const device = await stage.device({ at: 'store' })
    const page = await device.open({ limits })
    await field(page, 'add', PLAIN)
    const held = hold(6)
    await field(page, 'begin', 'Plain', 'download')
    await until(held.isHolding, { timeout: 30000 })
    await field(page, 'call', 'Plain', 'pause')
    assert.equal((await field(page, 'ended', 'Plain')).code, 'ABORTED')
    held.open()
    assert.equal((await field(page, 'status', 'Plain')).state, 'paused')
    await device.reload(page, { limits })
    assert.equal((await field(page, 'status', 'Plain')).state, 'paused')
    await field(page, 'call', 'Plain', 'download')
    await stage.isWhole(page, PLAIN)
  })

  for (const [what, answer] of /** @type {const} */ ([
    ['the store fails for some tiles', { status: 500, body: '{"error":"internal_server_error","reason":"badmatch"}' }],
    ['answers lack some tiles', { status: 200, body: '{"results":[]}' }]
  ])) {
    it(`fetches the other tiles when ${what}, and later only the failed ones`, async () => {
      const device = await stage.device()
      device.allow(/status of 500/)
      const page = await device.open({ limits: { ...limits, tries: 2, retryDelay: 20 } })
      await field(page, 'add', PLAIN)
      const well = stage.front.rule(entry => {
        if (isBulk(entry) && entry.body.docs.some(({ id }) => SOME.has(id))) return answer
      })
      const { result, ...error } = await field(page, 'call', 'Plain', 'download')
      assert.ok(result, error.message)
      assert.deepEqual([result.state, result.failed, result.versions], ['incomplete', SOME.size, 1365 - SOME.size])
      const later = await field(await device.open(), 'status', 'Plain')
      assert.deepEqual([later.state, later.failed], ['incomplete', SOME.size], 'in a page that is opened later as well')
      well()
      stage.front.forget()
      assert.equal((await field(page, 'call', 'Plain', 'download')).result?.state, 'complete')
      assert.deepEqual(stage.asked().sort(), [...SOME].sort(), 'only those')
      await stage.isWhole(page, PLAIN)
    })
  }

  it('is complete and correct although answers are cut, changed or failed', async function () {
    if (isLong) this.timeout(600000)
    const device = await stage.device()
    device.allow(/status of 50/)
    const page = await device.open({ limits })
    await field(page, 'add', SMALL)
    const bad = [{ cut: 3000 }, ...(isLong ? [{ hang: 3000 }] : []), { change: piece => flip(piece) },
      { status: 500, body: '{"error":"timeout"}' }, { cut: 0 }, { status: 502, body: '<html>' }]
    let turn = 0
    const spoilt = []
    stage.front.rule(entry => {
      if (!isBulk(entry) || ++turn % 2) return
      const answer = bad[spoilt.length % bad.length]
      if (spoilt.length < 15) return spoilt.push(answer) && answer
    })
    await until(async () => {
      const { result, code, message } = await field(page, 'call', 'Small', 'download')
      assert.ok(result || ['UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR'].includes(code), message)
      return result?.state === 'complete'
    }, { timeout: isLong ? 600000 : 60000 })
    assert.ok(spoilt.length > 4, `${spoilt.length} answers were spoilt`)
    await stage.isWhole(page, SMALL)
  })

  it('runs in one of two tabs, and continues in the other when its tab is closed', async () => {
    const device = await stage.device()
    const one = await device.open({ limits })
    const two = await device.open({ limits })
    await field(one, 'add', PLAIN)
    await until(async () => (await field(two, 'list')).length === 1)
    const held = hold(6)
    await Promise.all([one, two].map(page => field(page, 'begin', 'Plain', 'download')))
    await until(held.isHolding, { timeout: 30000 })
    const states = await Promise.all([one, two].map(async page => (await field(page, 'status', 'Plain')).state))
    assert.deepEqual(states.sort(), ['downloading', 'waiting'])
    const [working, waiting] = (await field(one, 'status', 'Plain')).state === 'downloading' ? [one, two] : [two, one]
    await until(async () => (await field(waiting, 'status', 'Plain')).versions > 0)
    await working.close()
    held.open()
    const { result, ...error } = await field(waiting, 'ended', 'Plain')
    assert.equal(result?.state, 'complete', error.message)
    assert.ok(stage.asked().length <= 1365 + 600,
      `${stage.asked().length} asked for: once each, but what was on its way, and what each tab weighed`)
    await stage.isWhole(waiting, PLAIN)
  })

  it('completes for two areas in two tabs at the same time', async () => {
    const device = await stage.device()
    const [one, two] = [await device.open(), await device.open()]
    const [a, b] = await Promise.all([take(one, PLAIN), take(two, SMALL)])
    assert.deepEqual([a.state, b.state], ['complete', 'complete'])
    await until(async () => (await field(one, 'list')).filter(({ isComplete }) => isComplete).length === 2)
    await stage.isWhole(two, PLAIN)
    await stage.isWhole(one, SMALL)
  })
})

/**
 * Changes a byte of an attachment: of nothing else could one tell. It is where no quote and no end of a line is near.
 */
function flip (piece) {
  let run = 0
  for (let at = 0; at < piece.length; at++) {
    run = piece[at] === 0x22 || piece[at] === 0x0d ? 0 : run + 1
    if (run < 2 * AROUND) continue
    piece[at - AROUND] ^= piece[at - AROUND] === 0x41 ? 3 : 1 // A to B, and other letters of base64 to letters
    return
  }
}
