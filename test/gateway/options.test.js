// Tests of the options of the gateway: the table, the command line, the environment and the configuration file.
import assert from 'node:assert/strict'
import { chmodSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadOptions, resolveOptions } from '../../server/gateway/config.js'
import { serveOptions } from '../../server/edge/options.js'
import { longFlag, options } from '../../server/gateway/options.js'
import { useFolder } from '../support/folder.js'
import { commandNamed, runCommand } from '../support/cli.js'

const optionsByName = Object.fromEntries(options.map(option => [option.name, option]))
const defaults = Object.fromEntries(options.map(({ name, default: value }) => [name, value]))

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = file => readFileSync(path.join(root, file), 'utf8')

/** Source files of the gateway without comments, except the table of options and the code that resolves it. */
const sources = readdirSync(path.join(root, 'server/gateway'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.js') && !['options.js', 'config.js'].includes(name))
  .map(name => [name, read(`server/gateway/${name}`).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')])

/** Options that have a flag. Other users of the machine can read the command line. */
const commandLineOptions = serveOptions.filter(({ flags }) => flags)

describe('the options of the gateway', () => {
  it('are explained by --help, each with its default', async () => {
    const { code, out } = await runCommand(['serve', '--help'])
    assert.equal(code, 0)
    const help = out.replace(/\s+/g, ' ')
    for (const { flags, shown, type } of commandLineOptions) {
      assert.ok(help.includes(` ${flags} `), flags)
      if (type !== 'boolean' && shown) assert.match(help, new RegExp(`default: [^)]*${shown}\\)`), flags)
    }
    const listedFlags = [...out.matchAll(/^ +(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag)
    assert.deepEqual(listedFlags.filter(flag => !['--json', '--help', '--password-file', '--set'].includes(flag)),
      commandLineOptions.map(longFlag))
    assert.ok(commandLineOptions.length <= 20, 'the others are set by --set, the environment and the file')
  })

  it('come from the command line only when given there; every switch has an opposite', async () => {
    const parse = async (...args) => {
      const command = await commandNamed('serve')
      command.parseOptions(args)
      return command.opts()
    }
    assert.deepEqual(await parse(), {})
    assert.deepEqual(await parse('-p', '81', '--ops-port', '82', '--set', 'dbAccess=no', '--set', 'maxAge=1h'),
      { port: '81', opsPort: '82', set: ['dbAccess=no', 'maxAge=1h'] })
    for (const { name } of options.filter(({ type, flags }) => type === 'boolean' && flags)) {
      const flag = longFlag(optionsByName[name]).replace('--no-', '--')
      assert.deepEqual(await parse(flag), { [name]: true })
      assert.deepEqual(await parse(flag.replace('--', '--no-')), { [name]: false })
    }
  })

  it('end the command with 1 when a value is wrong, and with 2 when an option is unknown', async () => {
    const { code, err } = await runCommand(['serve', '--memory', 'much'])
    assert.equal(code, 1)
    assert.match(err, /bad value "much" for --memory: it takes a size such as 256MB/)
    assert.equal((await runCommand(['serve', '--memroy', '1'])).code, 2)
  })

  it('are all used by the code', () => {
    const code =
      [...sources.map(([, text]) => text), read('server/serve.js'), read('server/gateway/config.js')].join('\n')
    for (const { name } of options) assert.match(code, new RegExp(`\\b${name}\\b`), name)
  })

  it('include every option that the gateway reads', () => {
    // these files read options of the gateway; other parts, such as the listener, have their own options
    const whole = /^(index|dispatch|tiles\/(index|refresher|upstreams)|workers\/.*|routes\/.*|wmts\/.*)\.js$/
    for (const [file, text] of sources.filter(([name]) => whole.test(name))) {
      for (const [, name] of text.matchAll(/\boptions\.(\w+)\b/g)) {
        assert.ok(Object.hasOwn(optionsByName, name), `${file} reads options.${name}`)
      }
    }
  })

  it('show defaults in the help that equal the real defaults', () => {
    for (const { name, shown, type } of options) {
      if (shown) {
        assert.deepEqual(resolveOptions({ flags: { [name]: type === 'boolean' ? shown === 'true' : shown } })[name],
          defaults[name], name)
      }
    }
  })
})

describe('the configuration of the gateway', () => {
  const folder = useFolder()
  const assertRefused = (input, code, ...texts) => assert.throws(() => resolveOptions(input), error => {
    assert.equal(error.code, code)
    for (const text of texts) assert.ok(error.message.includes(text), `${error.message} says ${text}`)
    return true
  })

  it('is the defaults when nothing is set', () => {
    assert.deepEqual(resolveOptions(), defaults)
  })

  it('prefers the command line, then the environment, then the file, then the defaults', () => {
    const file = { port: 1, memory: '1MB', maxAge: '1m' }
    const env = { TILECOUCH_PORT: '2', TILECOUCH_MEMORY: '2MB' }
    const { port, memory: bytes, maxAge, grace } = resolveOptions({ flags: { port: '3' }, env, file })
    assert.deepEqual({ port, bytes, maxAge, grace }, { port: 3, bytes: 2e6, maxAge: 60, grace: 10 })
  })

  it('uses COUCHDB_URL when no database is set, and ignores empty variables', () => {
    const env = { COUCHDB_URL: 'http://a/b' }
    assert.equal(resolveOptions({ env }).db, 'http://a/b')
    assert.equal(resolveOptions({ env: { ...env, TILECOUCH_DB: 'http://c/d' } }).db, 'http://c/d')
    assert.equal(resolveOptions({ env: { TILECOUCH_DB: '', COUCHDB_URL: '' }, file: { db: 'http://e/f' } }).db,
      'http://e/f')
  })

  it('stays the same when it is resolved again', () => {
    const once = resolveOptions({
      flags: {
        memory: '1.5GiB', grace: 0.25, maxAge: '2h', publicUrl: 'https://maps.example.org/tiles',
        upstream: 'no', upstreamHeaders: '{"a.example": {"X-Key": "1"}}', opsPort: 0, missing: 404
      }
    })
    assert.deepEqual([once.memory, once.grace, once.maxAge, once.publicUrl, once.upstream, once.opsPort, once.missing],
      [1.5 * 2 ** 30, 0.25, 7200, 'https://maps.example.org/tiles/', false, 0, '404'])
    assert.deepEqual(resolveOptions({ flags: once }), once)
    assert.deepEqual(resolveOptions({ flags: defaults }), defaults)
  })

  it('accepts --trust-proxy only together with --public-url', () => {
    assert.throws(() => resolveOptions({ flags: { trustProxy: true } }),
      { code: 'BAD_OPTION', message: /--trust-proxy.*--public-url/ })
    assert.equal(resolveOptions({ flags: { trustProxy: true, publicUrl: 'https://maps.example.org' } }).trustProxy,
      true)
  })

  for (const [name, good, bad] of [
    ['port', ['0', '8080', 65535], ['65536', '-1', '80a', '8080.5', '0x50', ' 80', '', [], {}, NaN]],
    ['workers', ['1', 64], ['0', '65', '1e1', -1]],
    ['memory', ['0', 1000, '256MB', '1.5 gb', '2KiB', '7b'], ['256M B', '1TB', '-1MB', '1e9', 'MB', 'much']],
    ['maxAge', ['0', '90s', 300, '1.5h'], ['5 minutes', '-1s', Infinity, '1month']],
    ['upstream', [true, 'yes', 'OFF', '0'], ['maybe', 2, 'nope']],
    ['missing', ['auto', 204, 'transparent'], ['200', 'Auto', 'none']],
    ['publicUrl', ['http://a', 'https://maps.example.org/x/'],
      ['maps.example.org', 'ftp://a/', 'https://u:p@a/', 'http://a/?x=1', 'http://a/#b', '/x']],
    ['embed',
      ['*', 'none', 'https://www.example.org', 'https://a.example, http://localhost:8080', ['https://[::1]:8443'], []],
      ['www.example.org', 'https://a.example/', '*,https://a.example', 'https://*.example.org', 'https://a;b', 7]],
    ['logLevel', ['debug', 'silent'], ['loud', '']],
    ['upstreamNetworks', ['*', 'maps.intranet,10.0.0.0/8', ['::1', '127.0.0.1:8081'], []],
      ['10.0.0.0/33', 'http://h', 'h/path', [1]]],
    ['upstreamHeaders',
      [{}, '{}', { 'a.example:8080': { Authorization: 'Bearer x' } }, { 'http://a': { '?key': '1' } }],
      ['[]', '{', 'null', { 'http://a/b': {} }, { 'ftp://a': {} },
        { a: 'x' }, { a: { 'X Y': '1' } }, { a: { X: 'a\nb' } }, { a: { X: 1 } }]]
  ]) {
    it(`accepts valid values of ${name}, and names the source of an invalid one`, () => {
      for (const value of good) assert.doesNotThrow(() => resolveOptions({ flags: { [name]: value } }), String(value))
      const flag = longFlag(optionsByName[name]).replace('--no-', '--')
      for (const value of bad) {
        assertRefused({ flags: { [name]: value } }, 'BAD_OPTION', flag)
        assertRefused({ file: { [name]: value }, fileName: 'g.json' }, 'BAD_OPTION', `"${name}" in g.json`)
        if (typeof value === 'string' && value) {
          assertRefused({ env: { [optionsByName[name].env]: value } }, 'BAD_OPTION', optionsByName[name].env)
        }
      }
    })
  }

  it('refuses unknown options, and suggests a similar name', () => {
    assertRefused({ file: { memroy: 1 }, fileName: '/etc/g.json' }, 'CONFIG_INVALID', '/etc/g.json', '"memroy"')
    assertRefused({ file: { ops_port: 1 } }, 'CONFIG_INVALID', '"ops_port"', '"opsPort" is one')
    assertRefused({ file: { config: 'other.json' } }, 'CONFIG_INVALID', 'config')
    assertRefused({ file: JSON.parse('{"__proto__": 1}') }, 'CONFIG_INVALID', '__proto__')
    assertRefused({ flags: { prot: 1 } }, 'BAD_OPTION', 'prot')
  })

  it('repeats no secret in the error about a bad value', () => {
    for (const value of [{ 'a.example': { Authorization: 'Bearer hunter2\n' } },
      '{"a": {"Authorization": "hunter2"', { 'u:hunter2@a.example': {} }]) {
      for (const input of [{ flags: { upstreamHeaders: value } }, { file: { upstreamHeaders: value } }]) {
        assert.throws(() => resolveOptions(input),
          error => !JSON.stringify([error.message, error.details, error.toJSON()]).includes('hunter2'))
      }
    }
    assert.throws(() => resolveOptions({ flags: { publicUrl: 'https://me:hunter2@maps.example.org/' } }),
      error => !error.message.includes('hunter2'))
  })

  it('comes from the file that the flag or the environment names', async () => {
    folder.write({ 'a.json': '\ufeff{"port": 81}', 'b.json': '{"port": 82}' })
    const [a, b] = ['a.json', 'b.json'].map(name => path.join(folder.dir, name))
    assert.equal((await loadOptions({ env: { TILECOUCH_CONFIG: a } })).options.port, 81)
    const { options: { port, config }, warnings } =
      await loadOptions({ flags: { config: b }, env: { TILECOUCH_CONFIG: a } })
    assert.deepEqual([port, config, warnings], [82, b, []])
  })

  it('names the line of a file that is not JSON, without its content', async () => {
    folder.write({ 'bad.json': '{\n  "port": 1,\n  "db": "http://me:hunter2@x/y"\n  oops }', 'list.json': '[1]' })
    const config = path.join(folder.dir, 'bad.json')
    await assert.rejects(loadOptions({ flags: { config }, env: {} }), error => error.code === 'CONFIG_INVALID' &&
      error.message.includes('line 4') && !error.message.includes('hunter2'))
    await assert.rejects(loadOptions({ flags: { config: path.join(folder.dir, 'list.json') }, env: {} }),
      { code: 'CONFIG_INVALID' })
    await assert.rejects(loadOptions({ flags: { config: path.join(folder.dir, 'none.json') }, env: {} }),
      /no such file/)
    await assert.rejects(loadOptions({ flags: { config: folder.dir }, env: {} }), { code: 'CONFIG_INVALID' })
  })

  it('warns of secrets in world-readable files, and of unknown variables', async function () {
    if (process.platform === 'win32') return this.skip()
    const secrets = {
      'db.json': '{"db": "http://me:hunter2@localhost/tiles"}',
      'headers.json': '{"upstreamHeaders": {"a.example": {"X-Key": "hunter2"}}}'
    }
    folder.write({ ...secrets, 'plain.json': '{"db": "http://localhost/tiles", "upstreamHeaders": {}}' })
    const warningsOf = async (name, mode) => {
      const config = path.join(folder.dir, name)
      chmodSync(config, mode)
      return (await loadOptions({ flags: { config }, env: {} })).warnings
    }
    for (const name of Object.keys(secrets)) {
      const [warning, ...otherWarnings] = await warningsOf(name, 0o644)
      assert.match(warning, new RegExp(`${name} .*chmod 640`))
      assert.doesNotMatch(warning, /hunter2/)
      assert.deepEqual(otherWarnings, [])
      assert.deepEqual(await warningsOf(name, 0o640), [])
    }
    assert.deepEqual(await warningsOf('plain.json', 0o644), [])
    const { warnings } =
      await loadOptions({ env: { TILECOUCH_MEMROY: '1', TILECOUCH_CONTACT: 'a@b', TILECOUCH_PORT: '1' } })
    assert.deepEqual(warnings, ['TILECOUCH_MEMROY in the environment names no option'])
  })
})
