// tilecouch layer --style and --qgis, and tilecouch remove --style on the command line.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { as, backends } from '../support/backends.js'
import { runAtTerminal, runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { folderOf, styleOf } from './files.js'
import { pattern } from '../support/pattern.js'

describe('tilecouch layer --style', () => {
  const folder = useFolder()
  const stage = useStore(backends[0], { published: 'functions', fill: async store => {
    await store.defineLayer('osm', { format: 'pbf' })
    await store.defineLayer('relief')
  } })
  const layer = (...argv) => runCommand(['layer', ...argv, '--db', stage.url])
  const style = (name, file, ...argv) => layer(name, '--style', file, ...argv)
  const file = (more = {}) => {
    folder.write({ 'style.json': JSON.stringify(styleOf(more)) })
    return folder.path('style.json')
  }

  it('stores a style from a file or a folder, and prints the stored styles', async () => {
    assert.doesNotMatch((await layer('osm')).out, /style/)
    assert.equal((await style('osm', file({ name: 'Plain' }), '--time', '2022')).err,
      'Stored the style osm@2022-01-01T00:00:00Z\n')
    assert.equal((await style('osm', file({ name: 'Plain' }), '--time', '2022')).err,
      'The style osm@2022-01-01T00:00:00Z is stored already\n')
    folder.write({ ...folderOf(), 'notes.txt': 'x' })
    const { out, err } = await style('osm', folder.dir, '--time', '2024-03-01', '--title', 'Roads')
    assert.equal(err,
      'Stored the style osm@2024-03-01T00:00:00Z, with 6 files, 868 B\n  1 file ignored, such as notes.txt\n')
    assert.match(out,
      pattern(
        /^osm - Roads\n[^]*\n/,
        /style from 2022-01-01T00:00:00Z on: Plain\n/,
        /style from 2024-03-01T00:00:00Z on: Streets, with 6 files\n$/
      ))
    assert.deepEqual(JSON.parse((await layer('osm', '--json')).out).styles.map(({ stored, ...entry }) => entry), [
      { time: '2022-01-01T00:00:00Z', name: 'Plain', layers: 2, files: 0 },
      { time: '2024-03-01T00:00:00Z', name: 'Streets', layers: 2, files: 6 }
    ])
  })

  it('reports errors, and stores nothing', async () => {
    folder.write({ 'not.json': '{' })
    for (const [argv, code] of /** @type {[[string, string, ...string[]], RegExp][]} */ ([
      [['osm', folder.path('none.json')], /SOURCE_NOT_FOUND/],
      [['osm', folder.path('not.json')], /is not JSON.*BAD_STYLE/], [['roads', file()], /LAYER_NOT_FOUND/],
      [['Osm', file()], /BAD_LAYER/], [['osm', file(), '--time', 'soon'], /BAD_TIME/],
      [['osm', file({ version: 7 })], /no style of version 8.*BAD_STYLE/]
    ])) {
      const { code: exit, err } = await style(...argv)
      assert.equal(exit, 1, argv.join(' '))
      assert.match(err, code)
    }
    assert.match((await layer('osm', '--time', '2024')).err, /it is the time of a style: add --style.*BAD_OPTION/)
    assert.deepEqual(await stage.store.styles('osm'), [])
  })

  it('stores styles that tilecouch remove --style removes after a confirmation', async () => {
    await style('osm', file({ name: 'A' }), '--time', '2022-03-01')
    await style('osm', file({ name: 'B' }), '--time', '2022-05-01')
    const remove = (...argv) => runCommand(['remove', 'osm', '--db', stage.url, ...argv])
    assert.match((await remove('--style', '2022-03')).err, /NOT_CONFIRMED/)
    assert.match((await remove('--style', '2022', '--yes')).err,
      /there are 2 styles, such as 2022-03-01T00:00:00Z and 2022-05-01T00:00:00Z: name one/)
    assert.match((await remove('--style', '2021', '--yes')).err, /STYLE_NOT_FOUND/)
    assert.match((await remove('--style', '2022-03', '--all', '--yes')).err,
      /it is a whole style: leave out other options/)
    assert.match((await remove('--style', '2022-03', '--dry-run')).err,
      /^Would remove the style osm@2022-03-01T00:00:00Z$/m)
    assert.equal((await stage.store.styles('osm')).length, 2)
    assert.equal((await remove('--style', '2022-03', '--yes')).out, 'Removed the style osm@2022-03-01T00:00:00Z\n')
    const { out } = await runAtTerminal(['remove', 'osm', '--style', '2022-05-01', '--db', stage.url], 'osm')
    assert.equal(out, 'Removed the style osm@2022-05-01T00:00:00Z\n')
    assert.deepEqual(await stage.store.styles('osm'), [])
  })
})

describe('tilecouch layer --qgis', () => {
  const folder = useFolder()
  const stage = useStore(backends[0], { published: 'functions', fill: async store => {
    await store.defineLayer('town', { name: 'Town' })
    await store.defineLayer('swiss', { grid: 'LV95', format: 'jpg', maxzoom: 20 })
    await store.defineLayer('shapes', { grid: 'LV95', format: 'pbf' })
    await store.putEdition('swiss', '2022-03-01T00:00:00Z', { complete: true })
    for (const year of [2022, 2023]) await store.putEdition('town', `${year}-03-01T00:00:00Z`, { complete: true })
  } })
  const layer = (...argv) => runCommand(['layer', ...argv, '--db', stage.url])
  const file = () => folder.path('town.qlr')

  it('writes a layer file with every edition, from a gateway or from the CouchDB of the store', async () => {
    const { code, err } = await layer('town', '--qgis', file(), '--gateway', 'http://maps.example.org:8080')
    assert.deepEqual([code, err], [0, `Wrote ${file()}: 2 editions, from http://maps.example.org:8080/\n`])
    const text = readFileSync(file(), 'utf8')
    for (const year of [2022, 2023]) {
      assert.ok(text.includes(
        `url=http://maps.example.org:8080/town@${year}-03-01T00:00:00Z/%7Bz%7D`.replace('&', '&#38;')
      ), text)
    }
    await layer('town', '--qgis', file(), '--time', '2022')
    const layerFile = readFileSync(file(), 'utf8')
    assert.ok(layerFile.includes(`url=${as(stage.url)}/_design/tiles/_rewrite/town@2022/`), layerFile)
    assert.ok(layerFile.includes('<layername>Town, 2022</layername>') && !layerFile.includes('<temporal'))
  })

  it('writes layers of the WMTS of a gateway if the layer is in another grid', async () => {
    const sourceOf = async (...time) => {
      const { code, err } = await layer('swiss', '--qgis', file(), '--gateway', 'http://maps.example.org/gis', ...time)
      assert.equal(code, 0, err)
      const text = readFileSync(file(), 'utf8')
      assert.match(text, /<authid>EPSG:2056<\/authid>/)
      return (/<datasource>(.*)<\/datasource>/.exec(text) ?? [])[1].replaceAll('&#38;', '&')
    }
    const parameters = 'contextualWMSLegend=0&crs=EPSG:2056&dpiMode=7&format=image/jpeg&layers=swiss&styles=default'
    const url = '&tileMatrixSet=LV95_Level20&url=http://maps.example.org/gis/wmts'
    assert.equal(await sourceOf(),
      `${parameters}&tileDimensions=Time%3D2022-03-01T00:00:00Z${url}/1.0.0/WMTSCapabilities.xml`)
    assert.equal(await sourceOf('--time', '2022'), `${parameters}${url}@2022/1.0.0/WMTSCapabilities.xml`)
  })

  it('reports errors', async () => {
    for (const [argv, words] of /** @type {[string[], RegExp][]} */ ([
      [['town', '--gateway', 'http://x/'], /goes with --qgis.*BAD_OPTION/],
      [['town', '--qgis', file(), '--gateway', 'x'], /an address such as.*BAD_OPTION/],
      [['nope', '--qgis', file()], /LAYER_NOT_FOUND/],
      [['swiss', '--qgis', file()], /another grid.*QGIS_GRID[^]*--gateway URL/],
      [['shapes', '--qgis', file(), '--gateway', 'http://x/'], /vector tiles in Web Mercator only.*QGIS_GRID/],
      [['town', '--qgis', folder.path('none/town.qlr')], /TARGET_UNWRITABLE/],
      [['town', '--qgis', file(), '--time', 'soon'], /BAD_TIME/]
    ])) {
      const { code, err } = await layer(...argv)
      assert.equal(code, 1, argv.join(' '))
      assert.match(err, words)
    }
  })
})
