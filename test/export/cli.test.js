// The command `tilecouch export`: its output, and its errors for wrong arguments.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { assertSameTiles, contentsOf, expected, useLayer } from '../support/exports.js'
import { pattern } from '../support/pattern.js'

onEachStore('tilecouch export', backend => {
  const folder = useFolder()
  const context = useLayer(backend)
  const runExport = (...argv) => runCommand(['export', ...argv, '--db', context.url])

  it('prints how many tiles and bytes it wrote, and how many it kept or removed', async () => {
    const { code, out, err } = await runExport('osm@2022', folder.path('out.mbtiles'), '-z', '0-3')
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, pattern(
      /^osm@2022 -> .*out\.mbtiles: \d+ tiles of zoom \d-3 in \d+:\d\d \([\d,]+\/s\)\n/,
      / {2}[\d.]+ kB of tiles: \d+ written\n/,
      / {2}The file has [\d.]+ kB: \d+ different images, each in it once\n$/
    ))
    const folderRun = await runExport('osm', folder.path('out'), '--scheme', 'tms')
    assert.match(folderRun.out, /Rows count from the south \(TMS\)/)
    assertSameTiles(await contentsOf(folder.path('out'), { tms: true }), expected())
    assert.match((await runExport('osm', folder.path('out'), '--scheme', 'tms')).out,
      /: 0 written, \d+ there already\n/)
    assert.match((await runExport('osm@2021', folder.path('out'), '--scheme', 'tms')).out, /files? removed/)
  })

  it('prints one object with --json', async () => {
    const { code, out, err } = await runExport('osm', folder.path('out.pmtiles'), '--json', '--bbox', '-180,0,0,85')
    assert.deepEqual([code, err], [0, ''])
    const {
      layer, target, format, tiles, written, kept, missing, removed, size, types, seconds, minzoom, maxzoom, bounds
    } = JSON.parse(out)
    assert.deepEqual([layer, target, format, kept, missing, removed, types],
      ['osm', folder.path('out.pmtiles'), 'pmtiles', 0, 0, 0, { 'image/png': tiles }])
    assert.ok(written === tiles && size > 0 && seconds >= 0 && minzoom >= 0 && maxzoom === 5 && bounds.length === 4)
  })

  it('writes a history, and keeps existing files', async () => {
    const { code, out, err } = await runExport('osm', folder.path('h-{time}.pmtiles'), '--history')
    assert.equal(code, 0, err)
    assert.match(err, /osm@2022-06-01T12:30:00Z -> .*h-2022-06-01T123000Z\.pmtiles \(2 of 3\)\n/)
    assert.match(out, /^osm: 3 editions in .*\n {2}target +tiles +written +there already +size\n/)
    assert.deepEqual(readdirSync(folder.dir),
      ['h-2021-05-01.pmtiles', 'h-2022-06-01T123000Z.pmtiles', 'h-2023-07-01.pmtiles'])
    const secondRun = await runExport('osm', folder.path('h-{time}.pmtiles'), '--history', '--json')
    assert.deepEqual([JSON.parse(secondRun.out).exports, JSON.parse(secondRun.out).skipped.length, secondRun.err],
      [[], 3, ''])
  })

  it('replaces a file only with --force', async () => {
    await runExport('osm', folder.path('out.mbtiles'))
    const { code, err } = await runExport('osm@2021', folder.path('out.mbtiles'))
    assert.equal(code, 1)
    assert.match(err, /exists already \[TARGET_EXISTS\]\n.*--force/)
    assertSameTiles(await contentsOf(folder.path('out.mbtiles')), expected())
    assert.equal((await runExport('osm@2021', folder.path('out.mbtiles'), '--force')).code, 0)
    assertSameTiles(await contentsOf(folder.path('out.mbtiles')), expected('2021'))
  })

  const wrongCalls = {
    'osm out.png': 'TARGET_UNKNOWN',
    'osm out.zip': 'TARGET_UNKNOWN',
    'osm@2024 out.mbtiles --history': 'BAD_OPTION',
    'osm out --format zip': 'BAD_OPTION',
    'Osm out': 'BAD_LAYER',
    'osm@ out': 'BAD_TIME',
    'osm@2024-13 out': 'BAD_TIME',
    'osm out --scheme wms': 'BAD_OPTION',
    'osm out.mbtiles --scheme tms': 'BAD_OPTION',
    'osm out.pmtiles --cache': 'BAD_OPTION',
    'osm out --live': 'BAD_OPTION',
    'osm out --nginx x.conf': 'BAD_OPTION',
    'osm out --zoom 9-1': 'BAD_ZOOM',
    'osm out --bbox 1,2': 'BAD_BBOX',
    'osm out --polygon nothing.geojson': 'SOURCE_NOT_FOUND',
    'other out': 'LAYER_NOT_FOUND',
    'osm out --zoom 4': 'NOTHING_TO_EXPORT',
    'osm@2020 out.mbtiles': 'NOTHING_TO_EXPORT',
    'osm@2020 out.pmtiles': 'NOTHING_TO_EXPORT'
  }
  for (const [line, expectedCode] of Object.entries(wrongCalls)) {
    it(`refuses: ${line}`, async () => {
      const [layer, target, ...options] = line.split(' ')
      const { code, out, err } = await runExport(layer, folder.path(target), ...options)
      assert.equal(code, 1)
      assert.match(err, new RegExp(`^tilecouch: .*\\[${expectedCode}\\]\\n`))
      if (target.endsWith('.zip')) {
        assert.match(err, /a folder, \.mbtiles or \.pmtiles\. For a zip or tar, export a folder and pack it\.\n$/)
      }
      assert.equal(out, '')
      assert.deepEqual(readdirSync(folder.dir), [])
    })
  }

  it('ends with 2 when the layer or the target is missing', async () => {
    for (const argv of [[], ['osm']]) assert.equal((await runCommand(['export', ...argv])).code, 2)
  })
})
