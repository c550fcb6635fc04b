// Tests how commands get passwords, and that no output, log, process title or file of a command contains one.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '../../bench/wait.js'
import { Output } from '../../loader/cli/output.js'
import { readHidden } from '../../loader/cli/passwords.js'
import {
  parseDatabaseUrl, passwordOf, readableSecretFiles, secretOf, usePrompt, withPassword
} from '../../loader/store/secrets.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { withoutSecrets } from '../../server/title.js'
import { allCommands, runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { startCommand } from '../support/command.js'
import { png } from '../support/tiles.js'

const SECRET = 'hunter2-s3cret'
const root = fileURLToPath(new URL('../..', import.meta.url))

/** @param {string[]} args @param {Record<string, string>} [env] */
function run (args, env = {}) {
  const { child, ended } = startCommand(args, { env })
  return { child, ended: ended.then(({ code, out, err }) => ({ code, text: out + err })) }
}

describe('passwords', function () {
  this.timeout(60000)
  const folder = useFolder()
  let server, serverUrl
  before(async () => {
    server =
      await startEmbedded({ dir: mkdtempSync(path.join(tmpdir(), 'tilecouch-secrets-')), admins: { root: SECRET } })
    serverUrl = new URL(server.url)
  })
  after(async () => {
    await server.close()
    await rm(server.dir, { recursive: true, force: true })
  })
  const address =
    (password, db = 'tiles') => `http://root${password === undefined ? '' : `:${password}`}@${serverUrl.host}/${db}`

  it('are read from a file that an option or the environment names', async () => {
    const file = folder.path('password')
    await writeFile(file, `${SECRET}\n`, { mode: 0o600 })
    for (const [args, env] of [[['--db', address(), '--password-file', file]],
      [['--db', address()], { COUCHDB_PASSWORD_FILE: file }],
      [['--db', `http://${serverUrl.host}/tiles`], { COUCHDB_USER: 'root', COUCHDB_PASSWORD_FILE: file }]]) {
      assert.match((await run(['info', ...args], env).ended).text, /DATABASE_NOT_FOUND/, 'it got in')
    }
    assert.equal(passwordOf('COUCHDB', 'other', { COUCHDB_USER: 'root', COUCHDB_PASSWORD_FILE: file }),
      undefined, 'another’s')
  })

  it('are refused from a file that others may write, and a file that others may read is reported', async () => {
    const file = folder.path('password')
    const env = { COUCHDB_PASSWORD_FILE: file }
    const refused = (text, why) => assert.throws(() => secretOf('COUCHDB_PASSWORD', env), error => {
      assert.deepEqual([error.code, why.test(error.message), error.message.includes(SECRET)],
        ['CONFIG_INVALID', true, false], error.message)
      return true
    }, text)
    refused('missing', /ENOENT/)
    for (const [text, why] of [['', /one line/], ['\n', /one line/],
      [`${SECRET}\nmore`, /one line/], ['x'.repeat(5000), /not a file with one password/]]) {
      await writeFile(file, text, { mode: 0o600 })
      refused(text, why)
    }
    await writeFile(file, `${SECRET}\r\n`)
    await chmod(file, 0o600)
    assert.deepEqual([secretOf('COUCHDB_PASSWORD', env), readableSecretFiles(env)], [SECRET, []])
    await chmod(file, 0o644)
    assert.deepEqual([secretOf('COUCHDB_PASSWORD', env), readableSecretFiles(env)], [SECRET, [file]])
    await chmod(file, 0o602)
    refused('written by others', /everybody on this machine may write it/)
    await chmod(file, 0o600)
    try {
      await chmod(folder.dir, 0o777)
      refused('replaced by others', /may replace it/)
      await chmod(folder.dir, 0o1777)
      assert.equal(secretOf('COUCHDB_PASSWORD', env), SECRET)
    } finally {
      await chmod(folder.dir, 0o700)
    }
    assert.equal(secretOf('COUCHDB_PASSWORD', { ...env, COUCHDB_PASSWORD: 'said' }), 'said')
  })

  it('are typed in without echo, once for each name and server', async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true, modes: [], setRawMode (on) { stdin.modes.push(on) } })
    const stderr = { text: '', write (text) { stderr.text += text } }
    const type = text => stdin.write(text)
    let answer = readHidden('Password: ', { stdin, stderr })
    for (const key of ['wrong\u0015', 'hx', '\u007f', 'unter2-s3cret', '\r']) type(key)
    assert.equal(await answer, SECRET)
    assert.deepEqual([stderr.text, stdin.modes], ['Password: \n', [true, false]])
    answer = readHidden('', { stdin, stderr })
    type('abc\u0003')
    await assert.rejects(answer, { code: 'ABORTED' })

    let questions = 0
    usePrompt(async (who, where) => { questions++; return `${who}@${where}/ü` })
    try {
      const emptyEnv = { PATH: '' }
      assert.equal(parseDatabaseUrl(await withPassword('http://a%40b@h:1/x', emptyEnv), { ambient: false }).authorised,
        'http://a%40b:a%40b%40h%3A1%2F%C3%BC@h:1')
      await withPassword('http://a%40b@h:1/y', emptyEnv)
      assert.equal(questions, 1)
      for (const [url, env] of [['http://h/x', emptyEnv], ['http://a:b@h/x', emptyEnv], ['tiles', emptyEnv],
        ['http://c@h/x', { COUCHDB_PASSWORD: 'p' }],
        ['http://c@h/x', { TILECOUCH_FROM_USER: 'c', TILECOUCH_FROM_PASSWORD: 'p' }]]) {
        assert.equal(await withPassword(url, env), url)
      }
      assert.equal(questions, 1)
      await withPassword('http://h/x', { COUCHDB_USER: 'c' })
      await withPassword('http://d@h/x', { COUCHDB_USER: 'c', COUCHDB_PASSWORD: 'p' })
      assert.equal(questions, 3, 'the password of another is not this one')
    } finally {
      usePrompt(undefined)
    }
  })

  it('are in no output of any command that fails', async () => {
    const commands = (await allCommands()).filter(command => !['up', 'serve'].includes(command.name()))
    assert.ok(commands.length > 15)
    const urls = [address(SECRET, 'no-such'), address(`${SECRET}x`), address(SECRET, 'Bad')]
    const before = process.env.TILECOUCH_DEBUG
    process.env.TILECOUCH_DEBUG = '1'
    try {
      await Promise.all(commands.map(async command => {
        const name = command.name()
        const argumentCount = command.registeredArguments.filter(({ required }) => required).length
        for (const [number, url] of urls.entries()) {
          const args = Array(argumentCount).fill(number % 2 ? 'osm' : url)
          const where = name === 'mirror' ? [url] : ['--db', url]
          const openEmbedded = async () => { throw new Error(`none at ${url}`) }
          const { out, err } =
            await runCommand([name, ...args, ...where, ...(number % 2 ? ['--json'] : [])], { openEmbedded })
          assert.ok(out + err, `${name} printed nothing`)
          assert.ok(!(out + err).includes(SECRET), `${name}: ${out}${err}`)
        }
      }))
    } finally {
      if (before === undefined) delete process.env.TILECOUCH_DEBUG
      else process.env.TILECOUCH_DEBUG = before
    }
  })

  it('are removed from the process title before any other module is imported', async function () {
    if (process.platform !== 'linux') return this.skip()
    const commandLines = [['info', '--db', address(SECRET)], ['up', '--db', address(SECRET)],
      ['load', `https://tiles.example.org/{z}/{x}/{y}.png?key=${SECRET}`, '--layer', 'osm'],
      ['serve', '--set', `upstreamHeaders={"tiles.example.org":{"Authorization":"Bearer ${SECRET}"}}`],
      ['serve', `--set=accessKeys=a:${SECRET}`],
      ['info', '--db', address(`my ${SECRET}`)], ['info', `--db=${address(`${SECRET} mine`)}`],
      ['load', `https://tiles.example.org/{z}/{x}/{y}.png?key=a ${SECRET}`]]
    for (const words of commandLines) assert.ok(!withoutSecrets(words).join(' ').includes(SECRET), words.join(' '))
    assert.deepEqual(withoutSecrets(['info', '--db', 'http://h/x']), ['info', '--db', 'http://h/x'])
    // an import beside the one of title.js would be read before title.js runs
    const imports = name => [...readFileSync(path.join(root, name), 'utf8').matchAll(/^import .*?'([^']+)'/gm)]
      .map(([, from]) => from)
    assert.deepEqual(['bin', 'node-version', 'main', 'title'].map(name => imports(`server/${name}.js`)),
      [['./node-version.js'], ['node:fs'], ['./title.js'], ['../core/errors.js']])
    assert.deepEqual(imports('core/errors.js'), [])
  })

  it('are neither in the process titles of a server and its workers nor in their logs', async function () {
    if (process.platform !== 'linux') return this.skip()
    const { child, ended } = run(['serve', '--db', address(SECRET),
      '--port', '0', '--workers', '2', '--set', 'public=true', '--set', 'logLevel=trace'], { TILECOUCH_DEBUG: '1' })
    const line = (pid = child.pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    try {
      await until(() => child.exitCode !== null || /^tilecouch serve --db http:\/\/127/.test(line()),
        { timeout: 20000, what: 'the title of the process' })
      if (child.exitCode === null) assert.ok(!line().includes(SECRET))
      const workers = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
        .trim().split(' ').filter(Boolean)
      await until(() => child.exitCode !== null || workers().length > 0, { timeout: 20000, what: 'workers' })
      for (const pid of workers()) assert.ok(!line(+pid).includes(SECRET))
    } finally {
      child.kill('SIGTERM')
    }
    assert.ok(!(await ended).text.includes(SECRET))
  })

  it('are in no URL of an example in documents and help texts', async () => {
    const listIn = (where, names) => readdirSync(path.join(root, where))
      .filter(name => names.test(name)).map(name => `${where}/${name}`)
    const pages = ['README.md', 'SECURITY.md', ...listIn('docs', /\.md$/),
      ...listIn('docs/tasks', /\.md$/), ...listIn('deploy', /\.(md|json|yaml|env|service|timer)$/), 'deploy/Dockerfile']
    const texts = pages.map(page => [page, readFileSync(path.join(root, page), 'utf8')])
    for (const args of [[], ...(await allCommands()).map(command => [command.name()])]) {
      const { out } = await runCommand([...args, '--help'])
      texts.push([`${args} --help`, out])
    }
    for (const [page, text] of texts) {
      for (const [credentials] of text.matchAll(/https?:\/\/[^\s/@:]+:[^\s/@]+@/g)) {
        assert.equal(`${page}: ${credentials}`, 'docs/mapproxy.md: http://mapproxy:PASSWORD@',
          'a file of MapProxy, which knows no other way')
      }
      assert.doesNotMatch(text, /curl .*"password"/, page)
    }
  })

  const streams = () => [1, 2].map(() => ({ text: '', write (text) { this.text += text } }))

  it('and all other texts are printed without control characters', () => {
    const [stdout, stderr] = streams()
    const output = new Output({ json: false, stdout, stderr })
    output.result({}, ['a title\u001b]0;hurt\u0007 and \u009b31m red\r', 'a\ttable'])
    output.line('\u001b[2J')
    output.note('\u0000')
    output.error(Object.assign(new Error('bad \u001b[31m'), { code: 'X' }))
    assert.doesNotMatch(stdout.text + stderr.text, /[^\P{Cc}\n\t]/u)
    assert.match(stdout.text, /a title.\]0;hurt. and .31m red.\na\ttable\n/u)
  })

  it('and all other texts are printed without bidirectional controls, and escaped in JSON', () => {
    const [stdout, stderr] = streams()
    const value = { title: 'a\u202egnp.exe \u2066b\u2069 \u009b31m' }
    for (const json of [false, true]) {
      const output = new Output({ json, stdout, stderr })
      output.result(value, [value.title])
      output.event(value)
      output.line(value.title)
      output.note(value.title)
      output.drawBar(value.title)
      output.error(Object.assign(new Error(value.title), { code: 'X', advice: value.title, toJSON: () => value }))
    }
    assert.doesNotMatch(stdout.text + stderr.text, /\p{Bidi_Control}|\u009b/u)
    assert.deepEqual(JSON.parse(stdout.text.slice(stdout.text.indexOf('{\n'), stdout.text.indexOf('\n}') + 2)), value)
  })
})

describe('the files and output of commands', function () {
  this.timeout(120000)
  const folder = useFolder()
  let server
  beforeEach(async () => {
    server = await startEmbedded({ dir: folder.path('data'), admins: { root: SECRET } })
  })
  afterEach(() => server?.close())

  async function runQuietly (args) {
    const { code, out, err } = await runCommand(args)
    assert.ok(!(out + err).includes(SECRET), out + err)
    return { code, text: out + err }
  }

  it('contain no password, and a backup is readable only by its owner', async () => {
    const { host } = new URL(server.url)
    const url = db => `http://root:${SECRET}@${host}/${db}`
    folder.write({ 'tiles/1/0/0.png': png(1), 'tiles/1/1/0.png': png(2) })
    const commands = [
      ['load', folder.path('tiles'), '--layer', 'osm', '--time', '2024-01-01', '--db', url('one')],
      ['load', url('one'), '--source-layer', 'osm', '--layer', 'copied', '--time', '2024-02-01', '--db', url('two')],
      ['mirror', url('one'), url('two')],
      ['copy', 'osm', 'again', '--from', url('one'), '--db', url('two')],
      ['backup', folder.path('all.tcb'), '--db', url('two')],
      ['restore', folder.path('all.tcb'), '--yes', '--db', url('three')],
      ['export', 'osm', folder.path('out.mbtiles'), '--db', url('two')],
      ['export', 'osm', folder.path('out'), '--db', url('two')],
      ['export', 'osm', folder.path('trees'), '--tree', '--db', url('two')],
      ['diff', 'osm', 'copied', '--geojson', folder.path('diff.json'), '--db', url('two')],
      ['check', '--report', folder.path('found.jsonl'), '--db', url('two')],
      ['doctor', '--metrics', folder.path('doctor.prom'), '--db', url('two')],
      ['check', 'osm', '--db', url('two')]
    ]
    for (const args of commands) {
      const { code, text } = await runQuietly(args)
      assert.ok(code === 0 || ['doctor', 'check', 'diff'].includes(args[0]), `${args[0]}: ${text}`)
    }
    const files = readdirSync(folder.dir, { recursive: true }).map(name => folder.path(String(name)))
      .filter(name => statSync(name).isFile())
    assert.ok(files.length > 20, String(files.length))
    for (const file of files) assert.ok(!readFileSync(file).includes(SECRET), file)
    assert.equal(statSync(folder.path('all.tcb')).mode & 0o077, 0, 'a backup is for its owner')
    for (const faultyUrl of [`http://root:${SECRET} x@h/tiles`, `http://root:${SECRET}"'@h/tiles`,
      `http:root:${SECRET}@h/tiles`, `root:${SECRET}@h/tiles`]) await runQuietly(['info', '--db', faultyUrl])
  })
})
