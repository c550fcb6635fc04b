// Databases in .couchapprc and in ~/.couchapp.conf, and their names and passwords.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { findDatabase, resolveDatabase } from '../../loader/couchapp/environments.js'
import { useDataFolder } from '../../loader/store/secrets.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { useFolder } from '../support/folder.js'

describe('environments', () => {
  const folder = useFolder()
  // Tests of commands in this process set it. A store that runs in this clone would then give its password.
  before(() => useDataFolder())

  /** Resolves a target as in a folder, with its own home and environment. */
  const resolve = (target, { project, user, env = {}, cwd = 'project', data } = {}) => {
    mkdirSync(folder.path(cwd), { recursive: true })
    if (project !== undefined) {
      folder.write({ 'project/.couchapprc': typeof project === 'string' ? project : JSON.stringify(project) })
    }
    if (user !== undefined) {
      folder.write({ 'home/.couchapp.conf': typeof user === 'string' ? user : JSON.stringify(user) })
    }
    return resolveDatabase(target, { cwd: folder.path(cwd), home: folder.path('home'), env, data })
  }
  const environments = env => ({ env })
  const byDefault = db => environments({ default: { db } })

  const [projectFile, userFile] = [byDefault('http://localhost:5984/maps'), byDefault('http://me:pw@h/mine')]
  const user = environments({ ...userFile.env, own: { db: 'http://me:pw@h/own' } })
  const namedFile = environments({ ...projectFile.env, own: { db: 'http://localhost:5984/own' }, prod: { db: 'maps' } })
  const COUCHDB_URL = 'http://u:p@h:5984/maps'
  /**
   * A typed target, the files and the environment, and the resulting database.
   * @type {Record<string, [any, any, any][]>}
   */
  const resolvedCases = {
    'are the embedded store when nothing names a database': [[undefined, {}, null], [undefined, { project: {} }, null]],
    'are the default of .couchapprc': [
      [undefined, { project: projectFile }, 'http://localhost:5984/maps'],
      [undefined, { project: projectFile, env: { COUCHDB_URL: '' } }, 'http://localhost:5984/maps']
    ],
    'are chosen by their names in .couchapprc': [['own', { project: namedFile }, 'http://localhost:5984/own']],
    'may be URLs, which are not changed': [[COUCHDB_URL, { project: projectFile }, COUCHDB_URL]],
    'may be names of databases on this machine, in .couchapprc too': [
      ['maps', {}, 'http://127.0.0.1:5984/maps'], ['prod', { project: namedFile }, 'http://127.0.0.1:5984/maps']
    ],
    'are COUCHDB_URL when no file names a database': [[undefined, { env: { COUCHDB_URL } }, COUCHDB_URL]],
    'are overridden by COUCHDB_URL, and that by a typed name or URL': [
      [undefined, { project: namedFile, user: namedFile, env: { COUCHDB_URL } }, COUCHDB_URL],
      ['own', { project: namedFile, env: { COUCHDB_URL } }, 'http://localhost:5984/own'],
      ['http://h/typed', { project: namedFile, env: { COUCHDB_URL } }, 'http://h/typed']
    ],
    'of the user are in ~/.couchapp.conf with passwords, and those of the project override them': [
      [undefined, { user }, 'http://me:pw@h/mine'],
      ['own', { user, project: projectFile }, 'http://me:pw@h/own'],
      [undefined, { user, project: projectFile }, 'http://localhost:5984/maps']
    ]
  }
  for (const [title, cases] of Object.entries(resolvedCases)) {
    it(title, async () => {
      for (const [target, options, database] of cases) assert.equal(await resolve(target, options), database)
    })
  }

  const onlyServer = /^http:\/\/host:5984\/ names a server and no database: .* such as http:\/\/host:5984\/tiles$/
  /** @type {Record<string, [string, RegExp, [any, any?][]]>} */
  const refusedCases = {
    'when they name only a server, with a database in the message': ['NO_DATABASE_NAMED', onlyServer, [
      ['http://host:5984'], ['http://u:secret@host:5984/'], [undefined, { env: { COUCHDB_URL: 'http://host:5984' } }],
      [undefined, { project: byDefault('http://host:5984') }]
    ]],
    'when they are no name of a database': ['BAD_DATABASE', /./, [
      ['Maps'], ['constructor.x', { project: namedFile }], [undefined, { env: { COUCHDB_URL: 'nonsense' } }]
    ]],
    'without showing a password when they are broken URLs': ['BAD_DATABASE', /./, [
      ['admin:secret@host:5984/tiles'], ['HTTP//admin:secret@host/tiles'], ['ftp://admin:secret@host/tiles'],
      ['tiles/../x']
    ]],
    'in .couchapprc when any of them has a user name or a password': ['PASSWORD_IN_FILE', /./, [
      'http://admin:secret@h/x', 'https://admin@h/x', 'HTTP://admin:secret@h/x', 'http:///admin:secret@h/x',
      'http://:secret@h/x'
    ].map(db => [undefined, { project: environments({ ...projectFile.env, other: { db } }) }])],
    'with the name of the file when it cannot be read': ['CONFIG_INVALID', /\.couchapprc/, [
      '{', '', 'null', '[]x', '{"env": {"default": null}}', '{"env": "x"}', '{"env": {"default": "http://h/x"}}',
      '{"env": {"default": {"db": 5}}}', '{"env": {"default": {}}}'
    ].map(project => [undefined, { project }])]
  }
  for (const [when, [code, message, cases]] of Object.entries(refusedCases)) {
    it(`are refused ${when}`, async () => {
      for (const [target, options] of cases) {
        await assert.rejects(resolve(target, options), error => {
          assert.equal(error.code, code, `${target} ${JSON.stringify(options)}: ${error.stack}`)
          assert.match(error.message, message)
          assert.doesNotMatch(JSON.stringify([error, error.message, error.details]), /secret/)
          return true
        })
      }
    })
  }

  it('are the running store of the folder when the default is its usual address', async () => {
    const data = folder.path('data')
    const { adminUrl, close } = await startEmbedded({ dir: data })
    const usual = byDefault('http://localhost:5984/tiles')
    try {
      assert.equal(await resolve(undefined, { project: usual, data }), `${adminUrl}/tiles`)
      assert.equal(await resolve('default', { project: usual, data }), 'http://localhost:5984/tiles', 'it was typed')
      for (const db of ['http://localhost:5984/maps', 'http://localhost:5985/tiles',
        'http://maps.example.org:5984/tiles', 'https://localhost:5984/tiles']) {
        assert.equal(await resolve(undefined, { project: byDefault(db), data }), db)
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
    folder.write({ 'project/.couchapprc': JSON.stringify(byDefault('http://h/x')) })
    const options = { cwd: folder.path('project'), home: folder.dir, env: {} }
    assert.equal((await findDatabase('http://h/x', options)).namedBy, undefined)
    assert.equal((await findDatabase('default', options)).namedBy, undefined)
    assert.match(String((await findDatabase(undefined, options)).namedBy), /^"default" in .*\.couchapprc$/)
    assert.equal((await findDatabase(undefined, { ...options, env: { COUCHDB_URL: 'http://h/x' } })).namedBy,
      'COUCHDB_URL')
  })

  it('are looked for in the parent folders too, the nearest first', async () => {
    const project = byDefault('http://near/x')
    folder.write({ '.couchapprc': JSON.stringify(byDefault('http://far/x')) })
    assert.equal(await resolve(undefined, { cwd: 'project/deep/er' }), 'http://far/x')
    assert.equal(await resolve(undefined, { project, cwd: 'project/deep/er' }), 'http://near/x')
  })

  it('of a folder that everybody may write to are ignored', async () => {
    folder.write({ 'all/.couchapprc': JSON.stringify(byDefault('http://thief/x')) })
    chmodSync(folder.path('all'), 0o1777)
    assert.equal(await resolve(undefined, { cwd: 'all/mine' }), null)
    chmodSync(folder.path('all'), 0o755)
    assert.equal(await resolve(undefined, { cwd: 'all/mine' }), 'http://thief/x')
  })

  describe('with a name and password in environment variables', () => {
    const [COUCHDB_USER, COUCHDB_PASSWORD] = ['anna', 'hunter2-s3cret']
    const project = environments({
      default: { db: 'https://maps.example.org/tiles' },
      here: { db: 'http://127.0.0.1:5984/tiles' },
      name: { db: 'tiles' }
    })
    const assertKept = (target, options) => assert.rejects(resolve(target, { project, ...options }), error => {
      assert.equal(error.code, 'PASSWORD_NOT_SENT', error.stack)
      assert.match(error.message, /https:\/\/maps\.example\.org, which only \S+\.couchapprc names/)
      assert.ok(!JSON.stringify([error.message, error.details]).includes(COUCHDB_PASSWORD))
      return true
    })
    const env = { COUCHDB_USER, COUCHDB_PASSWORD }

    it('do not send the password to a server that only .couchapprc names', async () => {
      await assertKept(undefined, { env })
      await assertKept('default', { env: { ...env, COUCHDB_URL: 'https://maps.example.org:444' } })
      await assertKept('default', { env: { ...env, COUCHDB_URL: 'http://maps.example.org' } })
      await assertKept('default', { env: { ...env, COUCHDB_URL: 'nonsense' } })
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
      const options = { cwd: folder.path('project'), home: folder.dir }
      assert.equal(await resolveDatabase('default', { ...options, env, side }), 'https://maps.example.org/tiles')
      assert.equal(await resolveDatabase('default', { ...options, env: from }), 'https://maps.example.org/tiles')
      assert.equal(await resolveDatabase('https://maps.example.org/tiles', { ...options, env: from, side }),
        'https://maps.example.org/tiles', 'typed')
      await assert.rejects(resolveDatabase('default',
        { ...options, env: { ...from, COUCHDB_URL: 'https://maps.example.org' }, side }), { code: 'PASSWORD_NOT_SENT' })
      await assert.rejects(resolveDatabase('here', { ...options, env: from, side }), { code: 'PASSWORD_NOT_SENT' })
    })
  })

  it('of the user that cannot be read lead to an error without the content of the file', async () => {
    await assert.rejects(resolve(undefined, {
      project: {}, user: '{"env": {"own": {"db": "http://me:pw@h/x", "password": hunter2}}}'
    }), error => {
      assert.doesNotMatch(JSON.stringify([error.message, error.details]), /hunter2/)
      return error.code === 'CONFIG_INVALID'
    })
    rmSync(folder.path('home/.couchapp.conf'))
    mkdirSync(folder.path('home/.couchapp.conf'), { recursive: true })
    await assert.rejects(resolve(undefined, { project: {} }), { code: 'CONFIG_INVALID' })
  })
})
