// Only the user who starts an embedded store is its admin. His programs find the store by its data folder.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync,
  rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { proofOf } from '../../loader/store/embedded.js'
import { findEmbedded, startEmbedded, up } from '../../server/index.js'
import { openEmbedded } from '../../server/up.js'
import { clientFor } from './harness.js'
import { runCommand } from '../support/cli.js'
import { finishCommand, startCommand } from '../support/command.js'
import { startServer } from '../support/server.js'

const modeOf = path => (statSync(path).mode & 0o777).toString(8)

describe('the owner of an embedded store', function () {
  this.timeout(30000)
  let dir, closing
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'emb-owner-'))
    closing = []
  })
  afterEach(async () => {
    for (const close of closing.reverse()) await close()
    rmSync(dir, { recursive: true, force: true })
  })

  async function start (options = {}) {
    const server = await startEmbedded({ dir, ...options })
    closing.push(server.close)
    return server
  }

  function clientOf (url) {
    const client = clientFor(url)
    closing.push(async () => client.end())
    return client
  }

  it('is its only admin; others read only public databases', async () => {
    const { url, adminUrl } = await start()
    const [anonymous, admin] = [clientOf(url), clientOf(adminUrl)]
    assert.deepEqual((await anonymous('GET', '/_session')).json.userCtx, { name: null, roles: [] })
    assert.deepEqual((await admin('GET', '/_session')).json.userCtx, { name: 'admin', roles: ['_admin'] })
    assert.equal((await anonymous('PUT', '/db')).status, 401)
    assert.equal((await admin('PUT', '/db')).status, 201)
    assert.equal((await anonymous('GET', '/db')).status, 401)
    await admin('PUT', '/db/_security', { members: {}, admins: {} })
    await admin('PUT', '/db/doc', { n: 1 })
    assert.equal((await anonymous('GET', '/db/doc')).json.n, 1)
    for (const [method, path, body] of [['PUT', '/db/_security', {}],
      ['PUT', '/db/_design/d', {}], ['DELETE', '/db'], ['GET', '/_all_dbs'], ['POST', '/db/_compact', {}]]) {
      assert.equal((await anonymous(method, path, body)).status, 401, `${method} ${path}`)
    }
    const wrongClient = clientOf(adminUrl.replace(/:[^:@]+@/, ':wrong@'))
    assert.equal((await wrongClient('GET', '/_session')).status, 401)
  })

  it('keeps a password that only the owner can read and that survives a restart, in a folder of mode 700', async () => {
    await (await startEmbedded({ dir })).close()
    const password = readFileSync(join(dir, 'password'), 'utf8')
    assert.match(password, /^[\w-]{32}\n$/)
    const { adminUrl } = await start()
    assert.equal(readFileSync(join(dir, 'password'), 'utf8'), password)
    assert.equal(new URL(adminUrl).password, password.trim())
    for (const file of ['password', 'server.json']) assert.equal(modeOf(join(dir, file)), '600', file)
    assert.ok(!readFileSync(join(dir, 'server.json'), 'utf8').includes(password.trim()))
    const second = await startEmbedded({ dir: join(dir, 'another') })
    assert.notEqual(second.adminUrl.replace(/.*:([^:@]+)@.*/, '$1'), password.trim())
    await second.close()
    const fresh = join(dir, 'deep', 'data')
    await (await startEmbedded({ dir: fresh })).close()
    assert.equal(modeOf(fresh), '700')
    const old = join(dir, 'old')
    mkdirSync(old)
    chmodSync(old, 0o755)
    writeFileSync(join(old, 'server.json.new'), '', { mode: 0o644 }) // left by a start that was interrupted
    const server = await startEmbedded({ dir: old })
    assert.equal(modeOf(old), '700')
    assert.equal(modeOf(join(old, 'server.json')), '600')
    assert.ok(readFileSync(join(old, 'password'), 'utf8').length > 30)
    assert.deepEqual(readdirSync(old).filter(name => name.endsWith('.new')), [])
    await server.close()
  })

  it('cannot start in a folder with other files, in a link to one, or in a file', async () => {
    const otherFolder = join(dir, 'other')
    mkdirSync(otherFolder)
    chmodSync(otherFolder, 0o755)
    writeFileSync(join(otherFolder, 'index.html'), '')
    symlinkSync(otherFolder, join(dir, 'data'))
    for (const folder of [otherFolder, join(dir, 'data')]) {
      await assert.rejects(startEmbedded({ dir: folder }), { code: 'EMBEDDED_FOLDER' })
    }
    assert.deepEqual([modeOf(otherFolder), readdirSync(otherFolder)], ['755', ['index.html']])
    await assert.rejects(startEmbedded({ dir: join(otherFolder, 'index.html') }),
      { code: 'EMBEDDED_FOLDER', message: /is not a folder/ })
    const disk = join(dir, 'disk')
    mkdirSync(join(disk, 'lost+found'), { recursive: true })
    await (await startEmbedded({ dir: disk })).close()
  })

  it('leaves nothing open when it cannot write its address', async () => {
    const { port, close } = await startEmbedded({ dir })
    await close()
    mkdirSync(join(dir, 'server.json'))
    await assert.rejects(startEmbedded({ dir, port }), { code: 'EISDIR' })
    rmSync(join(dir, 'server.json'), { recursive: true })
    assert.equal((await start({ port })).port, port)
  })

  it('cannot start or be found when the password is a link, a pipe or damaged', async () => {
    const victim = join(dir, 'victim')
    writeFileSync(victim, `${'v'.repeat(32)}\n`, { mode: 0o644 })
    const folders = ['link', 'pipe', 'empty', 'long'].map(name => join(dir, name))
    for (const folder of folders) mkdirSync(folder)
    const [link, pipe, empty, long] = folders.map(folder => join(folder, 'password'))
    symlinkSync(victim, link)
    await promisify(execFile)('mkfifo', [pipe])
    writeFileSync(empty, '')
    writeFileSync(long, 'x'.repeat(5000))
    for (const folder of folders) {
      await assert.rejects(startEmbedded({ dir: folder }), { code: 'EMBEDDED_PASSWORD' })
      const otherServer = await start({ dir: join(folder, 'other') })
      writeFileSync(join(folder, 'server.json'), readFileSync(join(folder, 'other', 'server.json')))
      assert.equal(await findEmbedded(folder), null)
      await otherServer.close()
    }
    const fresh = join(dir, 'fresh')
    mkdirSync(fresh)
    for (const name of ['password.new', 'server.json.new']) symlinkSync(victim, join(fresh, name))
    await (await startEmbedded({ dir: fresh })).close()
    assert.equal(readFileSync(victim, 'utf8'), `${'v'.repeat(32)}\n`)
    assert.equal(modeOf(victim), '644')
  })

  it('sends no credentials to a server that a foreign folder names', async () => {
    const authorizations = []
    const { port, close } = await startServer((req, res) => {
      authorizations.push(req.headers.authorization)
      const challenge = new URL(`${req.url}`, 'http://h').searchParams.get('challenge') ?? ''
      res.end(JSON.stringify({ couchdb: 'Welcome', proof: proofOf('s', challenge) }))
    })
    closing.push(close)
    const data = join(dir, 'data')
    mkdirSync(data)
    for (const [url, hasAdmin] of [[`http://127.0.0.1:${port}`, false], [`http://maps.example.org:${port}`, true],
      [`http://u@127.0.0.1:${port}`, false], [`https://127.0.0.1:${port}`, true]]) {
      writeFileSync(join(data, 'server.json'), JSON.stringify({ url, secret: 's', hasAdmin, pid: 1 }))
      const env = { COUCHDB_URL: '', COUCHDB_USER: 'admin', COUCHDB_PASSWORD: 'mine' }
      const { code, err } = await startCommand(['info'], { cwd: dir, env }).ended
      assert.equal(code, 1)
      assert.match(err, /DATABASE_NOT_FOUND/, 'of the folder, not of theirs')
    }
    assert.deepEqual(authorizations, [])
  })

  it('finds the running server and its admin URL from the folder', async () => {
    const { url, adminUrl } = await start()
    assert.equal(await findEmbedded(dir), adminUrl)
    const opened = await openEmbedded(dir)
    assert.deepEqual([opened.started, opened.url], [false, adminUrl])
    assert.notEqual(adminUrl, url)
  })

  it('sends no password to another server that now has the port', async () => {
    await (await startEmbedded({ dir })).close()
    const authorizations = []
    const { url, close } = await startServer((req, res) => {
      authorizations.push(req.headers.authorization)
      res.setHeader('Content-Type', 'application/json')
      res.end(JSON.stringify({ couchdb: 'Welcome', uuid: 'u', proof: 'x'.repeat(43) }))
    })
    closing.push(close)
    writeFileSync(join(dir, 'server.json'), JSON.stringify({ url, secret: 's', hasAdmin: true, pid: 1 }))
    assert.equal(await findEmbedded(dir), null)
    await runCommand(['info', 'town', '--db', `${url}/tiles`, '--data', dir])
    assert.ok(authorizations.length > 1)
    assert.deepEqual([...new Set(authorizations)], [undefined])
  })

  it('writes with commands that know the data folder; others cannot write', async () => {
    const data = join(dir, 'data')
    const running = await up({ data, port: 0, env: {}, demo: false })
    closing.push(running.close)
    const run = (...args) => runCommand(args, { openEmbedded })
    const address = ['--db', running.url.replace('127.0.0.1', 'localhost'), '--data', data]
    const { code, out, err } = await run('layer', 'town', '--title', 'Town', ...address)
    assert.equal(code, 0, err)
    // without an address, the command uses ./data
    await finishCommand(['layer', 'village', '--title', 'Village'], { cwd: dir })
    assert.ok(!/:[^/]*@/.test(out), out)
    const anonymous = clientOf(running.url)
    for (const [layer, title] of [['town', 'Town'], ['village', 'Village']]) {
      assert.equal((await anonymous('GET', `/tiles/layer:${layer}`)).json.name, title)
    }
    assert.equal((await anonymous('PUT', '/tiles/layer:x', { type: 'layer', layer: 'x' })).status, 401)
    const unknown = ['--db', running.url, '--data', join(dir, 'none')]
    assert.equal((await run('layer', 'town', '--title', 'Mine', ...unknown)).code, 1)
  })
})
