// The CouchDB contract for users, sessions and the security object of a database.
import assert from 'node:assert/strict'
import { freshDatabase } from '../harness.js'

export const security = target => describe('security', () => {
  const db = freshDatabase(target)
  const { admin } = db
  const assertRefused = (answer, status, error, reason) => {
    assert.equal(answer.status, status, answer.text)
    assert.deepEqual(answer.json, { error, reason })
  }

  it('names the user of a request and his roles', async () => {
    assert.deepEqual((await target().admin('GET', '/_session')).json.userCtx, { name: 'admin', roles: ['_admin'] })
    assert.deepEqual((await target().anonymous('GET', '/_session')).json.userCtx, { name: null, roles: [] })
    assert.deepEqual((await target().writer('GET', '/_session')).json.userCtx,
      { name: target().writerName, roles: ['tilecouch-writer'] })
    assertRefused(await target().wrong('GET', '/'), 401, 'unauthorized', 'Name or password is incorrect.')
  })

  it('hides new databases from all users except admins', async () => {
    assert.deepEqual((await admin('GET', '/_security')).json,
      { members: { roles: ['_admin'] }, admins: { roles: ['_admin'] } })
    assertRefused(await target().anonymous('GET', db.path),
      401, 'unauthorized', 'You are not authorized to access this db.')
    assertRefused(await target().writer('GET', db.path), 403, 'forbidden', 'You are not allowed to access this db.')
    assertRefused(await target().anonymous('GET', `${db.path}/_changes`),
      401, 'unauthorized', 'You are not authorized to access this db.')
  })

  it('lets only admins make, list and delete databases', async () => {
    assertRefused(await target().anonymous('PUT', `/${target().unique()}`),
      401, 'unauthorized', 'You are not a server admin.')
    assertRefused(await target().anonymous('DELETE', db.path), 401, 'unauthorized', 'You are not a server admin.')
    assertRefused(await target().anonymous('GET', '/_all_dbs'), 401, 'unauthorized', 'You are not a server admin.')
  })

  it('lets everybody read and write a database without members', async () => {
    assert.equal((
      await admin('PUT', '/_security', { admins: { names: [], roles: [] }, members: { names: [], roles: [] } })
    ).status, 200)
    assert.equal((await target().anonymous('GET', db.path)).status, 200)
    assert.equal((await target().anonymous('PUT', `${db.path}/a`, {})).status, 201)
    assertRefused(await target().anonymous('PUT', `${db.path}/_design/x`, {}),
      401, 'unauthorized', 'You are not a db or server admin.')
    assertRefused(await target().writer('PUT', `${db.path}/_design/x`, {}),
      403, 'forbidden', 'You are not a db or server admin.')
    // CouchDB answers 500 no_majority
    assert.notEqual((await target().anonymous('PUT', `${db.path}/_security`, {})).status, 200)
    assert.equal((await target().anonymous('POST', `${db.path}/_compact`)).status, 401)
    const { json } = await target()
      .anonymous('POST', `${db.path}/_bulk_docs`, { docs: [{ _id: '_design/z' }, { _id: 'b' }] })
    assert.equal(json[0].error, 'unauthorized')
    assert.equal(json[1].ok, true)
  })

  it('knows members and database admins by role and name', async () => {
    await admin('PUT', '/_security', { members: { roles: ['tilecouch-writer'] } })
    assert.equal((await target().writer('GET', db.path)).status, 200)
    assert.equal((await target().anonymous('GET', db.path)).status, 401)
    assert.equal((await target().writer('PUT', `${db.path}/_design/y`, {})).status, 403)
    await admin('PUT', '/_security', { admins: { names: [target().writerName] }, members: { names: ['somebody'] } })
    assert.equal((await target().writer('PUT', `${db.path}/_design/y`, {})).status, 201)
    assert.equal((await target().writer('PUT', `${db.path}/_security`, { admins: { names: [target().writerName] } }))
      .status, 200)
    assert.equal((await target().writer('DELETE', db.path)).status, 401)
  })

  const signIn = (body, headers = {}) => target().anonymous('POST', '/_session', body, headers)
  const cookieOf = ({ headers }) => /^(AuthSession=[^;]*);/.exec(headers['set-cookie'][0])?.[1] ?? ''
  const writer = () => ({ name: target().writerName, password: 'w' })

  it('opens a session for a name and password', async () => {
    const answer = await signIn(writer())
    assert.deepEqual([answer.status, answer.json],
      [200, { ok: true, name: target().writerName, roles: ['tilecouch-writer'] }])
    assert.match(answer.headers['set-cookie'][0],
      /^AuthSession=[\w-]{20,}; Version=1; Expires=[^;]+ GMT; Max-Age=600; Path=\/; HttpOnly/)
    const { json } = await target().anonymous('GET', '/_session', undefined, { Cookie: cookieOf(answer) })
    assert.deepEqual(json,
      { ok: true, userCtx: { name: target().writerName, roles: ['tilecouch-writer'] },
        info: { ...json.info, authenticated: 'cookie' } })
    assert.deepEqual((await target().anonymous('GET', '/_session')).json.info,
      { authentication_handlers: ['cookie', 'default'] })
    assert.equal((await target().admin('GET', '/_session')).json.info.authenticated, 'default')
  })

  it('gives a session the rights of its user', async () => {
    const path = `/${target().unique()}`
    const Cookie = cookieOf(await signIn({ name: 'admin', password: new URL(target().admin.base).password }))
    assert.equal((await target().anonymous('PUT', path, undefined, { Cookie })).status, 201)
    assert.equal((await target().anonymous('POST', `${path}/_bulk_docs`, { docs: [{ _id: 'a' }] }, { Cookie })).status,
      201)
    const writerCookie = cookieOf(await signIn(writer()))
    assertRefused(await target().anonymous('GET', path, undefined, { Cookie: writerCookie }),
      403, 'forbidden', 'You are not allowed to access this db.')
    assertRefused(await target().anonymous('DELETE', path, undefined, { Cookie: writerCookie }),
      401, 'unauthorized', 'You are not a server admin.')
    // the session counts, although the password is wrong
    assert.equal((await target().wrong('GET', path, undefined, { Cookie })).status, 200)
    assert.equal((await target().anonymous('DELETE', path, undefined, { Cookie })).status, 200)
  })

  it('opens no session for wrong passwords and malformed bodies', async () => {
    const name = target().unique()
    for (const body of [{ name, password: 'x' }, { name }, { name: '', password: 'x' }]) {
      const answer = await signIn(body)
      assertRefused(answer, 401, 'unauthorized', 'Name or password is incorrect.')
      assert.match(answer.headers['set-cookie'][0], /^AuthSession=;/)
    }
    assertRefused(await signIn({ password: 'x' }), 400, 'bad_request', 'request body must contain a username')
    assertRefused(await signIn('{'), 400, 'bad_request', 'invalid UTF-8 JSON')
    const plainText = await signIn('x', { 'Content-Type': 'text/plain' })
    assert.deepEqual([plainText.status, plainText.json.error], [415, 'bad_content_type'])
    const { status, headers } = await target().anonymous('PUT', '/_session', {})
    assert.deepEqual([status, headers.allow?.split(',').sort()], [405, ['DELETE', 'GET', 'HEAD', 'POST']])
  })

  it('locks a name after five wrong passwords', async () => {
    const name = target().unique()
    const statuses = []
    for (let i = 0; i < 6; i++) statuses.push((await signIn({ name, password: `${i}` })).status)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 403])
    assertRefused(await signIn({ name, password: 'x' }), 403, 'forbidden',
      'Account is temporarily locked due to multiple authentication failures')
    assert.equal((await signIn(writer())).status, 200)
  })

  it('ignores changed cookies and refuses malformed ones', async () => {
    const value = cookieOf(await signIn(writer())).slice('AuthSession='.length)
    const userOf = async text =>
      (await target().anonymous('GET', '/_session', undefined, { Cookie: `AuthSession=${text}` })).json.userCtx?.name
    assert.equal(await userOf(value), target().writerName)
    assert.equal(await userOf(`"${value}"`), target().writerName)
    const bytes = Buffer.from(value, 'base64url')
    const forge = name => Buffer.concat([Buffer.from(name), bytes.subarray(bytes.indexOf(':'))]).toString('base64url')
    const flipped = Buffer.from(bytes)
    flipped[bytes.length - 1] ^= 1
    for (const text of [forge('admin'), forge('nobody'), flipped.toString('base64url'), value.slice(0, -6),
      '', Buffer.from('admin:zz:x').toString('base64url')]) assert.equal(await userOf(text), null, text)
    for (const text of ['nonsense', Buffer.from('admin').toString('base64url'),
      Buffer.from('admin:12').toString('base64url')]) {
      const answer = await target().anonymous('GET', '/_session', undefined, { Cookie: `AuthSession=${text}` })
      assertRefused(answer, 400, 'bad_request', 'Malformed AuthSession cookie. Please clear your cookies.')
    }
  })

  it('ends a session', async () => {
    const answer = await target().anonymous('DELETE', '/_session')
    assert.deepEqual([answer.status, answer.json], [200, { ok: true }])
    assert.match(answer.headers['set-cookie'][0], /^AuthSession=; Version=1; .*Path=\/; HttpOnly/)
  })

  it('sends attachments and answers of functions with a sandbox policy', async () => {
    const script = Buffer.from('<script></script>').toString('base64')
    await admin('PUT', '/page', { _attachments: { 'a.html': { content_type: 'text/html', data: script } } })
    const html = '(function () { return { headers: { "Content-Type": "text/html" }, body: "x" } })'
    await admin('PUT', '/_design/pages',
      { shows: { page: html }, lists: {
        page: '(function () { start({ headers: { "Content-Type": "text/html" } }); return "x" })'
      }, views: { v: { map: '(function (doc) {})' } } })
    for (const path of ['/page/a.html', '/_design/pages/_show/page', '/_design/pages/_list/page/v']) {
      assert.equal((await admin('GET', path)).headers['content-security-policy'], 'sandbox', path)
    }
  })
})
