import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { findDatabase, resolveDatabase } from '../../loader/couchapp/environments.js'
import { useDataFolder } from '../../loader/store/secrets.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { useFolder } from '../support/couch-database.js'

describe('environments', () => {
  const folder = useFolder()
  // commands of other tests in this process set it: a store that runs in this clone would give its password
  before(() => useDataFolder())

  /** Resolves as if the command were run in a folder, with a home and an environment of its own. */
  const resolve = (target, { project, user, env = {}, cwd = 'project', data } = {}) => {
    mkdirSync(path.join(folder.dir, cwd), { recursive: true })
    if (project !== undefined) {
      folder.write({ 'project/.couchapprc': typeof project === 'string' ? project : JSON.stringify(project) })
    }
    if (user !== undefined) {
      folder.write({ 'home/.couchapp.conf': typeof user === 'string' ? user : JSON.stringify(user) })
    }
    return resolveDatabase(target, { cwd: path.join(folder.dir, cwd), home: path.join(folder.dir, 'home'), env, data })
  }
  const environments = env => ({ env })

  it('are the embedded store when nothing names a database', async () => {
    assert.equal(await resolve(), null)
    assert.equal(await resolve(undefined, { project: {} }), null)
  })

  it('are the default of .couchapprc', async () => {
    assert.equal(await resolve(undefined, { project: environments({ default: { db: 'http://localhost:5984/maps' } }) }),
      'http://localhost:5984/maps')
    assert.equal(await resolve(
      undefined, { project: environments({ default: { db: 'http://localhost:5984/maps' } }), env: { COUCHDB_URL: '' } }
    ), 'http://localhost:5984/maps')
  })

  it('are the running store of the folder when the default is its usual address', async () => {
    const data = path.join(folder.dir, 'data')
    const { adminUrl, close } = await startEmbedded({ dir: data })
    const usual = environments({ default: { db: 'http://localhost:5984/tiles' } })
    try {
      assert.equal(await resolve(undefined, { project: usual, data }), `${adminUrl}/tiles`)
      assert.equal(await resolve('default', { project: usual, data }), 'http://localhost:5984/tiles', 'it was typed')
      for (const db of ['http://localhost:5984/maps', 'http://localhost:5985/tiles',
        'http://maps.example.org:5984/tiles', 'https://localhost:5984/tiles']) {
        assert.equal(await resolve(undefined, { project: environments({ default: { db } }), data }), db)
      }
      assert.equal(await resolve(undefined, { project: usual, data, env: { COUCHDB_URL: 'http://h:1/x' } }),
        'http://h:1/x')
    } finally {
      await close()
    }
    assert.equal(await resolve(undefined, { project: usual, data }),
      'http://localhost:5984/tiles', 'it does not run any more')
  })

  it('tell which file or variable named them, unless they were typed', async () => {
    folder.write({ 'project/.couchapprc': JSON.stringify(environments({ default: { db: 'http://h/x' } })) })
    const options = { cwd: path.join(folder.dir, 'project'), home: folder.dir, env: {} }
    assert.equal((await findDatabase('http://h/x', options)).namedBy, undefined)
    assert.equal((await findDatabase('default', options)).namedBy, undefined)
    assert.match(String((await findDatabase(undefined, options)).namedBy), /^"default" in .*\.couchapprc$/)
    assert.equal((await findDatabase(undefined, { ...options, env: { COUCHDB_URL: 'http://h/x' } })).namedBy,
      'COUCHDB_URL')
  })

  it('are chosen by their names in .couchapprc', async () => {
    const project =
      environments({ default: { db: 'http://a/x' }, production: { db: 'https://maps.example.org/tiles' } })
    assert.equal(await resolve('production', { project }), 'https://maps.example.org/tiles')
  })

  it('are looked for in the parent folders too, the nearest first', async () => {
    const project = environments({ default: { db: 'http://near/x' } })
    folder.write({ '.couchapprc': JSON.stringify(environments({ default: { db: 'http://far/x' } })) })
    assert.equal(await resolve(undefined, { cwd: 'project/deep/er' }), 'http://far/x')
    assert.equal(await resolve(undefined, { project, cwd: 'project/deep/er' }), 'http://near/x')
  })

  it('of a folder that everybody may write to are ignored', async () => {
    folder.write({ 'all/.couchapprc': JSON.stringify(environments({ default: { db: 'http://thief/x' } })) })
    chmodSync(path.join(folder.dir, 'all'), 0o1777)
    assert.equal(await resolve(undefined, { cwd: 'all/mine' }), null)
    chmodSync(path.join(folder.dir, 'all'), 0o755)
    assert.equal(await resolve(undefined, { cwd: 'all/mine' }), 'http://thief/x')
  })

  it('may be URLs, which are not changed', async () => {
    const project = environments({ default: { db: 'http://a/x' } })
    assert.equal(await resolve('http://u:p@host:5984/maps', { project }), 'http://u:p@host:5984/maps')
  })

  it('are refused when they name only a server, with a database in the message', async () => {
    const server = environments({ default: { db: 'http://host:5984' } })
    for (const [target, options] of /** @type {[string | undefined, any][]} */ ([
      ['http://host:5984', {}], ['http://u:secret@host:5984/', {}],
      [undefined, { env: { COUCHDB_URL: 'http://host:5984' } }], [undefined, { project: server }]
    ])) {
      await assert.rejects(resolve(target, options), error => {
        assert.equal(error.code, 'NO_DATABASE_NAMED')
        assert.match(error.message,
          /^http:\/\/host:5984\/ names a server and no database: .* such as http:\/\/host:5984\/tiles$/)
        return true
      })
    }
  })

  it('may be names of databases on this machine', async () => {
    assert.equal(await resolve('maps'), 'http://127.0.0.1:5984/maps')
    assert.equal(await resolve('prod', { project: environments({ prod: { db: 'maps' } }) }),
      'http://127.0.0.1:5984/maps', 'in .couchapprc too')
    await assert.rejects(resolve('Maps'), { code: 'BAD_DATABASE' })
    await assert.rejects(resolve('constructor.x'), { code: 'BAD_DATABASE' })
  })

  it('are refused without showing a password when they are broken URLs', async () => {
    for (const target of ['admin:secret@host:5984/tiles', 'HTTP//admin:secret@host/tiles',
      'ftp://admin:secret@host/tiles', 'tiles/../x']) {
      await assert.rejects(resolve(target), error => {
        assert.equal(error.code, 'BAD_DATABASE', target)
        assert.ok(!JSON.stringify([error, error.message, error.details]).includes('secret'), error.message)
        return true
      })
    }
  })

  it('are overridden by COUCHDB_URL, and that by a typed name or URL', async () => {
    const project =
      environments({ default: { db: 'http://localhost:5984/maps' }, own: { db: 'http://localhost:5984/own' } })
    const env = { COUCHDB_URL: 'http://other:1/x' }
    assert.equal(await resolve(undefined, { project, user: project, env }), 'http://other:1/x')
    assert.equal(await resolve('own', { project, env }), 'http://localhost:5984/own')
    assert.equal(await resolve('http://h/typed', { project, env }), 'http://h/typed')
  })

  describe('with a name and password in environment variables', () => {
    const [COUCHDB_USER, COUCHDB_PASSWORD] = ['anna', 'hunter2-s3cret']
    const project = environments(
      { default: { db: 'https://maps.example.org/tiles' }, here: {
        db: 'http://127.0.0.1:5984/tiles'
      }, name: { db: 'tiles' } }
    )
    const refused = (target, options) => assert.rejects(resolve(target, { project, ...options }), error => {
      assert.equal(error.code, 'PASSWORD_NOT_SENT', error.stack)
      assert.match(error.message, /https:\/\/maps\.example\.org, which only \S+\.couchapprc names/)
      assert.ok(!JSON.stringify([error.message, error.details]).includes(COUCHDB_PASSWORD))
      return true
    })
    const env = { COUCHDB_USER, COUCHDB_PASSWORD }

    it('do not send the password to a server that only .couchapprc names', async () => {
      await refused(undefined, { env })
      await refused('default', { env: { ...env, COUCHDB_URL: 'https://maps.example.org:444' } })
      await refused('default', { env: { ...env, COUCHDB_URL: 'http://maps.example.org' } })
      await refused('default', { env: { ...env, COUCHDB_URL: 'nonsense' } })
      assert.equal(await resolve('default', { project, env: { COUCHDB_USER } }),
        'https://maps.example.org/tiles', 'a name is no secret')
      assert.equal(await resolve(undefined, { user: project, project: {}, env }),
        'https://maps.example.org/tiles', 'the file at home is his own')
    })

    it('send the password to the server of COUCHDB_URL, or to this machine without that', async () => {
      assert.equal(await resolve(
        'default', { project, env: { ...env, COUCHDB_URL: 'https://u:p@maps.example.org:443/x' } }
      ), 'https://maps.example.org/tiles')
      for (const name of ['here', 'name']) {
        assert.equal(await resolve(name, { project, env }), 'http://127.0.0.1:5984/tiles')
        assert.equal(await resolve(name, { project, env: { ...env, COUCHDB_URL: 'http://localhost:5984' } }),
          'http://127.0.0.1:5984/tiles')
        await assert.rejects(resolve(name, { project, env: { ...env, COUCHDB_URL: 'https://maps.example.org' } }),
          { code: 'PASSWORD_NOT_SENT' })
      }
    })

    it('keep the passwords of the store and of the store to copy from apart', async () => {
      const side = 'TILECOUCH_FROM'
      const from = { TILECOUCH_FROM_USER: 'bob', TILECOUCH_FROM_PASSWORD: COUCHDB_PASSWORD }
      folder.write({ 'project/.couchapprc': JSON.stringify(project) })
      const options = { cwd: path.join(folder.dir, 'project'), home: folder.dir }
      assert.equal(await resolveDatabase('default', { ...options, env, side }), 'https://maps.example.org/tiles')
      assert.equal(await resolveDatabase('default', { ...options, env: from }), 'https://maps.example.org/tiles')
      assert.equal(await resolveDatabase('https://maps.example.org/tiles', { ...options, env: from, side }),
        'https://maps.example.org/tiles', 'typed')
      await assert.rejects(resolveDatabase('default',
        { ...options, env: { ...from, COUCHDB_URL: 'https://maps.example.org' }, side }), { code: 'PASSWORD_NOT_SENT' })
      await assert.rejects(resolveDatabase('here', { ...options, env: from, side }), { code: 'PASSWORD_NOT_SENT' })
    })
  })

  it('are COUCHDB_URL when no file names a database', async () => {
    assert.equal(await resolve(undefined, { env: { COUCHDB_URL: 'http://u:p@h:5984/maps' } }), 'http://u:p@h:5984/maps')
    await assert.rejects(resolve(undefined, { env: { COUCHDB_URL: 'nonsense' } }), { code: 'BAD_DATABASE' })
  })

  it('of the user are in ~/.couchapp.conf with passwords, and those of the project override them', async () => {
    const user = environments({ default: { db: 'http://me:pw@h/mine' }, own: { db: 'http://me:pw@h/own' } })
    assert.equal(await resolve(undefined, { user }), 'http://me:pw@h/mine')
    assert.equal(await resolve('own', { user, project: environments({ default: { db: 'http://h/project' } }) }),
      'http://me:pw@h/own')
    assert.equal(await resolve(undefined, { user, project: environments({ default: { db: 'http://h/project' } }) }),
      'http://h/project')
  })

  it('of the project are refused when any of them has a user name or a password', async () => {
    for (const db of ['http://admin:secret@h/x', 'https://admin@h/x',
      'HTTP://admin:secret@h/x', 'http:///admin:secret@h/x', 'http://:secret@h/x']) {
      await assert.rejects(resolve(undefined, {
        project: environments({ default: { db: 'http://h/x' }, other: { db } })
      }), error => {
        assert.equal(error.code, 'PASSWORD_IN_FILE')
        assert.ok(!error.message.includes('secret'))
        return true
      }, db)
    }
  })

  it('that cannot be read lead to an error with the file, without its content', async () => {
    for (const text of ['{', '', 'null', '[]x', '{"env": {"default": null}}', '{"env": "x"}',
      '{"env": {"default": "http://h/x"}}', '{"env": {"default": {"db": 5}}}', '{"env": {"default": {}}}']) {
      await assert.rejects(resolve(undefined, { project: text }), error => {
        assert.equal(error.code, 'CONFIG_INVALID', `${text}: ${error.stack}`)
        assert.match(error.message, /\.couchapprc/)
        return true
      })
    }
    await assert.rejects(resolve(undefined, {
      project: {}, user: '{"env": {"own": {"db": "http://me:pw@h/x", "password": hunter2}}}'
    }), error => {
      assert.doesNotMatch(JSON.stringify([error.message, error.details]), /hunter2/)
      return error.code === 'CONFIG_INVALID'
    })
    rmSync(path.join(folder.dir, 'home/.couchapp.conf'))
    mkdirSync(path.join(folder.dir, 'home/.couchapp.conf'), { recursive: true })
    await assert.rejects(resolve(undefined, { project: {} }), { code: 'CONFIG_INVALID' })
  })
})
