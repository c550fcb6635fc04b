// Archives loaded as people load them, on every store.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { Store } from '../../loader/store/index.js'
import { useFolder } from '../support/answering-server.js'
import { onEachStore } from '../support/backends.js'
import { checkLoaded } from '../support/invariants.js'
import { loadFrom } from '../support/load-from.js'
import { png, square } from '../support/tiles.js'
import { writeArchive } from './pmtiles-writer.js'
import { useRangeServer } from './range-server.js'
import { startCommand } from '../support/command.js'

const T = '2021-01-01T00:00:00Z'
const first = square({ layer: 'osm', time: T, z: 4, seed: (x, y) => x * 8 + y })

const pmtiles = edition => writeArchive(
  { tiles: Object.fromEntries(
    edition.map(({ z, x, y, bytes }) => [`${z}/${x}/${y}`, bytes])
  ), leaf: 10, metadata: { name: 'Town', attribution: 'me' } }
)

onEachStore('loading archives', backend => {
  const folder = useFolder()
  const server = useRangeServer()
  let db
  beforeEach(async () => { db = await backend.database() })

  const tilecouch = (...args) => startCommand(args, { cwd: folder.dir, env: { TMPDIR: folder.dir } }).ended

  it('on a web server makes an edition, and fills the description of the layer', async () => {
    server.file = pmtiles(first)
    const { edition } = await loadFrom(await Store.create(db),
      server.url.replace('http://', 'http://ada:s3cret@'), { layer: 'osm', time: T })
    assert.equal(edition.source, 'city.pmtiles')
    await checkLoaded(db, first)
    const layer = await (await Store.open(db)).layer('osm')
    assert.deepEqual([layer.name, layer.attribution, layer.format], ['Town', 'me', 'png'])
  })

  it('with faults reports them, leaves no temporary file, and stores nothing of a damaged archive', async function () {
    this.timeout(120000)
    folder.write({ 'cut.pmtiles': pmtiles(first).subarray(0, -100) })
    const cut = await tilecouch('load', 'cut.pmtiles', '-l', 'osm', '-t', '2021', '--db', db)
    assert.equal(cut.code, 1)
    assert.match(cut.err, /"cut.pmtiles" is damaged or of another format: .*\n.*Download or create it again/)
    const [{ x, y, z }] = first
    folder.write({ 'bad.pmtiles': pmtiles([{ x, y, z, bytes: png(1).subarray(0, 200) }, ...first.slice(2)]) })
    const { code, out } = await tilecouch('load', 'bad.pmtiles', '-l', 'osm', '-t', T, '--db', db)
    assert.equal(code, 1)
    assert.match(out, /osm:4:0:0 .*\[TRUNCATED_IMAGE\]/)
    await checkLoaded(db, first.slice(2))
    assert.deepEqual(readdirSync(folder.dir).sort(), ['bad.pmtiles', 'cut.pmtiles'])
  })
})
