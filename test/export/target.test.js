import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync
} from 'node:fs'
import { hostname, uptime } from 'node:os'
import path from 'node:path'
import { lock } from '../../loader/formats/lock.js'
import { formatOf, openTarget } from '../../loader/export/target.js'
import { end } from '../../bench/wait.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { skip } from '../support/tools.js'

const T1 = '2021-01-01T00:00:00Z'
const doc = { layer: 'osm', format: 'png' }
const tile =
  (z, x, y, seed) => ({ z, x, y, time: T1, type: 'image/png', bytes: png(seed), size: png(seed).length, digest: '' })
const TARGETS = ['out', 'out.mbtiles', 'out.pmtiles']

describe('the target of an export', () => {
  const folder = useFolder()
  const at = name => path.join(folder.dir, name)
  const open = (name, options = {}) => openTarget(at(name), { layer: 'osm', doc, run: 'run', ...options })

  it('has the format of its name, or a given format', async () => {
    mkdirSync(at('a.pmtiles'))
    mkdirSync(at('folder.d'))
    for (const [name, format, wanted] of [
      ['x.mbtiles', undefined, 'mbtiles'], ['X.PMTILES', undefined, 'pmtiles'],
      ['x', undefined, 'folder'], ['x/', undefined, 'folder'],
      ['x.mbtiles/', undefined, 'folder'], ['osm@2024', undefined, 'folder'],
      ['v1.2', undefined, 'folder'], ['folder.d', undefined, 'folder'], ['a.pmtiles', undefined, 'folder'],
      ['x.tiles', 'folder', 'folder'], ['x.db', 'mbtiles', 'mbtiles'], ['x', 'pmtiles', 'pmtiles']
    ]) assert.equal(await formatOf(name === 'X.PMTILES' ? name : at(name), format), wanted, `${name} ${format}`)
    for (const name of ['x.png', 'x.zip', 'x.tar', 'x.tar.gz', 'x.tgz', 'x.folder', 'x.constructor', 'x.d']) {
      await assert.rejects(formatOf(at(name)), { code: 'TARGET_UNKNOWN' }, name)
    }
    for (const format of ['tar', 'zip', '', 'toString']) {
      await assert.rejects(formatOf(at('x'), format), { code: 'BAD_OPTION' })
    }
  })

  for (const name of TARGETS) {
    it(`gets its name when it is complete, and not before: ${name}`, async () => {
      const target = await open(name)
      for (let y = 0; y < 50; y++) await target.add(tile(6, 0, y, y))
      if (name !== 'out') assert.ok(!readdirSync(folder.dir).includes(name))
      else assert.ok(readdirSync(at(`${name}`)).every(file => file.startsWith('.') || file === '6'),
        'its metadata say that it is whole')
      await target.finish()
      assert.deepEqual(readdirSync(folder.dir), [name])
    })

    it(`is locked for other exports until it is finished, and created with its parent folders: ${name}`, async () => {
      const first = await open(name)
      await assert.rejects(open(name),
        { code: 'TARGET_UNWRITABLE', message: new RegExp(`process ${process.pid} writes it already`) })
      await first.add(tile(1, 0, 0, 1))
      await first.finish()
      const next = await open(name, { force: true })
      await next.stop()
      assert.ok(!readdirSync(folder.dir, { recursive: true }).some(file => `${file}`.includes('part-lock')))
      const target = await open(`a/b/${name}`)
      await target.add(tile(1, 0, 0, 1))
      await target.finish()
      assert.deepEqual(readdirSync(at('a/b')), [name])
    })

    it(`that cannot be written is reported: ${name}`, async function () {
      if (process.getuid?.() === 0) folder.write({ 'file/x': '' })
      else {
        mkdirSync(at('closed'))
        chmodSync(at('closed'), 0o555)
        await assert.rejects(open(`closed/${name}`), { code: 'TARGET_UNWRITABLE', message: /closed/ })
        chmodSync(at('closed'), 0o755)
      }
      folder.write({ 'some-file': 'x' })
      await assert.rejects(open(`some-file/${name}`), { code: 'TARGET_UNWRITABLE', message: /some-file/ })
      await assert.rejects(open(`${'long'.repeat(100)}${name}`), { code: 'TARGET_UNWRITABLE' })
      assert.equal(readFileSync(at('some-file'), 'utf8'), 'x')
    })
  }

  for (const name of TARGETS.slice(1)) {
    it(`that exists is kept, or replaced at the end when forced: ${name}`, async () => {
      folder.write({ [name]: 'something else' })
      await assert.rejects(open(name), { code: 'TARGET_EXISTS' })
      const target = await open(name, { force: true })
      await target.add(tile(1, 0, 0, 1))
      assert.equal(readFileSync(at(name), 'utf8'), 'something else')
      await target.finish()
      assert.notEqual(statSync(at(name)).size, 14)
      mkdirSync(at(`folder-${name}`))
      for (const force of [false, true]) {
        await assert.rejects(open(`folder-${name}`, { format: path.extname(name).slice(1), force }),
          { code: 'TARGET_EXISTS', message: /folder/ })
      }
    })
  }
})

describe('a lock', () => {
  const folder = useFolder()
  const file = () => path.join(folder.dir, 'x.part-lock')
  const take = () => lock(file(), 'x')
  /** A lock of a process. */
  const own = (pid, host = hostname(), id = 'x') => writeFileSync(file(), JSON.stringify({ pid, host, id }))

  it('of a process that ended is taken over', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    own(child.pid)
    await assert.rejects(take(), { code: 'TARGET_UNWRITABLE', message: new RegExp(`process ${child.pid}`) })
    await end(child, 'SIGKILL')
    const unlock = await take()
    await unlock()
    assert.deepEqual(readdirSync(folder.dir), [])
  })

  it('that is just being written is waited for; one of another machine stays, and its file is named', async () => {
    writeFileSync(file(), '')
    const taken = take()
    own(process.ppid)
    await assert.rejects(taken, { code: 'TARGET_UNWRITABLE' })
    own(999999999, 'elsewhere')
    await assert.rejects(take(), { code: 'TARGET_UNWRITABLE', message: /on elsewhere.*remove .*x\.part-lock/ })
  })

  it('of an earlier process with the same pid is taken over, and one from before the system started', async () => {
    own(process.pid, hostname(), 'of the process 1 of a container that was restarted')
    const unlock = await take()
    await assert.rejects(take(), { code: 'TARGET_UNWRITABLE' })
    await unlock()
    await (await take())()
    own(process.ppid)
    await assert.rejects(take(), { code: 'TARGET_UNWRITABLE' })
    const long = new Date(Date.now() - (uptime() + 3600) * 1000)
    utimesSync(file(), long, long)
    await (await take())()
  })

  it('without a valid owner is taken over after a while; one that a process lost is not removed by it', async () => {
    for (const text of ['', '{', 'null', '{"pid":-1}', '{"pid":"x"}']) {
      writeFileSync(file(), text)
      utimesSync(file(), new Date(Date.now() - 60000), new Date(Date.now() - 60000))
      await (await take())()
    }
    assert.deepEqual(readdirSync(folder.dir), [])
    const unlock = await take()
    writeFileSync(file(), 'of somebody else')
    await unlock()
    assert.equal(readFileSync(file(), 'utf8'), 'of somebody else')
  })

  it('goes to one of eight callers, also when a stale lock exists', async () => {
    for (let round = 0; round < 20; round++) {
      own(2 ** 22 + round)
      const answers = await Promise.allSettled(Array.from({ length: 8 }, take))
      const got = answers.flatMap(answer => answer.status === 'fulfilled' ? [answer.value] : [])
      assert.equal(got.length, 1, `round ${round}`)
      for (const { reason } of answers.filter(({ status }) => status === 'rejected')) {
        assert.equal(reason.code, 'TARGET_UNWRITABLE')
      }
      await got[0]()
      assert.deepEqual(readdirSync(folder.dir), [], `round ${round}`)
    }
  })

  it('is refused when its file is a link to nothing, which stays', async () => {
    symlinkSync('missing', file())
    await assert.rejects(take(), { code: 'TARGET_UNWRITABLE', message: /x\.part-lock is a link; remove it/ })
    assert.deepEqual(readdirSync(folder.dir), ['x.part-lock'])
  })

  it('is respected when its process belongs to another user', function () {
    if (process.platform === 'win32') skip(this, 'for Unix')
    // process 1 belongs to root: EPERM says that it lives
    own(1)
    return assert.rejects(take(), { code: 'TARGET_UNWRITABLE' })
  })
})
