// Tests that a name and password of the environment go only to the server that the operator named: not to a server that
// a file of the folder names, and not to the target of a redirect.
import assert from 'node:assert/strict'
import { Store, openSource } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { resolveOptions } from '../../server/gateway/config.js'
import { startGateway } from '../../server/gateway/index.js'
import { createLog } from '../../server/gateway/log.js'
import { allCommands, runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { startServer } from '../support/server.js'

const SECRET = 'hunter2-s3cret'
const VARIABLES = ['COUCHDB_URL', 'COUCHDB_USER', 'COUCHDB_PASSWORD',
  'COUCHDB_PASSWORD_FILE', 'TILECOUCH_FROM_USER', 'TILECOUCH_FROM_PASSWORD', 'TILECOUCH_DB']

/**
 * Starts a server that records the address and credentials of each request.
 * @param {(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => void} [answer]
 */
async function listen (answer = (req, res) => res.writeHead(404, { 'content-type': 'application/json' })
  .end('{"error":"not_found","reason":"Database does not exist."}')) {
  const log = []
  const { url, close } = await startServer((req, res) => {
    log.push({ url: req.url ?? '', authorization: req.headers.authorization })
    req.resume()
    answer(req, res)
  })
  return { url, seen: log, passwords: () => log.filter(({ authorization }) => authorization !== undefined), close }
}

describe('a name and password of the environment', function () {
  this.timeout(60000)
  const folder = useFolder()
  const before = { cwd: '', env: {} }
  let thief, server
  beforeEach(async () => {
    [thief, server] = [await listen(), await listen()]
    before.cwd = process.cwd()
    before.env = Object.fromEntries(VARIABLES.map(name => [name, process.env[name]]))
    for (const name of VARIABLES) delete process.env[name]
    const db = `${thief.url}/tiles`
    folder.write({ '.couchapprc': JSON.stringify({ env: { default: { db }, tiles: { db } } }) })
    process.chdir(folder.dir)
  })
  afterEach(async () => {
    process.chdir(before.cwd)
    for (const [name, value] of Object.entries(before.env)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    await thief.close()
    await server.close()
  })

  const run = args => runCommand(args).then(({ out, err }) => out + err)

  it('is sent to COUCHDB_URL, not to the default that a file of the folder names', async () => {
    Object.assign(process.env, { COUCHDB_URL: `${server.url}/tiles`, COUCHDB_USER: 'anna', COUCHDB_PASSWORD: SECRET })
    assert.match(await run(['info']), /DATABASE_NOT_FOUND/)
    assert.ok(server.passwords().length)
    assert.deepEqual(thief.seen, [])
  })

  it('is sent by no command to a server that only a file of the folder names', async () => {
    const from = { TILECOUCH_FROM_USER: 'bob', TILECOUCH_FROM_PASSWORD: SECRET, TILECOUCH_DB: 'default' }
    Object.assign(process.env,
      { COUCHDB_URL: `${server.url}/tiles`, COUCHDB_USER: 'anna', COUCHDB_PASSWORD: SECRET, ...from })
    const commands = (await allCommands()).filter(command => command.name() !== 'token')
    assert.ok(commands.length > 15)
    const quiet = command => command.name() === 'serve' ? ['--set', 'logLevel=silent'] : []
    const refused = new Set()
    for (const command of commands) {
      const name = command.name()
      const argumentCount = command.registeredArguments.filter(({ required }) => required).length
      const optional = ['--db', '--from'].filter(flag => command.options.some(({ long }) => long === flag))
      for (const args of [Array(argumentCount).fill('default'), Array(argumentCount).fill('osm'),
        ['osm', 'osm', 'default'].slice(-argumentCount || 3)]) {
        const text = await run([name, ...args, ...quiet(command), ...optional.flatMap(flag => [flag, 'default'])])
        if (/PASSWORD_NOT_SENT/.test(text)) refused.add(name)
        assert.ok(!text.includes(SECRET), text)
      }
    }
    for (const line of ['mirror default OWN', 'mirror OWN default', 'serve --from default',
      'serve --from OWN --db default', 'serve', 'up --db tiles', 'load default --source-layer osm --layer osm',
      'load default --id-template {z}-{x}-{y} --layer osm', `load ${thief.url}/tiles --layer osm`,
      'copy osm --from default', 'check --fix --from default']) {
      const args = line.replace('OWN', `${server.url}/tiles`).split(' ')
      if (/PASSWORD_NOT_SENT/.test(await run(args))) refused.add(args.slice(0, 2).join(' '))
    }
    assert.deepEqual(thief.passwords(), [])
    for (const name of ['info', 'push', 'serve', 'up', 'doctor', 'backup', 'mirror default', 'serve --from']) {
      assert.ok(refused.has(name), `${name}: ${[...refused]}`)
    }
  })

  it('is not sent to the target of a redirect', async () => {
    const sender = await listen((req, res) => res.writeHead(req.method === 'GET' ? 302 : 307,
      { location: `${thief.url}${req.url}`, 'content-type': 'application/json' }).end('{}'))
    Object.assign(process.env, { COUCHDB_URL: `${sender.url}/tiles`, COUCHDB_USER: 'anna', COUCHDB_PASSWORD: SECRET })
    try {
      const couch = new Couch(`${sender.url}/tiles`, { retries: 0 })
      const ways = [
        () => couch.request({}), () => couch.request({ raw: true }),
        () => couch.request({ method: 'POST', path: '_bulk_get', body: { docs: [] } }),
        () => couch.bulk([]), () => couch.docs(['osm:0:0:0']), () => couch.queries('_all_docs', [{}]),
        () => Store.open(couch.url, { retries: 0 }),
        () => openSource(`${couch.url}`, { from: { layer: 'osm' }, home: couch.url }),
        () => run(['info']), () => run(['doctor']), () => run(['access'])
      ]
      for (const way of ways) await way().catch(() => {})
      const gateway = await startGateway(resolveOptions({ flags: { db: couch.url, port: 0, host: '127.0.0.1' } }),
        { log: createLog({ level: 'silent', secrets: [] }) })
      try {
        for (const path of ['db/', 'db/osm:0:0:0', 'db/_all_docs', 'db/_changes', 'osm/0/0/0.png', 'osm.json']) {
          await fetch(new URL(path, gateway.url), { redirect: 'manual' }).then(answer => answer.body?.cancel())
        }
      } finally {
        await gateway.close()
      }
      assert.ok(sender.passwords().length > ways.length)
      assert.deepEqual(thief.passwords(), [])
    } finally {
      await sender.close()
    }
  })

  it('causes one warning when it is sent unencrypted to another host', async () => {
    Object.assign(process.env, { COUCHDB_USER: 'anna', COUCHDB_PASSWORD: SECRET })
    const warning = /The password for http:\/\/no-such-host\.invalid:5984 is sent unencrypted/g
    const text = await run(['info', '--db', 'http://no-such-host.invalid:5984/tiles'])
    assert.equal(text.match(warning)?.length, 1, text)
    assert.doesNotMatch(await run(['info', '--db', `${server.url}/tiles`]), /unencrypted/)
    delete process.env.COUCHDB_USER
    assert.doesNotMatch(await run(['info', '--db', 'http://no-such-host.invalid:5984/tiles']), /unencrypted/)
  })
})
