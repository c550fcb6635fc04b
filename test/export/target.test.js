// The target of an export: its format and name, its lock, and targets that exist or cannot be written.
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
  const open = (name, options = {}) => openTarget(folder.path(name), { layer: 'osm', doc, run: 'run', ...options })

  it('has the format of its name, or a given format', async () => {
    mkdirSync(folder.path('a.pmtiles'))
    mkdirSync(folder.path('folder.d'))
    for (const [name, format, expected] of [
      ['x.mbtiles', undefined, 'mbtiles'], ['X.PMTILES', undefined, 'pmtiles'],
      ['x', undefined, 'folder'], ['x/', undefined, 'folder'],
      ['x.mbtiles/', undefined, 'folder'], ['osm@2024', undefined, 'folder'],
      ['v1.2', undefined, 'folder'], ['folder.d', undefined, 'folder'], ['a.pmtiles', undefined, 'folder'],
      ['x.tiles', 'folder', 'folder'], ['x.db', 'mbtiles', 'mbtiles'], ['x', 'pmtiles', 'pmtiles']
    ]) {
      const target = name === 'X.PMTILES' ? name : folder.path(name)
      assert.equal(await formatOf(target, format), expected, `${name} ${format}`)
    }
    for (const name of ['x.png', 'x.zip', 'x.tar', 'x.tar.gz', 'x.tgz', 'x.folder', 'x.constructor', 'x.d']) {
      await assert.rejects(formatOf(folder.path(name)), { code: 'TARGET_UNKNOWN' }, name)
    }
    for (const format of ['tar', 'zip', '', 'toString']) {
      await assert.rejects(formatOf(folder.path('x'), format), { code: 'BAD_OPTION' })
    }
  })

  for (const name of TARGETS) {
    it(`gets its name when it is complete, and not before: ${name}`, async () => {
      const target = await open(name)
      for (let y = 0; y < 50; y++) await target.add(tile(6, 0, y, y))
      if (name !== 'out') assert.ok(!readdirSync(folder.dir).includes(name))
      else assert.ok(readdirSync(folder.path(`${name}`)).every(file => file.startsWith('.') || file === '6'),
        'its metadata say that it is whole')
      await target.finish()
      assert.deepEqual(readdirSync(folder.dir), [name])
    })

    it(`is locked for other exports until it is finished, and created with its parent folders: ${name}`, async () => {
      const firstTarget = await open(name)
      await assert.rejects(open(name),
        { code: 'TARGET_UNWRITABLE', message: new RegExp(`process ${process.pid} writes it already`) })
      await firstTarget.add(tile(1, 0, 0, 1))
      await firstTarget.finish()
      const nextTarget = await open(name, { force: true })
      await nextTarget.stop()
      assert.ok(!readdirSync(folder.dir, { recursive: true }).some(file => `${file}`.includes('part-lock')))
      const target = await open(`a/b/${name}`)
      await target.add(tile(1, 0, 0, 1))
      await target.finish()
      assert.deepEqual(readdirSync(folder.path('a/b')), [name])
    })

    it(`that cannot be written is reported: ${name}`, async function () {
      if (process.getuid?.() === 0) folder.write({ 'file/x': '' })
      else {
        mkdirSync(folder.path('closed'))
        chmodSync(folder.path('closed'), 0o555)
        await assert.rejects(open(`closed/${name}`), { code: 'TARGET_UNWRITABLE', message: /closed/ })
        chmodSync(folder.path('closed'), 0o755)
      }
      folder.write({ 'some-file': 'x' })
      await assert.rejects(open(`some-file/${name}`), { code: 'TARGET_UNWRITABLE', message: /some-file/ })
      await assert.rejects(open(`${'long'.repeat(100)}${name}`), { code: 'TARGET_UNWRITABLE' })
      assert.equal(readFileSync(folder.path('some-file'), 'utf8'), 'x')
    })
  }

  for (const name of TARGETS.slice(1)) {
    it(`that exists is kept, or replaced at the end when forced: ${name}`, async () => {
      folder.write({ [name]: 'something else' })
      await assert.rejects(open(name), { code: 'TARGET_EXISTS' })
      const target = await open(name, { force: true })
      await target.add(tile(1, 0, 0, 1))
      assert.equal(readFileSync(folder.path(name), 'utf8'), 'something else')
      await target.finish()
      assert.notEqual(statSync(folder.path(name)).size, 14)
      mkdirSync(folder.path(`folder-${name}`))
      for (const force of [false, true]) {
        await assert.rejects(open(`folder-${name}`, { format: path.extname(name).slice(1), force }),
          { code: 'TARGET_EXISTS', message: /folder/ })
      }
    })
  }
})

describe('a lock', () => {
  const folder = useFolder()
  const file = () => folder.path('x.part-lock')
  const takeLock = () => lock(file(), 'x')
  /** Writes the lock file of a process. */
  const writeLock = (pid, host = hostname(), id = 'x') => writeFileSync(file(), JSON.stringify({ pid, host, id }))

  it('of a process that ended is taken over', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    writeLock(child.pid)
    await assert.rejects(takeLock(), { code: 'TARGET_UNWRITABLE', message: new RegExp(`process ${child.pid}`) })
    await end(child, 'SIGKILL')
    const unlock = await takeLock()
    await unlock()
    assert.deepEqual(readdirSync(folder.dir), [])
  })

  it('that is just being written is waited for; one of another machine stays, and its file is named', async () => {
    writeFileSync(file(), '')
    const attempt = takeLock()
    writeLock(process.ppid)
    await assert.rejects(attempt, { code: 'TARGET_UNWRITABLE' })
    writeLock(999999999, 'elsewhere')
    await assert.rejects(takeLock(), { code: 'TARGET_UNWRITABLE', message: /on elsewhere.*remove .*x\.part-lock/ })
  })

  it('of an earlier process with the same pid is taken over, and one from before the system started', async () => {
    writeLock(process.pid, hostname(), 'of the process 1 of a container that was restarted')
    const unlock = await takeLock()
    await assert.rejects(takeLock(), { code: 'TARGET_UNWRITABLE' })
    await unlock()
    await (await takeLock())()
    writeLock(process.ppid)
    await assert.rejects(takeLock(), { code: 'TARGET_UNWRITABLE' })
    const beforeBoot = new Date(Date.now() - (uptime() + 3600) * 1000)
    utimesSync(file(), beforeBoot, beforeBoot)
    await (await takeLock())()
  })

  it('without a valid owner is taken over after a while; one that a process lost is not removed by it', async () => {
    for (const text of ['', '{', 'null', '{"pid":-1}', '{"pid":"x"}']) {
      writeFileSync(file(), text)
      utimesSync(file(), new Date(Date.now() - 60000), new Date(Date.now() - 60000))
      await (await takeLock())()
    }
    assert.deepEqual(readdirSync(folder.dir), [])
    const unlock = await takeLock()
    writeFileSync(file(), 'of somebody else')
    await unlock()
    assert.equal(readFileSync(file(), 'utf8'), 'of somebody else')
  })

  it('goes to one of eight callers, also when a stale lock exists', async () => {
    for (let round = 0; round < 20; round++) {
      writeLock(2 ** 22 + round)
      const answers = await Promise.allSettled(Array.from({ length: 8 }, takeLock))
      const unlocks = answers.flatMap(answer => answer.status === 'fulfilled' ? [answer.value] : [])
      assert.equal(unlocks.length, 1, `round ${round}`)
      for (const { reason } of answers.filter(({ status }) => status === 'rejected')) {
        assert.equal(reason.code, 'TARGET_UNWRITABLE')
      }
      await unlocks[0]()
      assert.deepEqual(readdirSync(folder.dir), [], `round ${round}`)
    }
  })

  it('is refused when its file is a link to nothing, which stays', async () => {
    symlinkSync('missing', file())
    await assert.rejects(takeLock(), { code: 'TARGET_UNWRITABLE', message: /x\.part-lock is a link; remove it/ })
    assert.deepEqual(readdirSync(folder.dir), ['x.part-lock'])
  })

  it('is respected when its process belongs to another user', function () {
    if (process.platform === 'win32') skip(this, 'for Unix')
    // process 1 belongs to root: EPERM says that it lives
    writeLock(1)
    return assert.rejects(takeLock(), { code: 'TARGET_UNWRITABLE' })
  })
})
