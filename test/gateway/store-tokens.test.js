// Tests of tokens in the store: the layers that they show, and that a revoked token ends. The tests in security/table
// check who can make tokens.
import assert from 'node:assert/strict'
import { Store, hashOf, mirror, newToken, tokenId, tokenText } from '../../loader/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { onEachStore, request } from '../support/backends.js'
import { writePrivateLayers } from '../support/gateway/private.js'
import { useGateway } from '../support/gateway/stand.js'

const QUICK = 2000 // milliseconds until a gateway has read a changed token
const timeOf = ms => new Date(ms).toISOString().slice(0, 19) + 'Z'

/** Makes a token as the control room does. */
async function makeToken (user, layers, fields = {}) {
  const { id, secret } = newToken()
  const doc = {
    _id: tokenId(id), type: 'token', title: 'For the press', hash: await hashOf(secret),
    layers, created: timeOf(Date.now()), user, ...fields
  }
  return { doc, id, text: tokenText(id, secret) }
}

onEachStore('tokens of the store', backend => {
  const fixture = useGateway(backend, { fill: writePrivateLayers, options: { privateLayers: ['secret', 'draft-*'] } })
  const get = (text, path = '/secret/3/0/0.png') => fixture.ask(path, { headers: { authorization: `Bearer ${text}` } })
  const user = () => decodeURIComponent(new URL(fixture.url).username) || 'somebody'
  const codeOf = answer => [answer.status, answer.status === 200 ? 'OK' : answer.json.code ?? answer.json.error]
  const isRefusedWith = async (token, code) => codeOf(await get(token.text))[1] === code

  /** Stores a token, and waits until the gateway has read it. */
  async function storeToken (layers, fields, isKnown = ({ status }) => status !== 401) {
    const token = await makeToken(user(), layers, fields)
    await fixture.store.couch.request({ method: 'PUT', path: token.doc._id, body: JSON.stringify(token.doc) })
    await until(async () => isKnown(await get(token.text)), { timeout: QUICK })
    return token
  }

  const changeToken = async ({ doc }, fields) => {
    const stored = await fixture.store.couch.request({ path: doc._id })
    await fixture.store.couch.request({ method: 'PUT', path: doc._id, body: JSON.stringify({ ...stored, ...fields }) })
  }

  it('show the layers that they name, and no others', async () => {
    const { text } = await storeToken(['secret'])
    assert.equal((await get(text)).status, 200)
    assert.deepEqual(codeOf(await get(text, '/draft-a/3/0/0.png')), [403, 'ACCESS_DENIED'])
    assert.equal((await get(text, '/secret.json')).status, 200)
    assert.equal((await fixture.ask(`/secret/3/0/0.png?token=${text}`)).status, 200)
    const basic = Buffer.from(`anybody:${text}`).toString('base64')
    assert.equal((await fixture.ask('/secret/3/0/0.png', { headers: { authorization: `Basic ${basic}` } })).status, 200)
  })

  it('become a cookie of the viewer, even without an end time', async () => {
    const { text } = await storeToken(['draft-*'])
    const { status, headers } = await fixture.ask(`/?token=${text}`)
    assert.equal(status, 303)
    const [, cookie] = /^(tilecouch-[\w-]+=[^;]+); Max-Age=31536000;/.exec([headers['set-cookie']].flat()[0]) ?? []
    assert.equal((await fixture.ask('/draft-a/3/0/0.png', { headers: { cookie } })).status, 200)
  })

  it('are refused with a wrong secret, with their hash as secret, and after their end', async () => {
    const { text, id, doc } = await storeToken(['secret'])
    for (const invalidText of [tokenText(id, newToken().secret), tokenText(id, doc.hash.slice(0, 43)),
      `${text}A`, text.slice(0, -1), `tcs.${id}`, `tcs.constructor00.${text.slice(-43)}`]) {
      assert.deepEqual(codeOf(await get(invalidText)), [401, 'TOKEN_INVALID'], invalidText)
    }
    const endedToken =
      await storeToken(['*'], { until: timeOf(Date.now() - 1000) }, answer => codeOf(answer)[1] === 'TOKEN_EXPIRED')
    assert.deepEqual(codeOf(await get(endedToken.text)), [401, 'TOKEN_EXPIRED'])
    const shortToken = await storeToken(['secret'], { until: timeOf(Date.now() + 3000) })
    await until(() => isRefusedWith(shortToken, 'TOKEN_EXPIRED'), { timeout: 5000 })
  })

  it('are refused within two seconds when they are revoked or deleted, and their feeds end', async () => {
    for (const endToken of [
      token => changeToken(token, { revoked: timeOf(Date.now()) }),
      token => changeToken(token, { _deleted: true })
    ]) {
      const token = await storeToken(['*'])
      const feed = request(new URL('db/_changes?feed=continuous&heartbeat=5000&since=now', fixture.gateway.url).href,
        { headers: { authorization: `Bearer ${token.text}` } })
        .then(async answer => { assert.equal(answer.status, 200); await answer.text() })
        .then(() => 'ended', error => { if (error.code === 'ERR_ASSERTION') throw error; return 'ended' })
      await fixture.ask('/health')
      const otherToken = await storeToken(['secret'])
      const start = performance.now()
      await endToken(token)
      await until(() => isRefusedWith(token, 'TOKEN_INVALID'), { timeout: QUICK })
      assert.equal(await feed, 'ended')
      assert.ok(performance.now() - start < QUICK * TIME_FACTOR, `${performance.now() - start} ms`)
      assert.equal((await get(otherToken.text)).status, 200, 'no other one')
    }
  })

  it('give no access when their document is not valid', async () => {
    const invalidToken = await makeToken(user(), ['secret'])
    await fixture.store.couch.request(
      { method: 'PUT', path: invalidToken.doc._id, body: JSON.stringify({ ...invalidToken.doc, hash: 'abc' }) }
    ).catch(error => assert.equal(error.code, 'FORBIDDEN'))
    assert.deepEqual(codeOf(await get(invalidToken.text)), [401, 'TOKEN_INVALID'])
  })

  it('are shown at no address of the gateway, and are copied by no mirror', async () => {
    const { doc, text } = await storeToken(['*'])
    for (const path of [
      `/db/${doc._id}`, `/db/_all_docs?include_docs=true&keys=${encodeURIComponent(JSON.stringify([doc._id]))}`,
      '/db/_changes?include_docs=true'
    ]) {
      assert.ok(!(await get(text, path)).text.includes(doc.hash), path)
    }
    const target = await backend.database()
    await mirror(fixture.url, target, {})
    const copy = await Store.open(target)
    try {
      assert.ok((await copy.layers()).length > 0)
      assert.deepEqual(await copy.couch.page({ startkey: 'token:', endkey: 'token;' }), [])
    } finally {
      await copy.destroy()
    }
  })
})
