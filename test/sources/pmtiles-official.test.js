// PMTiles that the official tools wrote, and what the official readers see in ours.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PMTiles } from 'pmtiles'
import { useFolder } from '../support/folder.js'
import { skip, tilesPython } from '../support/tools.js'
import { contents, inOrder, using } from '../support/archives.js'
import { writeArchive } from './pmtiles-writer.js'

// z/x/y and what the tile holds, a line each; the tiles come in the order of the lines, which need not be that of their
// ids
const WRITE = `
import json, sys
from pmtiles.tile import zxy_to_tileid, TileType, Compression
from pmtiles.writer import Writer
with open(sys.argv[2], 'wb') as f:
  writer = Writer(f)
  for line in open(sys.argv[1]):
    name, content = line.rstrip('\\n').split(' ', 1)
    writer.write_tile(zxy_to_tileid(*map(int, name.split('/'))), content.encode())
  header = {
    'tile_type': TileType.PNG, 'tile_compression': Compression.NONE,
    'min_lon_e7': 59000000, 'min_lat_e7': 458000000, 'max_lon_e7': 105000000, 'max_lat_e7': 478000000,
    'center_zoom': 7, 'center_lon_e7': 80000000, 'center_lat_e7': 460000000
  }
  writer.finalize(header, {'name': 'Official', 'attribution': 'x'})
`

describe('PMTiles and the official tools', function () {
  this.timeout(120000)
  const folder = useFolder()
  let python = ''
  before(function () {
    python = tilesPython() ?? ''
    if (!python) skip(this, 'TILES_PYTHON names no Python with pmtiles and mbutil')
  })
  const at = name => path.join(folder.dir, name)

  it('the source reads archives of Python with leaves, runs and shared tiles, in any order', async () => {
    // 20,000 entries do not fit into a root directory
    const many = Object.fromEntries(Array.from({ length: 20000 },
      (_, index) => [`9/${index % 200}/${Math.floor(index / 200)}`, index % 7 ? `tile ${index}` : 'sea']))
    for (const tiles of [{ '0/0/0': 'a', '1/0/0': 'b', '1/1/1': 'b', '14/8500/5700': 'c' }, many]) {
      const names = Object.keys(tiles)
      writeFileSync(at('lines'), names.map(name => `${name} ${tiles[name]}\n`).join(''))
      execFileSync(python, ['-c', WRITE, at('lines'), at('python.pmtiles')])
      await using('pmtiles', at('python.pmtiles'), {}, async source => {
        const found = await contents(source)
        assert.deepEqual(found, tiles)
        assert.deepEqual(Object.keys(found), inOrder(names))
        const zooms = names.map(name => +name.split('/')[0])
        assert.deepEqual(source.fields, {
          name: 'Official', attribution: 'x', bounds: [5.9, 45.8, 10.5, 47.8],
          center: [8, 46, 7], format: 'png', minzoom: Math.min(...zooms), maxzoom: Math.max(...zooms)
        })
      })
    }
  })

  it('the official readers read the archives of these tests', async () => {
    const tiles = Object.fromEntries(
      Array.from({ length: 1024 }, (_, index) => [`5/${index >> 5}/${index & 31}`, index % 3 ? `tile ${index}` : 'sea'])
    )
    writeFileSync(at('ours.pmtiles'), writeArchive({ tiles, leaf: 100 }))
    const bytes = readFileSync(at('ours.pmtiles'))
    const reader = new PMTiles({
      getKey: () => 'ours',
      getBytes: async (offset, length) => ({ data: Uint8Array.from(bytes.subarray(offset, offset + length)).buffer })
    })
    for (const [name, content] of Object.entries(tiles)) {
      const [z, x, y] = name.split('/').map(Number)
      assert.equal(Buffer.from((await reader.getZxy(z, x, y)).data).toString(), content)
    }
    const script = `
import sys
from pmtiles.reader import Reader, MmapSource, all_tiles
with open(sys.argv[1], 'rb') as f:
  for (z, x, y), data in all_tiles(MmapSource(f)): print(f'{z}/{x}/{y} {data.decode()}')`
    const lines = String(execFileSync(python, ['-c', script, at('ours.pmtiles')])).trim().split('\n')
    assert.deepEqual(Object.fromEntries(lines.map(line => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)])),
      tiles)
  })
})
