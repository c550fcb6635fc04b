// Who is let in besides those with tokens: users of a CouchDB who may read the store. And what a gateway of private layers says
// when it starts, in workers, behind a proxy and in its log.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { readKeys, readToken } from '../../loader/token.js'
import { Users } from '../../server/gateway/access/users.js'
import { createLog } from '../../server/gateway/log.js'
import { resolveOptions } from '../../server/gateway/config.js'
import { serve as start } from '../../server/serve.js'
import { as, backends, onEachStore, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { startServer } from '../support/server.js'
import { KEYS, OPTIONS, T2, addUser, fill, image, removeUser, token } from './support/private.js'
import { serve } from './support/serving.js'
import { useGateway } from './support/stand.js'
import { ask } from './support/wire.js'

const basic = (name, password) => ({ authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` })
const asSession = cookie => ({ headers: { cookie }, address: null })
const TILE = '/secret/3/1/0.png'

for (const backend of backends.filter(({ supports }) => supports.users)) {
  describe(`users of ${backend.name} as visitors of private layers`, () => {
    const own = useGateway(backend, { fill, options: { ...OPTIONS, accessUsers: true } })
    const reader = `reader_${process.pid}`
    const other = `other_${process.pid}`

    before(async () => {
      await addUser(await backend.url(), reader, ['surveyors'])
      await addUser(await backend.url(), other)
      await own.store.secure({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['surveyors'] } })
    })
    after(async () => { for (const name of [reader, other]) await removeUser(await backend.url(), name) })
    const get = (path, headers = {}) => own.ask(path, { headers })

    it('serves a store that is not public with credentials of its own: public layers to everybody, private ones to nobody', async () => {
      assert.equal((await request(as(own.url, undefined, undefined))).status, 401, 'the store is closed')
      assert.deepEqual((await get('/open/3/1/0.png')).body, image('open', 1, 0, T2))
      assert.equal((await get(TILE)).status, 401)
      assert.equal((await get(TILE, { authorization: `Bearer ${token(['secret'])}` })).status, 200)
    })

    it('lets in who may read the store, by password and by session, and nobody else', async () => {
      const good = await get(TILE, basic(reader, 'pass-of-a-reader'))
      assert.deepEqual([good.status, good.headers['cache-control'], good.headers.vary], [200, 'private, max-age=300', 'Authorization, Cookie'])
      for (const headers of [basic(reader, 'wrong'), basic(other, 'pass-of-a-reader'), basic('nobody', 'x'), { cookie: 'AuthSession=bm9ib2R5OjY1OjE' }, { authorization: 'Basic !!' }, { authorization: 'Bearer x' }]) {
        const { status, json } = await get(TILE, headers)
        assert.deepEqual([status, json.error], [401, headers.authorization === 'Bearer x' ? 'TOKEN_INVALID' : 'ACCESS_NEEDED'], JSON.stringify(headers))
      }
      const session = await fetch(`${as(await backend.url(), undefined, undefined)}/_session`.replace('//_s', '/_s'), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name: reader, password: 'pass-of-a-reader' }) })
      const cookie = session.headers.getSetCookie()[0].split(';')[0]
      for (const path of [TILE, '/secret.json', '/db/secret:3:1:0', '/db/_all_docs?limit=3', '/metrics']) assert.equal((await get(path, { cookie: `x=1; ${cookie}` })).status, 200, path)
      assert.match((await get('/wmts/1.0.0/WMTSCapabilities.xml', { cookie })).text, /secret/)
    })

    it('asks for a name where somebody looks at the address bar, and not for each image of a page', async () => {
      assert.match((await get(TILE)).headers['www-authenticate'], /Basic realm="tilecouch"/)
      assert.match((await get(TILE, { 'sec-fetch-mode': 'navigate' })).headers['www-authenticate'], /Basic/)
      for (const mode of ['no-cors', 'cors', 'same-origin']) assert.doesNotMatch((await get(TILE, { 'sec-fetch-mode': mode })).headers['www-authenticate'], /Basic/)
    })

    it('closes again within moments of a member being one no more', async () => {
      const users = new Users(own.store.couch, { now: () => clock })
      let clock = 0
      const credentials = { headers: basic(reader, 'pass-of-a-reader'), name: reader, address: null }
      assert.equal(await users.mayRead(credentials), true)
      await own.store.secure({ admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['others'] } })
      assert.equal(await users.mayRead(credentials), true)
      clock += users.limits.age
      assert.equal(await users.mayRead(credentials), false)
    })
  })
}

describe('the question who somebody is', () => {
  it('is asked a few at a time, once for each, and of a CouchDB that is away again and again', async () => {
    let [open, most, asked, broken] = [0, 0, 0, false]
    const server = await startServer((req, res) => {
      asked++
      most = Math.max(most, ++open)
      setTimeout(() => { open--; res.writeHead(broken ? 500 : 200).end(req.url === '/_session' ? '{"userCtx":{"name":"a"}}' : '{}') }, 5)
    })
    const users = new Users(/** @type {any} */ ({ access: { origin: server.url, base: '', path: '/tiles' }, url: 'u' }), { atOnce: 2, waiting: 20 })
    try {
      const answers = await Promise.allSettled(Array.from({ length: 60 }, (_, at) => users.mayRead(asSession(`c${at % 30}`))))
      assert.equal(most, 2)
      assert.equal(answers.filter(({ status }) => status === 'fulfilled').length + answers.filter(({ reason }) => reason?.code === 'UNREACHABLE').length, 60)
      assert.ok(asked <= 60 && answers.some(({ reason }) => reason))
      broken = true
      await assert.rejects(users.mayRead(asSession('new')), { code: 'UNREACHABLE' })
      broken = false
      assert.equal(await users.mayRead(asSession('new')), true)
    } finally {
      await server.close()
    }
  })
})

onEachStore('a gateway of private layers', backend => {
  const folder = useFolder()
  const fileOf = (name, text) => `${folder.write({ [name]: text })}/${name}`
  const own = useGateway(backend, { fill, options: null })

  // the same on every store, and slow
  const itOnce = backend === backends.at(-1) ? it : it.skip
  itOnce('in several processes keeps them private in each, takes keys from a file, and says none of it in its log', async () => {
    const keys = fileOf('keys', `# of a test\n${Object.entries(KEYS).map(([id, secret]) => `${id}:${secret}`).join('\n')}\n`)
    const right = token(['secret'])
    const run = serve(['--db', own.url, '--workers', '2', '--private-layers', 'secret,draft-*', '--access-keys-file', keys, '--set', 'accessLog=true', '--json'])
    try {
      const { url: base } = await run.ready()
      for (let turn = 0; turn < 12; turn++) {
        assert.equal((await ask(base, TILE, { agent: false })).status, 401)
        assert.equal((await ask(base, `${TILE}?token=${right}`, { agent: false })).status, 200)
        assert.equal((await ask(base, `/secret/3/7/7.png?x=1&token=${right}`, { agent: false })).status, 404)
        assert.equal((await ask(base, TILE, { agent: false, headers: { authorization: `Basic ${Buffer.from(`a:${right}`).toString('base64')}` } })).status, 200)
      }
    } finally {
      await run.stop()
    }
    assert.match(run.err, /"url":"\/[^/]+\/3\/1\/0\.png\?token=\(hidden\)"|\(token\)/) // the layer is hidden, too, where the store has that password
    for (const text of [right, right.split('.')[3], right.split('.')[2], ...Object.values(KEYS)]) assert.ok(!run.err.includes(text) && !run.out.includes(text))
  })

  it('does not start when a private layer is written wrongly, or keys cannot be read', async () => {
    for (const [flags, code, said] of /** @type {[any, string, RegExp][]} */ ([
      [{ privateLayers: 'secert' }, 'BAD_OPTION', /secert.*no such layer/],
      [{ privateLayers: 'secret,later' }, 'BAD_OPTION', /"later".*no such layer/],
      [{ privateLayers: 'Secret' }, 'BAD_OPTION', /bad layer name/],
      [{ privateLayers: 'secret', accessKeys: 'a:b' }, 'BAD_OPTION', /\(not shown\).*the key a must have 32 characters/],
      [{ privateLayers: 'secret', accessKeysFile: fileOf('short', 'a:b') }, 'CONFIG_INVALID', /the key a must have 32 characters/],
      [{ privateLayers: 'secret', accessKeysFile: `${folder.dir}/none` }, 'CONFIG_INVALID', /no such file/],
      [{ privatelayers: true }, 'BAD_OPTION', /"privateLayers" is one/]
    ])) {
      await assert.rejects(async () => (await start(resolveOptions({ flags: { db: own.url, port: 0, logLevel: 'silent', ...flags } }))).close(), error => {
        assert.deepEqual([error.code, said.test(error.message)], [code, true], error.message)
        return true
      })
    }
    for (const privateLayers of ['secret', 'later-*', '*,!open', true]) await (await start(resolveOptions({ flags: { db: own.url, port: 0, logLevel: 'silent', privateLayers } }))).close()
  })

  it('behind https gives cookies for https alone, and for its own path', async () => {
    const gateway = await own.another({ ...OPTIONS, privateLayers: true, trustProxy: true, publicUrl: 'https://maps.example.org/maps/' })
    const headers = { 'x-forwarded-proto': 'http', 'x-forwarded-prefix': '/evil' }
    const { headers: { 'set-cookie': [cookie] } } = await ask(gateway.url, `/?token=${token(['*'])}`, { headers })
    assert.match(cookie, /; Path=\/maps\/; HttpOnly; SameSite=Lax; Secure$/)
    assert.equal((await ask(gateway.url, '/open/3/1/0.png')).status, 401, 'true means every layer')
    assert.match((await ask(gateway.url, '/db/_all_docs?startkey=%22layer:%22&endkey=%22layer;%22')).json.reason, /is private/)
  })
})

describe('tilecouch token', () => {
  const folder = useFolder()
  const run = async (args, env = {}) => {
    const before = { ...process.env }
    Object.assign(process.env, env)
    try {
      return await runCommand(['token', ...args])
    } finally {
      for (const name of Object.keys(env)) delete process.env[name]
      Object.assign(process.env, before)
    }
  }

  it('makes keys, and tokens of them with addresses to use', async () => {
    const { out: line } = await run(['--new-key'])
    const file = `${folder.dir}/keys`
    writeFileSync(file, `${line}old:${'x'.repeat(32)}\n`)
    const { code, out } = await run(['survey', 'draft-*', '--for', '7d', '--access-keys-file', file, '--public-url', 'https://maps.example.org', '--json'])
    const { token: text, until, tiles, viewer, wmts } = JSON.parse(out)
    const claim = readToken(text, await readKeys(file))
    assert.deepEqual([code, claim.layers.has('survey'), claim.layers.has('draft-9'), claim.layers.has('other'), claim.key, Math.round((claim.until - Date.now()) / 86400000)], [0, true, true, false, 'old', 7])
    assert.equal(Date.parse(until), claim.until)
    assert.deepEqual([tiles, viewer, wmts], [`https://maps.example.org/survey/{z}/{x}/{y}.png?token=${text}`, `https://maps.example.org/?token=${text}`, `https://maps.example.org/wmts/1.0.0/WMTSCapabilities.xml?token=${text}`])
    const lines = await run(['survey', '--until', '2099', '--key', line.split(':')[0]], { TILECOUCH_ACCESS_KEYS: line.trim() })
    assert.match(lines.out, /valid until 2099-12-31T23:59:59Z:\n\ntc1\.k/)
  })

  it('says what is missing or wrong, and never a key', async () => {
    const keys = { TILECOUCH_ACCESS_KEYS: `a:${'s'.repeat(40)}` }
    for (const [args, env, said] of /** @type {[string[], any, RegExp][]} */ ([
      [['survey', '--for', '7d'], {}, /no key to sign with.*--new-key/s], [['survey'], keys, /give the time/], [['survey', '--for', '7d', '--until', '2099'], keys, /give the time/],
      [['--for', '7d'], keys, /1 to 50 names/], [['Survey', '--for', '7d'], keys, /bad layer name/], [['survey', '--until', '2001'], keys, /in the future/], [['survey', '--for', 'long'], keys, /duration/],
      [['survey', '--for', '7d', '--key', 'b'], keys, /keys are a/], [['survey', '--for', '7d', '--public-url', 'x'], keys, /http/], [['survey', '--for', '7d'], { TILECOUCH_ACCESS_KEYS: 'a:tooshort' }, /32 characters/]
    ])) {
      const { code, err } = await run(args, env)
      assert.equal(code, 1)
      assert.match(err, said)
      assert.ok(!/ssss|tooshort/.test(err))
    }
  })
})

describe('the log', () => {
  it('has no token in it, wherever it stood', () => {
    const right = token(['*'])
    const lines = []
    const log = createLog({ destination: { write: line => { lines.push(line) } } })
    log.info({ url: `/a?token=${right}&b`, referer: right, nested: { list: [`x ${right} y`] }, cookie: `tilecouch=${right}` }, `GET /?x&token=${right}`)
    log.error({ err: new Error(`at ${encodeURIComponent(right)}`) }, right.replaceAll('.', '%2E'))
    for (const part of right.split('.').slice(2)) assert.ok(!lines.join('').includes(part), lines.join(''))
    assert.match(lines[0], /\/a\?token=\(hidden\)&b|\/a\?token=\(token\)&b/)
  })
})
