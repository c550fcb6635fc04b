import assert from 'node:assert/strict'
import { Store } from '../../loader/store/index.js'
import { isPublished } from '../../loader/couchapp/publish.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { onEachStore } from '../support/backends.js'
import { pattern } from '../support/pattern.js'

const XYZ = 'https://tiles.example.org/{z}/{x}/{y}.jpg'

onEachStore('tilecouch layer', backend => {
  const folder = useFolder()
  let url
  beforeEach(async () => { url = await backend.database() })

  const layer = (...argv) => runCommand(['layer', ...argv, '--db', url])
  const stored = async name => (await Store.open(url)).layer(name)

  it('creates a layer with an upstream in a new store, and opens the store to readers', async () => {
    const { code, out, err } = await layer('osm', '--upstream', XYZ, '--ttl',
      '7d', '--title', 'Streets', '--zoom-range', '0-14', '--bounds', '5,45,11,48', '--attribution', '© people')
    assert.equal(code, 0, err)
    assert.match(out,
      pattern(
        /^osm - Streets\n/,
        /zooms 0 to 14\n/,
        /bounds 5, 45, 11, 48\n/,
        /tiles are jpg\n/,
        /tiles expire after 604,800 s\n/,
        /upstream https:\/\/tiles\.example\.org\/\{z\}\/\{x\}\/\{y\}\.jpg \(xyz\)\n$/
      ))
    assert.deepEqual(await stored('osm'), {
      layer: 'osm', name: 'Streets', attribution: '© people', minzoom: 0,
      maxzoom: 14, bounds: [5, 45, 11, 48], format: 'jpg', ttl: 604800, upstream: { type: 'xyz', url: XYZ }
    })
    assert.ok(await isPublished(await Store.open(url)))
  })

  it('reads an upstream from a file, changes the named fields, removes fields, and shows the layer', async () => {
    folder.write(
      { 'wms.json': JSON.stringify(
        { type: 'wms', url: 'https://maps.example.org/wms', layers: 'roads', format: 'image/png; mode=8bit' }
      ) }
    )
    assert.equal((await layer('roads', '--upstream', `${folder.dir}/wms.json`, '--ttl', '1h')).code, 0)
    assert.deepEqual((await stored('roads')).upstream.layers, 'roads')
    assert.equal((await stored('roads')).format, 'png')
    assert.equal((await layer('roads', '--description', 'all of them', '--no-ttl')).code, 0)
    const { ttl, description, upstream } = await stored('roads')
    assert.deepEqual([ttl, description, upstream.type], [undefined, 'all of them', 'wms'])
    assert.equal((await layer('roads', '--no-upstream')).code, 0)
    assert.equal((await stored('roads')).upstream, undefined)
    const shown = await layer('roads')
    assert.deepEqual([shown.code, /no upstream/.test(shown.out), JSON.parse((await layer('roads', '--json')).out)],
      [0, true, await stored('roads')])
  })

  it('forbids offline areas with --no-offline, until --offline', async () => {
    const { code, out } = await layer('osm', '--no-offline')
    assert.deepEqual([code, (await stored('osm')).offline, /offline downloads are forbidden/.test(out)],
      [0, false, true])
    assert.equal((await layer('osm', '--title', 'Streets')).code, 0)
    assert.equal((await stored('osm')).offline, false)
    assert.doesNotMatch((await layer('osm', '--offline')).out, /offline/)
    assert.ok(!('offline' in await stored('osm')))
  })

  it('fails for a layer that does not exist, and creates no database for it', async () => {
    const { code, err } = await layer('osm')
    assert.deepEqual([code, /DATABASE_NOT_FOUND/.test(err)], [1, true])
    await Store.create(url)
    assert.match((await layer('osm')).err, /LAYER_NOT_FOUND/)
  })

  it('refuses a wrong or secret upstream before it opens the store, and repeats no secret', async () => {
    folder.write(
      { 'secret.json': JSON.stringify(
        { url: XYZ, headers: { Authorization: 'Bearer hunter2' } }
      ), 'cut.json': '{"url": "https://h/?key=hunter2' }
    )
    for (const [text, wanted] of [
      ['https://h/{z}/{x}/{y}?apikey=hunter2', 'BAD_UPSTREAM'], ['https://a:hunter2@h/{z}/{x}/{y}', 'BAD_UPSTREAM'],
      [`${folder.dir}/secret.json`, 'BAD_UPSTREAM'], [`${folder.dir}/cut.json`, 'CONFIG_INVALID'],
      ['https://h/wms', 'SOURCE_NOT_TILES'], ['https://h/ows?service=WMS&apikey=hunter2', 'SOURCE_NOT_TILES'],
      ['https://h/tiles', 'BAD_UPSTREAM']
    ]) {
      const { code, err, out } = await layer('osm', '--upstream', text)
      assert.equal(code, 1)
      assert.match(err, new RegExp(`\\[${wanted}\\]`))
      assert.ok(!(err + out).includes('hunter2'), err)
    }
    await assert.rejects(Store.open(url), { code: 'DATABASE_NOT_FOUND' })
  })
})
