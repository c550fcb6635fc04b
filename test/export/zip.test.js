import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import yauzl from 'yauzl'
import { openTarget } from '../../loader/export/target.js'
import { directoryRecord, endRecords, localHeader } from '../../loader/formats/zip/records.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { skip } from '../support/tools.js'
import { inZip } from './helpers.js'

const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-06-01T12:30:01Z']
const doc = { layer: 'osm', name: 'Streets', format: 'png' }
const tile = (z, x, y, bytes, more = {}) => ({ z, x, y, time: T1, type: 'image/png', bytes, digest: '', ...more })
const python = () => ['python3', 'python'].find(name => spawnSync(name, ['--version']).status === 0)

/** A program that did not grow up with ours. */
function readByPython (context, code, ...args) {
  const name = python()
  if (!name) skip(context, 'Python is not installed')
  const { status, stdout, stderr } = spawnSync(/** @type {string} */ (name), ['-c', code, ...args], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

describe('a zip that is written', () => {
  const folder = useFolder()
  const file = (name = 'a.zip') => path.join(folder.dir, name)

  async function write (tiles, options = {}) {
    const target = await openTarget(file(options.name), { layer: 'osm', doc, run: 'run', ...options })
    for (const one of tiles) await target.add(one)
    return target.finish()
  }

  it('has the files of a folder, with their times', async function () {
    const { size } = await write([tile(1, 0, 0, png(1)), tile(1, 0, 1, png(2), { time: T2, type: 'image/webp' })])
    assert.equal(size, readFileSync(file()).length)
    const files = await inZip(file())
    assert.deepEqual([...files.keys()], ['1/0/0.png', '1/0/1.webp', 'metadata.json'])
    assert.deepEqual([files.get('1/0/0.png'), files.get('1/0/1.webp')], [png(1), png(2)])
    assert.equal(JSON.parse(`${files.get('metadata.json')}`).maxzoom, 1)
    const archive = await yauzl.openPromise(file(), { lazyEntries: true })
    const times = []
    for await (const entry of archive.eachEntry()) times.push(entry.getLastModDate().toISOString())
    assert.deepEqual(times, ['2021-01-01T00:00:00.000Z', '2022-06-01T12:30:01.000Z', '2022-06-01T12:30:01.000Z'])
    const found = readByPython(this, `import zipfile, json, sys
z = zipfile.ZipFile(sys.argv[1])
print(json.dumps([z.testzip(), [[i.filename, i.date_time, i.compress_type, i.external_attr >> 16] for i in z.infolist()]]))`, file())
    assert.deepEqual(found, [null, [
      ['1/0/0.png', [2021, 1, 1, 0, 0, 0], 0, 0o100644], ['1/0/1.webp', [2022, 6, 1, 12, 30, 0], 0, 0o100644], ['metadata.json', [2022, 6, 1, 12, 30, 0], 0, 0o100644]]])
  })

  it('is the same archive each time', async () => {
    const tiles = [tile(1, 0, 0, png(1)), tile(1, 0, 1, png(2), { time: T2 })]
    await write(tiles)
    await write(tiles, { name: 'b.zip' })
    assert.deepEqual(readFileSync(file()), readFileSync(file('b.zip')))
    assert.deepEqual(readdirSync(folder.dir).sort(), ['a.zip', 'b.zip'])
  })

  it('may hold maps from before the times of zips, and from after', async () => {
    const times = ['1850-01-01T00:00:00Z', '1925-03-04T05:06:07Z', '1979-12-31T23:59:59Z', '2038-01-19T03:14:08Z', '2200-01-01T00:00:00Z']
    await write(times.map((time, y) => tile(3, 0, y, png(y), { time })))
    const files = await inZip(file())
    assert.equal(files.size, times.length + 1)
    const archive = await yauzl.openPromise(file(), { lazyEntries: true })
    const found = []
    for await (const entry of archive.eachEntry()) found.push(entry.getLastModDate({ timezone: 'UTC' }).toISOString().slice(0, 19) + 'Z')
    assert.deepEqual(found.slice(0, 5), ['1980-01-01T00:00:00Z', times[1], times[2], times[3], '2107-12-31T23:59:58Z'])
  })

  it('may hold more files than old zips could', async function () {
    this.timeout(60000)
    const bytes = png(1)
    const count = 66000
    const { size } = await write(Array.from({ length: count }, (_, n) => tile(9, n >> 8, n & 255, bytes)))
    const found = readByPython(this, `import zipfile, json, sys
z = zipfile.ZipFile(sys.argv[1])
names = z.namelist()
print(json.dumps([len(names), names[0], names[65999], z.read(names[65999]) == z.read(names[0])]))`, file())
    assert.deepEqual(found, [count + 1, '9/0/0.png', '9/257/207.png', true])
    assert.ok(size > count * bytes.length)
    const archive = await yauzl.openPromise(file(), { lazyEntries: true })
    assert.equal(archive.entryCount, count + 1)
    archive.close()
  })

  it('may be larger than 4 GB', async function () {
    this.timeout(60000)
    // two files that are holes of 2.5 GB, and a small one beyond
    const [hole, small] = [2_500_000_000, png(1)]
    const handle = openSync(file('big.zip'), 'w')
    let at = 0
    const records = []
    for (const [name, size, bytes] of /** @type {[string, number, Buffer | undefined][]} */ ([['a', hole, undefined], ['b', hole, undefined], ['c.png', small.length, small]])) {
      const entry = { name: Buffer.from(name), crc: bytes ? crc32(bytes) : 0, size, time: Date.parse(T1) }
      const header = localHeader(entry)
      writeSync(handle, header, 0, header.length, at)
      if (bytes) writeSync(handle, bytes, 0, bytes.length, at + header.length)
      records.push(directoryRecord({ ...entry, offset: at }))
      at += header.length + size
    }
    ftruncateSync(handle, at)
    const directory = Buffer.concat(records)
    const end = Buffer.concat([directory, endRecords({ entries: 3, offset: at, size: directory.length })])
    writeSync(handle, end, 0, end.length, at)
    closeSync(handle)
    const archive = await yauzl.openPromise(file('big.zip'), { lazyEntries: true })
    for await (const entry of archive.eachEntry()) {
      if (entry.fileName !== 'c.png') continue
      const parts = []
      for await (const part of await archive.openReadStreamPromise(entry)) parts.push(part)
      assert.deepEqual(Buffer.concat(parts), small)
    }
    archive.close()
    const read = readByPython(this, 'import zipfile, json, sys, hashlib; print(json.dumps(hashlib.md5(zipfile.ZipFile(sys.argv[1]).read("c.png")).hexdigest()))', file('big.zip'))
    assert.equal(read, (await import('node:crypto')).createHash('md5').update(small).digest('hex'))
  })

  it('begins again when it was not ended, and leaves nothing', async () => {
    const first = await openTarget(file(), { layer: 'osm', doc, run: 'run' })
    await first.add(tile(1, 0, 0, png(1)))
    await first.stop()
    assert.deepEqual(readdirSync(folder.dir), [])
    folder.write({ 'a.zip.part': 'x'.repeat(1e6), 'a.zip.part-directory': 'y'.repeat(1e6) })
    await write([tile(1, 0, 0, png(1))])
    assert.deepEqual(readdirSync(folder.dir), ['a.zip'])
    assert.equal((await inZip(file())).size, 2)
  })

  it('of a difference lists what is gone', async () => {
    const target = await openTarget(file(), { layer: 'osm', doc, run: 'run', diff: true, scheme: 'tms' })
    await target.gone({ z: 3, x: 2, y: 1 })
    await target.finish()
    assert.equal(`${(await inZip(file())).get('gone.txt')}`, '3/2/6\n')
  })
})
