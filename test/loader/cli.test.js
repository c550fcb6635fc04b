// The command line as a whole: help, flags, exit codes, error output, and the files that commands read.
import assert from 'node:assert/strict'
import { spawn, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { TilecouchError } from '../../core/index.js'
import { meanings, partOf } from '../../loader/cli/options.js'
import { groups } from '../../loader/cli/program.js'
import { allCommands, runCommand, useEnvironment } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { bin, finishCommand } from '../support/command.js'
import { readUpstream } from '../../loader/cli/upstream.js'
import { resolveDatabase } from '../../loader/couchapp/environments.js'
import { secretOf } from '../../loader/store/secrets.js'
import { readKeys } from '../../loader/store/token.js'
import { loadOptions } from '../../server/gateway/config.js'

/** Runs the command line. `opened` counts how often it opened the embedded store. */
async function run (...argv) {
  let opened = 0
  const openEmbedded = async () => { opened++; throw new Error('no embedded store here') }
  return { ...await runCommand(argv, { openEmbedded }), opened }
}

/** Runs a command with this action. */
const runAction = action => runCommand(['up'], { more: { up: async () => ({ run: action }) } })

const commands = await allCommands()

describe('the command line', () => {
  const folder = useFolder()
  useEnvironment()

  it('lists every group and every command in its help', async () => {
    const { code, out } = await run('--help')
    assert.equal(code, 0)
    for (const heading of Object.keys(groups)) assert.ok(out.includes(`\n${heading}\n`), heading)
    for (const command of commands) assert.match(out, new RegExp(`^ +${command.name()}\\b`, 'm'))
  })

  it('has at most 21 commands, each in one group', () => {
    const names = commands.map(command => command.name())
    assert.ok(names.length <= 21, names.join(' '))
    assert.deepEqual(Object.values(groups).flatMap(Object.keys).sort(), names.sort())
  })

  it('gives every flag one meaning, to which a command may add details', () => {
    const meaningsByFlag = new Map()
    for (const command of commands) {
      const name = command.name()
      for (const { long, short, description, required } of command.options.filter(({ hidden }) => !hidden)) {
        assert.ok(description, `${name} ${long} has no text`)
        const general = meanings[long] ?? description
        assert.ok(description.startsWith(general), `${long} of ${name}`)
        for (const [flag, meaning] of [[long, `${required ? 'takes a value: ' : ''}${general}`],
          ...(short ? [[short, long]] : [])]) {
          const first = meaningsByFlag.get(flag) ?? { name, meaning }
          assert.equal(meaning, first.meaning, `${flag} of ${name} and of ${first.name}`)
          meaningsByFlag.set(flag, first)
        }
      }
    }
  })

  it('shows stacks of errors where TILECOUCH_DEBUG is on, and refuses a value that is neither on nor off', async () => {
    const failWith = async value => {
      process.env.TILECOUCH_DEBUG = value
      return (await runAction(async () => { throw new Error('broken') })).err
    }
    for (const on of ['1', 'true', 'YES', 'on']) assert.match(await failWith(on), /broken[^]*\n +at /)
    for (const off of ['', '0', 'false', 'No', 'off']) assert.doesNotMatch(await failWith(off), /\n +at /)
    assert.match(await failWith('maybe'), /"maybe" for TILECOUCH_DEBUG: it takes true or false.*BAD_OPTION/s)
  })

  it('prints help of at most 80 columns, except for examples', async () => {
    for (const name of ['help', 'up', 'doctor', 'load', 'layer',
      'info', 'get', 'serve', 'export', 'push', 'access', 'token', 'settings']) {
      const { out } = await run(name, ...(name === 'help' ? [] : ['--help']))
      for (const line of out.split('\n')) {
        assert.ok(line.length <= 80 || line.startsWith('  tilecouch '), `${name}: ${line}`)
      }
    }
  })

  const start = (...argv) => spawn(process.execPath,
    [bin, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })

  it('ends with 141 and without a message when the reader closes standard output', async () => {
    const child = start('--help')
    child.stdout.destroy()
    const stderr = []
    child.stderr.on('data', part => stderr.push(part))
    const [code] = await once(child, 'close')
    assert.equal(Buffer.concat(stderr).toString(), '')
    assert.equal(code, 141)
  })

  it('ends with the code of the error when the reader closes standard error', async () => {
    const child = start('load', folder.dir, '-l', 'Osm')
    child.stderr.destroy()
    const [code] = await once(child, 'close')
    assert.equal(code, 1, 'that of the error')
  })

  for (const command of commands) {
    const name = command.name()
    it(`shows examples for ${name} that use only its options`, async () => {
      const { code, out } = await run(name, '--help')
      assert.equal(code, 0)
      const examples = out.split(/Examples?:\n/)[1].split('\n')
        .filter(line => line.includes(`tilecouch ${name} `) || line.endsWith(`tilecouch ${name}`))
      assert.ok(examples.length > 0)
      const flags = command.options.flatMap(({ short, long }) => [short, long])
      for (const example of examples) {
        for (const [flag] of example.slice(example.indexOf('tilecouch'))
          .split('|')[0].matchAll(/(?<= )--?[a-z][a-z-]*/gi)) assert.ok(flags.includes(flag), `${example}: ${flag}`)
      }
      assert.match(out, /--json/)
      if (!['mirror', 'token'].includes(name)) assert.match(out, /--db <env\|url>/)
    })
  }

  it('prints its version', async () => {
    const { code, out } = await run('--version')
    assert.equal(code, 0)
    assert.match(out, /^\d+\.\d+\.\d+\n$/)
  })

  it('ends with 2 and names the help when its arguments are wrong', async () => {
    for (const argv of [['lod'], ['load'], ['load', 'x'], ['load', 'x', '-l'],
      ['remove'], ['get', 'osm', '1/0/0'], ['info', '--nope'], ['info', 'a', 'b', 'c'], []]) {
      const { code, err, out } = await run(...argv)
      assert.equal(code, 2, argv.join(' '))
      assert.match(err + out, /--help|Usage/, argv.join(' '))
    }
  })

  const errorCodes = {
    'load SRC -l Osm': 'BAD_LAYER',
    'load SRC -l osm@2024': 'BAD_LAYER',
    'load SRC -l layer': 'BAD_LAYER',
    'load SRC -l osm --time 2024-02-30': 'BAD_TIME',
    'load SRC -l osm --time yesterday': 'BAD_TIME',
    'load SRC -l osm --ttl soon': 'BAD_DURATION',
    'load SRC -l osm --zoom 5-3': 'BAD_ZOOM',
    'load SRC -l osm --zoom 31': 'BAD_ZOOM',
    'load SRC -l osm --bbox 1,2,3': 'BAD_BBOX',
    'load SRC -l osm --batch 0': 'BAD_OPTION',
    'load SRC -l osm --batch many': 'BAD_OPTION',
    'load SRC -l osm --store-concurrency -1': 'BAD_OPTION',
    'load SRC -l osm --scheme zyx': 'BAD_OPTION',
    'load SRC/none -l osm': 'SOURCE_NOT_FOUND',
    'load SRC/a.txt -l osm': 'SOURCE_UNKNOWN',
    'seed Osm --bbox 0,0,1,1 --zoom 1': 'BAD_LAYER',
    'seed osm --bbox 0,0,1,1 --zoom 9-1': 'BAD_ZOOM',
    'seed osm --zoom 1': 'BAD_AREA',
    'seed osm --polygon SRC/a.txt --zoom 1': 'BAD_AREA',
    'seed osm --bbox 0,0,1,1 --zoom 1 --rate 1/week': 'BAD_OPTION',
    'seed osm --bbox 0,0,1,1 --zoom 1 --refresh-before 3000y': 'BAD_DURATION',
    'seed osm --bbox 0,0,1,1 --zoom 1 --refresh-before 999999y': 'BAD_DURATION',
    'layer Osm --ttl 7d': 'BAD_LAYER',
    'layer osm --ttl soon': 'BAD_DURATION',
    'layer osm --zoom-range 9-1': 'BAD_ZOOM',
    'layer osm --bounds 1,2': 'BAD_BBOX',
    'layer osm --tile-size 0': 'BAD_OPTION',
    'layer osm --upstream SRC/none.json': 'SOURCE_NOT_FOUND',
    'layer osm --upstream SRC/a.txt': 'CONFIG_INVALID',
    'layer osm --upstream https://example.org/tile.png': 'BAD_UPSTREAM',
    'info --db Tiles': 'BAD_DATABASE',
    'info --db ftp://h/tiles': 'BAD_DATABASE',
    'push http://h/Tiles': 'BAD_DATABASE',
    'doctor --db http://127.0.0.1:1/tiles --q 0': 'BAD_OPTION',
    'doctor --db http://127.0.0.1:1/tiles --n x': 'BAD_OPTION'
  }
  for (const [line, expectedCode] of Object.entries(errorCodes)) {
    it(`refuses: ${line}`, async () => {
      folder.write({ 'a.txt': 'x', 'tiles/0/0/0.png': 'x' })
      const argv = line.split(' ')
        .map(word => word.replace(/^SRC\//, `${folder.dir}/`).replace(/^SRC$/, `${folder.dir}/tiles`))
      const plain = await run(...argv)
      assert.equal(plain.code, 1)
      assert.match(plain.err, new RegExp(`^tilecouch: .*\\[${expectedCode}\\]\\n`))
      assert.deepEqual([plain.out, plain.opened], ['', 0], 'nothing was begun')
      const json = await run(...argv, '--json')
      assert.equal(json.code, 1)
      const { error, reason } = JSON.parse(json.err)
      assert.equal(error, expectedCode)
      assert.ok(reason)
      assert.equal(json.out, '', 'standard output is for results')
    })
  }

  it('hides the password of a database URL in errors, as text and as JSON', async () => {
    for (const url of ['http://admin:s3cret@127.0.0.1:1/Tiles', 'ftp://admin:s3cret@h/tiles', 'admin:s3cret@h/tiles']) {
      for (const flags of [[], ['--json']]) {
        const { code, out, err } = await run('info', '--db', url, ...flags)
        assert.equal(code, 1)
        assert.ok(!(out + err).includes('s3cret'), err)
      }
    }
  })

  it('ends with the code that a command returns, 1 for an error, and 130 when it was stopped', async () => {
    const failing = error => runAction(async () => { throw error })
    assert.equal((await runAction(async () => {})).code, 0)
    assert.equal((await runAction(async () => 1)).code, 1)
    assert.equal((await failing(new TilecouchError('ABORTED'))).code, 130)
    const { code, err } = await failing(new TypeError('x is not a function'))
    assert.deepEqual([code, /\[INTERNAL\]/.test(err)], [1, true])
  })

  const loadedBy = { '--version': [], '--help': [], 'help diff': ['diff'], 'token --help': ['token'] }
  for (const [line, expectedNames] of Object.entries(loadedBy)) {
    it(`loads only the code of the command that runs: ${line}`, async () => {
      await finishCommand(line.split(' '), { env: { NODE_V8_COVERAGE: folder.dir } })
      const [report] = readdirSync(folder.dir)
      const { result } = JSON.parse(readFileSync(folder.path(report), 'utf8'))
      const isLoaded = file => result.some(({ url }) => url.endsWith(file))
      const names = commands.map(command => command.name())
      assert.deepEqual(names.filter(name => isLoaded(`/loader/cli/${name}.js`)), expectedNames)
      assert.ok(isLoaded('/loader/cli/program.js'))
      assert.equal(isLoaded('/loader/store/couch.js'), line === 'help diff')
    })
  }

  it('makes keys of tokens, of which one file may have several', async () => {
    const lines = [await run('token', '--new-key'), await run('token', '--new-key')].map(({ out }) => out)
    writeFileSync(folder.path('access-keys'), lines.join(''))
    assert.equal(Object.keys(await readKeys(folder.path('access-keys'))).length, 2)
  })

  it('leaves no signal listeners behind after a command', async () => {
    const listenersBefore = process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')
    await run('load', folder.dir, '-l', 'Osm')
    assert.equal(process.listenerCount('SIGINT') + process.listenerCount('SIGTERM'), listenersBefore)
  })
})

// A pipe, a device or a huge file in place of a small file, such as settings or a password: it is refused at once.

describe('a file that a command reads', () => {
  const folder = useFolder()
  const file = () => folder.path('.couchapprc')

  const readers = {
    'the environments of .couchapprc': () => resolveDatabase('default', { cwd: folder.dir, home: folder.dir, env: {} }),
    'an area': () => partOf({ polygon: file() }),
    'an upstream': () => readUpstream(file()),
    'the keys of tokens': () => readKeys(file()),
    'a password': async () => secretOf('SECRET', { SECRET_FILE: file() }),
    'the settings of a gateway': () => loadOptions({ flags: { config: file() }, env: {} })
  }
  /** The content of such files that begin with the mark of some editors. @type {Record<string, [string, any]>} */
  const marked = {
    'the environments of .couchapprc': ['{"env":{"default":{"db":"http://h/x"}}}', 'http://h/x'],
    'an area': ['{"type":"Point","coordinates":[7,47]}', /type "Point"/],
    'an upstream': ['{"type":"xyz","url":"http://h/{z}/{x}/{y}"}', { type: 'xyz', url: 'http://h/{z}/{x}/{y}' }],
    'the keys of tokens': ['first:0123456789abcdef0123456789abcdef', { first: '0123456789abcdef0123456789abcdef' }],
    'a password': ['secret\n', 'secret']
  }
  for (const [kind, [text, expected]] of Object.entries(marked)) {
    it(`for ${kind} may begin with a byte order mark`, async () => {
      writeFileSync(file(), `\ufeff${text}`)
      if (expected instanceof RegExp) await assert.rejects(async () => readers[kind](), { message: expected })
      else assert.deepEqual(await readers[kind](), expected)
    })
  }

  const harm = {
    'a pipe': () => execFileSync('mkfifo', [file()]),
    'a device without an end': () => symlinkSync('/dev/zero', file()),
    'longer than any of its kind': () => {
      writeFileSync(file(), '')
      truncateSync(file(), 1e9)
    }
  }

  for (const [kind, read] of Object.entries(readers)) {
    it(`for ${kind} is refused when it is a pipe, a device, or too long`, async function () {
      if (process.platform === 'win32') this.skip() // Windows has no named pipes
      for (const [title, make] of Object.entries(harm)) {
        make()
        await assert.rejects(async () => read(), ({ code, message }) => {
          assert.match(code, /^(CONFIG_INVALID|SOURCE_UNREADABLE)$/, title)
          assert.match(message, /no regular file|more than \d+|not a file with one password/)
          return true
        }, title)
        rmSync(file())
      }
    })
  }
})
