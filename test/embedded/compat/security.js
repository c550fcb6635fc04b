// The CouchDB contract for users, sessions and the security object of a database.
import assert from 'node:assert/strict'
import { answered, freshDatabase } from '../harness.js'

export const security = target => describe('security', () => {
  const db = freshDatabase(target)
  const { admin } = db
  const anonymous = (...args) => target().anonymous(...args)
  const writer = (...args) => target().writer(...args)

  it('names the user of a request and his roles', async () => {
    assert.deepEqual((await target().admin('GET', '/_session')).json.userCtx, { name: 'admin', roles: ['_admin'] })
    assert.deepEqual((await anonymous('GET', '/_session')).json.userCtx, { name: null, roles: [] })
    assert.deepEqual((await writer('GET', '/_session')).json.userCtx,
      { name: target().writerName, roles: ['tilecouch-writer'] })
    await answered(401, target().wrong('GET', '/'), 'unauthorized', 'Name or password is incorrect.')
  })

  it('hides new databases from all users except admins', async () => {
    assert.deepEqual((await admin('GET', '/_security')).json,
      { members: { roles: ['_admin'] }, admins: { roles: ['_admin'] } })
    await answered(401, anonymous('GET', db.path), 'unauthorized', 'You are not authorized to access this db.')
    await answered(403, writer('GET', db.path), 'forbidden', 'You are not allowed to access this db.')
    await answered(401, anonymous('GET', `${db.path}/_changes`),
      'unauthorized', 'You are not authorized to access this db.')
  })

  it('lets only admins make, list and delete databases', async () => {
    await answered(401, anonymous('PUT', `/${target().unique()}`), 'unauthorized', 'You are not a server admin.')
    await answered(401, anonymous('DELETE', db.path), 'unauthorized', 'You are not a server admin.')
    await answered(401, anonymous('GET', '/_all_dbs'), 'unauthorized', 'You are not a server admin.')
  })

  it('lets everybody read and write a database without members', async () => {
    const nobody = { names: [], roles: [] }
    await answered(200, admin('PUT', '/_security', { admins: nobody, members: nobody }))
    await answered(200, anonymous('GET', db.path))
    await answered(201, anonymous('PUT', `${db.path}/a`, {}))
    await answered(401, anonymous('PUT', `${db.path}/_design/x`, {}),
      'unauthorized', 'You are not a db or server admin.')
    await answered(403, writer('PUT', `${db.path}/_design/x`, {}), 'forbidden', 'You are not a db or server admin.')
    // CouchDB answers 500 no_majority
    assert.notEqual((await anonymous('PUT', `${db.path}/_security`, {})).status, 200)
    await answered(401, anonymous('POST', `${db.path}/_compact`))
    const { json } = await anonymous('POST', `${db.path}/_bulk_docs`, { docs: [{ _id: '_design/z' }, { _id: 'b' }] })
    assert.equal(json[0].error, 'unauthorized')
    assert.equal(json[1].ok, true)
  })

  it('knows members and database admins by role and name', async () => {
    await admin('PUT', '/_security', { members: { roles: ['tilecouch-writer'] } })
    await answered(200, writer('GET', db.path))
    await answered(401, anonymous('GET', db.path))
    await answered(403, writer('PUT', `${db.path}/_design/y`, {}))
    await admin('PUT', '/_security', { admins: { names: [target().writerName] }, members: { names: ['somebody'] } })
    await answered(201, writer('PUT', `${db.path}/_design/y`, {}))
    await answered(200, writer('PUT', `${db.path}/_security`, { admins: { names: [target().writerName] } }))
    await answered(401, writer('DELETE', db.path))
  })

  const signIn = (body, headers = {}) => anonymous('POST', '/_session', body, headers)
  const cookieOf = ({ headers }) => /^(AuthSession=[^;]*);/.exec(headers['set-cookie'][0])?.[1] ?? ''
  const credentials = () => ({ name: target().writerName, password: 'w' })

  it('opens a session for a name and password', async () => {
    const answer = await signIn(credentials())
    assert.deepEqual([answer.status, answer.json],
      [200, { ok: true, name: target().writerName, roles: ['tilecouch-writer'] }])
    assert.match(answer.headers['set-cookie'][0],
      /^AuthSession=[\w-]{20,}; Version=1; Expires=[^;]+ GMT; Max-Age=600; Path=\/; HttpOnly/)
    const { json } = await anonymous('GET', '/_session', undefined, { Cookie: cookieOf(answer) })
    assert.deepEqual(json,
      { ok: true, userCtx: { name: target().writerName, roles: ['tilecouch-writer'] },
        info: { ...json.info, authenticated: 'cookie' } })
    assert.deepEqual((await anonymous('GET', '/_session')).json.info,
      { authentication_handlers: ['cookie', 'default'] })
    assert.equal((await target().admin('GET', '/_session')).json.info.authenticated, 'default')
  })

  it('gives a session the rights of its user', async () => {
    const path = `/${target().unique()}`
    const Cookie = cookieOf(await signIn({ name: 'admin', password: new URL(target().admin.base).password }))
    await answered(201, anonymous('PUT', path, undefined, { Cookie }))
    await answered(201, anonymous('POST', `${path}/_bulk_docs`, { docs: [{ _id: 'a' }] }, { Cookie }))
    const writerCookie = cookieOf(await signIn(credentials()))
    await answered(403, anonymous('GET', path, undefined, { Cookie: writerCookie }),
      'forbidden', 'You are not allowed to access this db.')
    await answered(401, anonymous('DELETE', path, undefined, { Cookie: writerCookie }),
      'unauthorized', 'You are not a server admin.')
    // the session counts, although the password is wrong
    await answered(200, target().wrong('GET', path, undefined, { Cookie }))
    await answered(200, anonymous('DELETE', path, undefined, { Cookie }))
  })

  it('opens no session for wrong passwords and malformed bodies', async () => {
    const name = target().unique()
    for (const body of [{ name, password: 'x' }, { name }, { name: '', password: 'x' }]) {
      const { headers } = await answered(401, signIn(body), 'unauthorized', 'Name or password is incorrect.')
      assert.match(headers['set-cookie'][0], /^AuthSession=;/)
    }
    await answered(400, signIn({ password: 'x' }), 'bad_request', 'request body must contain a username')
    await answered(400, signIn('{'), 'bad_request', 'invalid UTF-8 JSON')
    await answered(415, signIn('x', { 'Content-Type': 'text/plain' }), 'bad_content_type')
    const { status, headers } = await anonymous('PUT', '/_session', {})
    assert.deepEqual([status, headers.allow?.split(',').sort()], [405, ['DELETE', 'GET', 'HEAD', 'POST']])
  })

  it('locks a name after five wrong passwords', async () => {
    const name = target().unique()
    const statuses = []
    for (let i = 0; i < 6; i++) statuses.push((await signIn({ name, password: `${i}` })).status)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 403])
    await answered(403, signIn({ name, password: 'x' }), 'forbidden',
      'Account is temporarily locked due to multiple authentication failures')
    assert.equal((await signIn(credentials())).status, 200)
  })

  it('ignores changed cookies and refuses malformed ones', async () => {
    const value = cookieOf(await signIn(credentials())).slice('AuthSession='.length)
    const userOf = async text =>
      (await anonymous('GET', '/_session', undefined, { Cookie: `AuthSession=${text}` })).json.userCtx?.name
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
      await answered(400, anonymous('GET', '/_session', undefined, { Cookie: `AuthSession=${text}` }),
        'bad_request', 'Malformed AuthSession cookie. Please clear your cookies.')
    }
  })

  it('ends a session', async () => {
    const answer = await anonymous('DELETE', '/_session')
    assert.deepEqual([answer.status, answer.json], [200, { ok: true }])
    assert.match(answer.headers['set-cookie'][0], /^AuthSession=; Version=1; .*Path=\/; HttpOnly/)
  })

  it('sends attachments and answers of functions with a sandbox policy', async () => {
    const script = Buffer.from('<script></script>').toString('base64')
    await admin('PUT', '/page', { _attachments: { 'a.html': { content_type: 'text/html', data: script } } })
    await admin('PUT', '/_design/pages', {
      shows: { page: '(function () { return { headers: { "Content-Type": "text/html" }, body: "x" } })' },
      lists: { page: '(function () { start({ headers: { "Content-Type": "text/html" } }); return "x" })' },
      views: { v: { map: '(function (doc) {})' } }
    })
    for (const path of ['/page/a.html', '/_design/pages/_show/page', '/_design/pages/_list/page/v']) {
      assert.equal((await admin('GET', path)).headers['content-security-policy'], 'sandbox', path)
    }
  })
})
