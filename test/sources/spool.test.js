// The spool, which keeps tiles on the disk and yields them in the order of their ids.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, statfsSync, utimesSync } from 'node:fs'
import { compareIds, tileId } from '../../core/index.js'
import { Spool, spoolDefaults } from '../../loader/formats/spool.js'
import { random as seeded } from '../../bench/tiles.js'
import { collect } from '../support/collect.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'
import { runMeasured } from '../support/archives.js'

const module = new URL('../../loader/formats/spool.js', import.meta.url).href
const YEAR = 365 * 86400

describe('a spool', () => {
  const folder = useFolder()
  const opened = []
  const open = async () => {
    const spool = await Spool.open({ folder: folder.dir })
    opened.push(spool)
    return spool
  }
  afterEach(() => Promise.all(opened.splice(0).map(spool => spool.close())))

  it('yields tiles in the order of their ids, added in any order', async () => {
    const random = seeded(1)
    const spool = await open()
    const ids = new Set()
    for (let index = 0; index < 5000; index++) {
      const z = Math.floor(random() * 31)
      const [x, y] = [Math.floor(random() * 2 ** z), Math.floor(random() * 2 ** z)]
      spool.add(z, x, y)
      ids.add(tileId('l', z, x, y))
    }
    const expected = [...ids].sort(compareIds)
    assert.deepEqual((await collect(spool.tiles())).map(({ z, x, y }) => tileId('l', z, x, y)), expected)
    assert.equal(spool.count(), expected.length)
  })

  it('keeps up to two fields of a tile unchanged', async () => {
    const spool = await open()
    spool.add(1, 0, 0, 2 ** 53 - 1, -0.5)
    spool.add(1, 0, 1)
    spool.add(1, 1, 0, 'ü1e5', null)
    assert.deepEqual(await collect(spool.tiles()), [
      { z: 1, x: 0, y: 0, fields: [2 ** 53 - 1, -0.5] },
      { z: 1, x: 0, y: 1, fields: [null, null] },
      { z: 1, x: 1, y: 0, fields: ['ü1e5', null] }
    ])
    assert.throws(() => spool.add(1, 0, 0, 1, 2, 3), { code: 'INTERNAL' })
  })

  it('replaces a tile that is added again, also after many other tiles', async () => {
    const spool = await open()
    spool.add(3, 1, 1, 'first')
    spool.add(3, 1, 1, 'second')
    for (let y = 0; y < 2000; y++) spool.add(12, 0, y, y)
    spool.add(3, 1, 1, 'third')
    const [tile] = (await collect(spool.tiles())).slice(-1)
    assert.deepEqual(tile, { z: 3, x: 1, y: 1, fields: ['third', null] })
    assert.equal(spool.count(), 2001)
  })

  it('can be read by several readers at once while tiles are added', async () => {
    const spool = await open()
    for (let y = 0; y < 3 * spoolDefaults.page; y++) spool.add(12, 5, y)
    const first = spool.tiles()
    const taken = []
    for (let index = 0; index < spoolDefaults.page + 1; index++) taken.push((await first.next()).value.y)
    assert.equal((await collect(spool.tiles())).length, 3 * spoolDefaults.page)
    spool.add(12, 6, 0)
    for await (const { x, y } of first) taken.push(x === 6 ? 'added' : y)
    assert.equal(new Set(taken).size, 3 * spoolDefaults.page + 1)
    assert.equal(taken.at(-1), 'added')
  })

  it('keeps bytes beside the tiles', async () => {
    const spool = await open()
    const random = seeded(2)
    const pieces = Array.from({ length: 300 }, (_, index) => {
      const bytes = Buffer.alloc(Math.floor(random() * 20000), index)
      return { bytes, offset: index * 30000 }
    })
    for (const { bytes, offset } of pieces) spool.place(offset, bytes)
    for (const { bytes, offset } of pieces) assert.ok(spool.slice(offset, bytes.length).equals(bytes))
    assert.throws(() => spool.slice(pieces[299].offset, 1e6), { code: 'INTERNAL' })
  })

  it('holds 100,000 tiles with half a gigabyte in little memory', async () => {
    const { count, peak } = await runMeasured(`
      const { Spool } = await import(${JSON.stringify(module)})
      const spool = await Spool.open({ folder: ${JSON.stringify(folder.dir)} })
      const bytes = Buffer.alloc(5000)
      for (let n = 0; n < 100000; n++) {
        spool.place(n * 5000, bytes)
        spool.add(17, n * 7919 % 100000, n, n * 5000, bytes.length)
        if (n % 100 === 0) sample()
      }
      let count = 0
      for await (const { fields: [offset, length] } of spool.tiles()) {
        count += spool.slice(offset, length).length
        if (count % 1e6 === 0) sample()
      }
      await spool.close()
      report({ count })`)
    assert.equal(count, 5e8)
    assert.ok(peak < 250e6, `${Math.round(peak / 1e6)} MB`)
  }).timeout(60000)

  it('leaves no files when it is closed, also when it is closed twice', async () => {
    const spool = await open()
    spool.add(0, 0, 0, 0)
    spool.place(0, Buffer.alloc(3e6))
    await spool.close()
    await spool.close()
    assert.deepEqual(readdirSync(folder.dir), [])
    assert.throws(() => spool.slice(0, 1), { code: 'INTERNAL' })
  })

  it('leaves no files when its process is killed', async function () {
    if (process.platform === 'win32') this.skip() // Windows keeps the names of open files: see the next test
    const script = `
      import { Spool } from ${JSON.stringify(module)}
      const spool = await Spool.open({ folder: ${JSON.stringify(folder.dir)} })
      for (let n = 0; ; n++) {
        spool.add(17, n, n, n * 10000, 10000)
        spool.place(n * 10000, Buffer.alloc(10000))
        if (n === 1000) console.log('ready')
        if (n % 1000 === 0) await new Promise(setImmediate)
      }`
    const child =
      spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.deepEqual(readdirSync(folder.dir), [])
  })

  it('removes the folder of a killed process, and no folder that may be in use', async () => {
    const endedProcess = spawn(process.execPath, ['-e', ''])
    await once(endedProcess, 'exit')
    const names = {
      stale: `tilecouch-spool-${endedProcess.pid}-abc`, young: `tilecouch-spool-${endedProcess.pid}-def`,
      running: `tilecouch-spool-${process.ppid}-ghi`, other: 'tilecouch-spool-x'
    }
    for (const [kind, name] of Object.entries(names)) {
      mkdirSync(folder.path(name))
      if (kind !== 'young') utimesSync(folder.path(name), Date.now() / 1000 - YEAR, Date.now() / 1000 - YEAR)
    }
    await open()
    for (const [kind, name] of Object.entries(names)) {
      assert.equal(existsSync(folder.path(name)), kind !== 'stale', kind)
    }
  })

  it('reports a full disk, and leaves no files on it', async function () {
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder.dir])
    if (status !== 0) skip(this, 'mounting a tmpfs needs root')
    try {
      const full = { code: 'DISK_FULL', message: /folder for temporary files/ }
      const bytes = await Spool.open({ folder: folder.dir })
      assert.throws(
        () => { for (let count = 0; count < 1000; count++) bytes.place(count * 100000, Buffer.alloc(100000, 1)) }, full
      )
      await bytes.close()
      const tiles = await Spool.open({ folder: folder.dir })
      assert.throws(() => {
        for (let x = 0; x < 1e7; x++) tiles.add(25, x, x, 'a'.repeat(1000))
      }, full)
      await tiles.close()
      assert.deepEqual(readdirSync(folder.dir), [])
      const { bfree, blocks } = statfsSync(folder.dir)
      assert.ok(blocks - bfree < 16, `${blocks - bfree} blocks are in use`)
    } finally {
      spawnSync('umount', ['--lazy', folder.dir]) // libsql may have the index open until the next garbage collection
    }
  })

  it('reports a folder that is missing or not writable', async function () {
    await assert.rejects(Spool.open({ folder: folder.path('none') }),
      { code: 'TARGET_UNWRITABLE', message: /none/ })
    if (process.getuid?.() !== 0) {
      chmodSync(folder.dir, 0o555)
      await assert.rejects(Spool.open({ folder: folder.dir }), { code: 'TARGET_UNWRITABLE' })
      chmodSync(folder.dir, 0o755)
    }
  })
})
