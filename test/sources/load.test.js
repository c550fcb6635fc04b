// Archives loaded as people load them, on every store.
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { load } from '../../loader/load/index.js'
import { openSource } from '../../loader/load/sources/index.js'
import { Store } from '../../loader/store/index.js'
import { useFolder } from '../support/answering-server.js'
import { onEachStore } from '../support/backends.js'
import { checkLoaded } from '../support/invariants.js'
import { png, square } from '../support/tiles.js'
import { writeArchive } from './pmtiles-writer.js'
import { useRangeServer } from './range-server.js'
import { startCommand } from '../support/command.js'

const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z']
const first = square({ layer: 'osm', time: T1, z: 4, seed: (x, y) => x * 8 + y })
const second = square({ layer: 'osm', time: T2, z: 4, seed: (x, y) => x === 7 ? null : y ? x * 8 + y : 100 + x })

const present = edition => edition.filter(({ bytes }) => bytes)
const pmtiles = edition => writeArchive(
  { tiles: Object.fromEntries(
    present(edition).map(({ z, x, y, bytes }) => [`${z}/${x}/${y}`, bytes])
  ), leaf: 10, metadata: { name: 'Town', attribution: 'me' } }
)

onEachStore('loading archives', backend => {
  const folder = useFolder()
  const server = useRangeServer()
  let db
  beforeEach(async () => { db = await backend.database() })

  function write (name, bytes) {
    const file = path.join(folder.dir, name)
    writeFileSync(file, bytes)
    return file
  }

  async function loadFrom (name, options) {
    const store = await Store.create(db)
    const source = await openSource(name)
    try {
      return await load(store, source, { layer: 'osm', ...options })
    } finally {
      await source.close()
    }
  }

  const tilecouch = (...args) => startCommand(args, { cwd: folder.dir, env: { TMPDIR: folder.dir } }).ended

  it('PMTiles: two editions, the second complete', async () => {
    assert.equal((await loadFrom(write('city.pmtiles', pmtiles(first)), { time: T1 })).created, 64)
    const complete = { time: T2, complete: true }
    const { advanced, unchanged, gone, failed } = await loadFrom(write('city.pmtiles', pmtiles(second)), complete)
    assert.deepEqual({ advanced, unchanged, gone, failed }, { advanced: 15, unchanged: 49, gone: 8, failed: 0 })
    await checkLoaded(db, [...first, ...second])
    assert.equal((await loadFrom(path.join(folder.dir, 'city.pmtiles'), complete)).unchanged, 56, 'again')
  })

  it('PMTiles on a web server: an edition, and the description that comes with it', async () => {
    server.file = pmtiles(first)
    const { edition } = await loadFrom(server.url.replace('http://', 'http://ada:s3cret@'), { time: T1 })
    assert.equal(edition.source, 'city.pmtiles')
    await checkLoaded(db, first)
    const layer = await (await Store.open(db)).layer('osm')
    assert.deepEqual([layer.name, layer.attribution, layer.format], ['Town', 'me', 'png'])
  })

  it('by the command, which reports faults, leaves no temporary file, and writes ' +
    'nothing of a damaged archive', async function () {
    this.timeout(120000)
    write('cut.pmtiles', pmtiles(first).subarray(0, -100))
    const cut = await tilecouch('load', 'cut.pmtiles', '-l', 'osm', '-t', '2021', '--db', db)
    assert.equal(cut.code, 1)
    assert.match(cut.err, /"cut.pmtiles" is damaged or of another format: .*\n.*Download or create it again/)
    const [{ x, y, z }] = first
    write('bad.pmtiles', pmtiles([{ x, y, z, bytes: png(1).subarray(0, 200) }, ...first.slice(2)]))
    const { code, out } = await tilecouch('load', 'bad.pmtiles', '-l', 'osm', '-t', T1, '--db', db)
    assert.equal(code, 1)
    assert.match(out, /osm:4:0:0 .*\[TRUNCATED_IMAGE\]/)
    await checkLoaded(db, first.slice(2))
    assert.deepEqual(readdirSync(folder.dir).sort(), ['bad.pmtiles', 'cut.pmtiles'])
  })
})
