// Wrong passwords of visitors. CouchDB locks a name out for an address after five of them, and all visitors come to it from the
// address of the gateway: it must never see the fifth, nor any for the name that the gateway itself uses.
import assert from 'node:assert/strict'
import { guessDefaults, Guesses, userDefaults, Users } from '../../server/gateway/access/users.js'
import { userOf } from '../../server/gateway/access/credentials.js'
import { as, backends, request } from '../support/backends.js'
import { startServer } from '../support/server.js'
import { OPTIONS, T2, addUser, fill, image, removeUser, token } from './support/private.js'
import { serve } from './support/serving.js'
import { openGateway, openStore } from './support/stand.js'
import { ask, closeConnections } from './support/wire.js'

const TILE = '/secret/3/1/0.png'
const LOCKED = '{"error":"forbidden","reason":"Account is temporarily locked due to multiple authentication failures"}'
const header = (name, password) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
const basic = (name, password) => ({ authorization: header(name, password) })
const credentials = (name, password, address = null) => ({ ...userOf(/** @type {any} */ ({ headers: basic(name, password) })), address })

/** A server that knows names as CouchDB does, locks them as CouchDB does, and writes down whom it was asked about. */
async function openLocking (passwords) {
  const failures = {}
  const asked = []
  const server = await startServer((req, res) => {
    const [name, password] = Buffer.from(req.headers.authorization?.slice(6) ?? '', 'base64').toString().split(':')
    asked.push(name)
    if (failures[name] >= 5) return void res.writeHead(403).end(LOCKED)
    if (passwords[name] !== password) {
      failures[name] = (failures[name] ?? 0) + 1
      return void res.writeHead(401).end('{}')
    }
    res.end(req.url === '/_session' ? JSON.stringify({ userCtx: { name } }) : '{}')
  })
  const couch = /** @type {any} */ ({ access: { origin: server.url, base: '', path: '/tiles', headers: basic('gateway', 'own') }, url: 'u' })
  return { couch, asked, failures, close: server.close }
}

describe('wrong passwords', () => {
  let store, clock, users
  beforeEach(async () => {
    store = await openLocking({ anna: 'right', gateway: 'own' })
    clock = 0
    users = new Users(store.couch, { now: () => clock })
  })
  afterEach(() => store.close())
  const guess = (name, password, address) => users.mayRead(credentials(name, password, address)).catch(({ code, details }) => [code, details.seconds])

  it('reach CouchDB less often than it takes to lock a name, however many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => guess('anna', `guess ${at}`, `10.0.0.${at}`)))
    assert.equal(answers.filter(answer => answer === false).length, 3)
    assert.deepEqual(answers.at(-1), ['TOO_MANY_GUESSES', 310])
    assert.deepEqual(store.asked, ['anna', 'anna', 'anna'])
    clock += guessDefaults.window - 1
    assert.deepEqual(await guess('anna', 'later'), ['TOO_MANY_GUESSES', 1])
    clock += 1
    assert.equal(await guess('anna', 'right'), true)
  })

  it('let a password that was right go on, also when it has to be asked about again, and when CouchDB has locked the name', async () => {
    assert.equal(await guess('anna', 'right'), true)
    for (let at = 0; at < 20; at++) await guess('anna', `guess ${at}`)
    clock += userDefaults.age
    assert.equal(await guess('anna', 'right'), true)
    store.failures.anna = 5 // somebody else on this machine
    clock += userDefaults.age
    assert.equal(await guess('anna', 'right'), true)
    clock += userDefaults.lockedAge
    assert.deepEqual(await guess('anna', 'right'), ['TOO_MANY_GUESSES', 60])
  })

  it('count once for a program that repeats its own', async () => {
    for (let at = 0; at < 15; at++, clock += 20000) assert.equal(await guess('anna', 'old'), false)
    assert.equal(store.failures.anna, 1)
  })

  it('end what a changed password had opened, with one question', async () => {
    assert.equal(await guess('anna', 'right'), true)
    for (let at = 0; at < 20; at++) await guess('anna', `guess ${at}`)
    store.failures.anna = 3
    clock += userDefaults.age
    const other = await openLocking({ anna: 'new' })
    users.access = { ...users.access, origin: other.couch.access.origin }
    try {
      assert.equal(await guess('anna', 'right'), false)
      for (let at = 0; at < 20; at++) await guess('anna', `more ${at}`)
      assert.equal(other.failures.anna, 1)
    } finally {
      await other.close()
    }
  })

  it('for the name of the gateway itself are never passed on, nor is the right one, however it is written', async () => {
    const spellings = [...['own', 'x', ''].map(password => header('gateway', password)), header('gateway', 'own').replace('Basic ', 'bAsic   '), header('gateway', 'own').replace(/=*$/, ''), header('gateway', 'own').replaceAll('+', '-')]
    for (const authorization of spellings) {
      const user = userOf(/** @type {any} */ ({ headers: { authorization } }))
      assert.equal(await users.mayRead({ .../** @type {any} */ (user), address: null }), false, authorization)
    }
    assert.deepEqual(store.asked, [])
    assert.equal(userOf(/** @type {any} */ ({ headers: { authorization: `Basic ${Buffer.from([0x67, 0xff, 0x3a, 0x78]).toString('base64')}` } })), undefined, 'no UTF-8')
  })

  it('slow one address down, whatever names it tries, and nobody else', async () => {
    const waits = []
    for (let at = 0; at < 9; at++) {
      const answer = await guess(`name ${at}`, 'x', '203.0.113.7')
      if (Array.isArray(answer)) {
        waits.push(answer[1])
        clock += answer[1] * 1000
        assert.equal(await guess(`name ${at}`, 'x', '203.0.113.7'), false)
      }
    }
    assert.deepEqual(waits, [5, 20, 80, 310].slice(0, waits.length))
    assert.ok(waits.length >= 3)
    assert.equal(await guess('anna', 'right', '203.0.113.8'), true)
  })

  it('are counted for a bounded number of names, and made-up ones push out none', () => {
    const guesses = new Guesses({ now: () => clock, most: 10 })
    for (let at = 0; at < 3; at++) guesses.begin('anna', null)
    for (let at = 0; at < 9; at++) guesses.begin(`made up ${at}`, `peer ${at}`)
    assert.throws(() => guesses.begin('made up', null), { code: 'TOO_MANY_GUESSES' })
    assert.throws(() => guesses.begin('anna', null), { code: 'TOO_MANY_GUESSES' })
    const takeBack = guesses.begin('bert', null, true)
    takeBack()
    takeBack() // once is enough: it takes no other away
    assert.throws(() => guesses.begin('anna', null), { code: 'TOO_MANY_GUESSES' })
    guesses.begin('made up 0', null)()
    clock += guessDefaults.window
    guesses.begin('made up', null)
  })

  it('of strangers push out nobody who is known', async () => {
    users = new Users(store.couch, { now: () => clock, most: 5, guesses: { free: 1000 } })
    assert.equal(await guess('anna', 'right'), true)
    for (let at = 0; at < 20; at++) await guess(`name ${at}`, 'x')
    const before = store.asked.length
    assert.equal(await guess('anna', 'right'), true)
    assert.equal(store.asked.length, before)
  })
})

const couchDb = backends.find(({ supports }) => supports.users)

;(couchDb ? describe : describe.skip)('a CouchDB that locks names out', () => {
  const reader = `guessed_${process.pid}`
  const own = `gateway_${process.pid}`
  let server, url, store, modeBefore

  const setting = '_node/_local/_config/chttpd_auth_lockout/mode'
  const put = (path, body) => request(`${server}/${path}`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const addReader = name => addUser(server, name, ['surveyors'])
  const statusOf = async (name, password) => (await request(as(url, name, password))).status

  before(async function () {
    server = await /** @type {any} */ (couchDb).url()
    const mode = await request(`${server}/${setting}`)
    modeBefore = mode.status === 200 ? await mode.json() : undefined
    if (modeBefore !== undefined && modeBefore !== 'enforce') await put(setting, 'enforce') // as it is when nobody says anything
    url = await /** @type {any} */ (couchDb).database()
    store = await openStore(url, fill)
    await store.secure({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['surveyors'] } })
    for (const name of [reader, own, `probe_${process.pid}`]) await addReader(name)
    for (let at = 0; at < 5; at++) await statusOf(`probe_${process.pid}`, 'wrong')
    if (await statusOf(`probe_${process.pid}`, 'pass-of-a-reader') !== 403) this.skip() // before 3.4
  })
  after(async () => {
    closeConnections()
    for (const name of [reader, own, `probe_${process.pid}`]) await removeUser(server, name)
    if (modeBefore !== undefined && modeBefore !== 'enforce') await put(setting, modeBefore)
    await store?.destroy()
  })

  /** What strangers and a reader see of a gateway, and CouchDB of both. */
  async function attack (base) {
    const see = (path, headers = {}) => ask(base, path, { headers, agent: false })
    assert.equal((await see(TILE, basic(reader, 'pass-of-a-reader'))).status, 200)
    const statuses = []
    for (let at = 0; at < 12; at++) {
      for (const name of [reader, own]) {
        const { status, headers, json } = await see(TILE, basic(name, `guess ${at}`))
        statuses.push(status)
        if (status === 429) assert.deepEqual([json.error, +(headers['retry-after'] ?? 0) > 200], ['TOO_MANY_GUESSES', true])
      }
    }
    const limited = await see('/db/_all_docs?limit=1', basic(reader, 'one more'))
    assert.deepEqual([limited.status, limited.json.code, +(limited.headers['retry-after'] ?? 0) > 200], [429, 'TOO_MANY_GUESSES', true])
    assert.deepEqual([...new Set(statuses)].sort(), [401, 429])
    assert.equal((await see('/open/3/0/1.png')).status, 200, 'a cold tile')
    assert.equal((await see('/db/open:3:1:1')).status, 200)
    assert.equal((await see(TILE, basic(reader, 'pass-of-a-reader'))).status, 200)
    assert.deepEqual((await see(TILE, { authorization: `Bearer ${token(['secret'])}` })).body, image('secret', 1, 0, T2))
  }

  it('locks neither the gateway nor its visitors out', async () => {
    const gateway = await openGateway(as(url, own, 'pass-of-a-reader'), { ...OPTIONS, accessUsers: true })
    try {
      await attack(gateway.url)
      assert.deepEqual([await statusOf(reader, 'pass-of-a-reader'), await statusOf(own, 'pass-of-a-reader')], [200, 200])
    } finally {
      await gateway.close()
    }
  })

  it('nor does it with several workers', async function () {
    this.timeout(60000)
    const second = `${reader}_w`
    await addReader(second)
    const run = serve(['--db', as(url, own, 'pass-of-a-reader'), '--workers', '3', '--private-layers', 'secret', '--set', 'accessUsers=true', '--json'])
    try {
      const { url: base } = await run.ready()
      const statuses = await Promise.all(Array.from({ length: 30 }, (_, at) => ask(base, TILE, { headers: basic(second, `guess ${at}`), agent: false })))
      const passedOn = statuses.filter(({ status }) => status !== 429).map(({ status }) => status)
      assert.deepEqual(passedOn.map(status => status === 503 ? 401 : status), [401, 401, 401], `${passedOn}: three were asked about, which a busy CouchDB may not answer in time`)
      assert.equal(statuses.filter(({ status, json }) => status === 429 && json.error === 'TOO_MANY_GUESSES').length, 27)
      assert.equal(await statusOf(second, 'pass-of-a-reader'), 200)
    } finally {
      await run.stop()
      await removeUser(server, second)
    }
  })
})
