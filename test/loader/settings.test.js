// The commands `tilecouch settings`, which sets the look of the viewer, and `tilecouch layer`.
import assert from 'node:assert/strict'
import { STORE_ID, tileJson } from '../../core/index.js'
import { publish, isPublished } from '../../loader/couchapp/publish.js'
import { Store } from '../../loader/store/index.js'
import { noiseTile } from '../../bench/tiles.js'
import { json, onEachStore, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'
import { pattern } from '../support/pattern.js'

const [LIGHT, DARK] = ['#0f6674', '#5cc3d2']
const NOTHING = 'Nothing is set: the viewer has its own name and colours.\n'

onEachStore('tilecouch settings', backend => {
  const folder = useFolder()
  const fixture = useStore(backend, { published: 'functions', fill: store => store.defineLayer('land') })
  const run = (...argv) => runCommand(['settings', ...argv, '--db', fixture.url])
  const readStored = () => json(`${fixture.url}/${STORE_ID}`)
  const allOptions = ['--title', 'Maps of Bern', '--description', 'The town since 1850.',
    '--colour-light', LIGHT, '--colour-dark', DARK, '--opens', 'land', '--base-map', 'land', '--gazetteer', '/search']

  it('sets and shows the settings of the viewer, and keeps other fields of the store document', async () => {
    assert.deepEqual(await run(), { code: 0, out: NOTHING, err: '' })
    const { _id, _rev, ...mark } = await readStored()
    const lines = [
      'title:       Maps of Bern', 'description: The town since 1850.',
      `colours:     ${LIGHT} in the light, ${DARK} in the dark`, 'opens:       land',
      'base map:    land', 'gazetteer:   /search'
    ]
    assert.deepEqual(await run(...allOptions), { code: 0, out: lines.join('\n') + '\n', err: '' })
    assert.deepEqual((await run()).out, lines.join('\n') + '\n')
    const { _id: id, _rev: rev, ...doc } = await readStored()
    const settings = { title: 'Maps of Bern', description: 'The town since 1850.', colours: {
      light: LIGHT, dark: DARK
    }, opens: 'land', base: 'land', gazetteer: '/search' }
    assert.deepEqual(doc, { ...mark, ...settings })
    assert.deepEqual(JSON.parse((await run('--json')).out), settings)
    await run(...allOptions)
    assert.equal((await readStored())._rev, rev, 'twice is once')
  })

  it('removes a setting when its value is empty, and keeps the other settings', async () => {
    await run(...allOptions)
    assert.doesNotMatch((await run('--colour-light', '')).out, /light/)
    assert.deepEqual((await readStored()).colours, { dark: DARK })
    const { out } = await run('--colour-dark', '', '--base-map', '', '--opens', '', '--description', '')
    assert.equal(out, 'title:       Maps of Bern\ngazetteer:   /search\n')
    assert.equal((await run('--title', '', '--gazetteer', '')).out, NOTHING)
    for (const field of ['title', 'description', 'colours', 'opens', 'base', 'gazetteer']) {
      assert.ok(!(field in await readStored()), field)
    }
  })

  it('attaches a logo, keeps it when another setting changes, and removes it', async () => {
    folder.write({ 'logo.png': png(1) })
    await fixture.store.couch.update(STORE_ID, doc => ({ ...doc, logo: 'old.png' }))
    assert.match((await run('--logo', folder.path('logo.png'))).out, /^logo: {8}image\/png, \d+ B\n$/)
    const show = () => request(`${fixture.url}/${STORE_ID}/logo`)
    const logo = await show()
    assert.deepEqual([logo.headers.get('content-type'), Buffer.from(await logo.arrayBuffer())], ['image/png', png(1)])
    assert.equal((await readStored()).logo, undefined, 'a path would count')
    await run('--title', 'Map')
    await publish(fixture.store)
    assert.deepEqual(Buffer.from(await (await show()).arrayBuffer()), png(1))
    assert.equal((await run('--logo', '')).out, 'title:       Map\n')
    assert.equal((await show()).status, 404)
  })

  it('takes a base map as an address, or as a file with its attribution', async () => {
    const base = { url: '/osm/{z}/{x}/{y}.png', name: 'Streets', attribution: '© Map', maxzoom: 19 }
    folder.write({ 'base.json': `\ufeff${JSON.stringify(base)}` }) // some editors begin a file with this mark
    assert.deepEqual(await run('--base-map', folder.path('base.json')),
      { code: 0, out: 'base map:    /osm/{z}/{x}/{y}.png, Streets, © Map\n', err: '' })
    assert.equal((await readStored()).base.maxzoom, 19)
    const { out, err } = await run('--base-map', 'https://tiles.example.org/{z}/{x}/{y}.png',
      '--gazetteer', 'https://search.example.org/search')
    assert.match(out, /^base map: {4}https:\/\/tiles\.example\.org\/\{z\}\/\{x\}\/\{y\}\.png$/m)
    assert.match(err, /^Another origin: .*\n`tilecouch doctor --fix --allow-viewer`/)
  })

  it('refuses values that the viewer would ignore, says why, and changes nothing', async () => {
    await run(...allOptions)
    const docBefore = await readStored()
    folder.write({
      'logo.svg': '<svg/>', 'large.png': noiseTile(1, 3e5), 'cut.png': png(1).subarray(0, 100),
      'bad.json': '{', 'other.json': '{"tiles": []}'
    })
    const refusals = [
      [['--title', 'x'.repeat(201)],
        pattern(
          /^tilecouch: bad title "x+…" for the viewer: it takes at most 200 characters \[BAD_SETTING\]\n/,
          / {2}See `tilecouch settings --help`/
        )],
      [['--colour-light', 'red'],
        /bad colour in the light "red" .*: it takes a colour such as #0f6674 \[BAD_SETTING\]/],
      [['--colour-light', DARK],
        /text in it has a contrast of 1\.\d to 1 and needs 4\.5 to 1: take a darker one \[BAD_SETTING\]/],
      [['--colour-dark', LIGHT], /needs 4\.5 to 1: take a lighter one \[BAD_SETTING\]/],
      [['--opens', 'nowhere'], /no layer "nowhere" \[LAYER_NOT_FOUND\]/],
      [['--base-map', 'nowhere'], /no layer "nowhere" \[LAYER_NOT_FOUND\]/],
      [['--base-map', 'https://tiles.example.org/{z}/{x}.png'],
        /bad base .*it takes a layer, or an address with \{z\}, \{x\} and \{y\}.*\[BAD_SETTING\]/],
      [['--base-map', folder.path('other.json')], /bad base .*\[BAD_SETTING\]/],
      [['--base-map', folder.path('bad.json')], /it is not JSON \[CONFIG_INVALID\]/],
      [['--gazetteer', 'javascript:alert(1)'],
        /bad gazetteer .*an address, or a path on the same server \[BAD_SETTING\]/],
      [['--logo', folder.path('logo.svg')], /bad logo "<svg\/>" .*it takes a PNG, JPEG, WebP or AVIF \[BAD_SETTING\]/],
      [['--logo', folder.path('large.png')], /more than 262144 \[SOURCE_UNREADABLE\]/],
      [['--logo', folder.path('cut.png')], /\[TRUNCATED_IMAGE\]/],
      [['--logo', folder.path('nowhere.png')], /\[SOURCE_NOT_FOUND\]/]
    ]
    for (const [argv, message] of refusals) {
      for (const flags of [[], ['--dry-run']]) {
        const { code, out, err } = await run('--title', 'Other', ...argv, ...flags)
        assert.deepEqual([code, out], [1, ''], argv.join(' '))
        assert.match(err, message)
      }
    }
    assert.deepEqual(await readStored(), docBefore)
  })

  it('writes nothing with --dry-run', async () => {
    const docBefore = await readStored()
    folder.write({ 'logo.png': png(1) })
    const { out } = await run('--title', 'Map', '--logo', folder.path('logo.png'), '--dry-run')
    assert.equal(out,
      `It would be:\n  title:       Map\n  logo:        image/png, ${png(1).length} B\nNothing was changed.\n`)
    assert.deepEqual(await readStored(), docBefore)
  })

  it('names invalid fields that another program wrote', async () => {
    const url = await backend.database()
    const { couch } = await Store.create(url) // without design documents: their validation would refuse these fields
    await couch.update(STORE_ID, doc => ({ ...doc, title: 5, opens: 'land' }))
    const show = (...argv) => runCommand(['settings', ...argv, '--db', url])
    assert.equal((await show()).out, 'opens:       land\nignored:     title: it is not valid\n')
    assert.equal((await show('--title', 'Map')).out, 'title:       Map\nopens:       land\n')
  })

  it('creates a missing store document, which says that the store was published', async () => {
    const { _rev } = await readStored()
    await request(`${fixture.url}/${STORE_ID}?rev=${_rev}`, { method: 'DELETE' })
    assert.equal((await run('--title', 'Map')).code, 0)
    const doc = await readStored()
    assert.deepEqual([doc.type, doc.title, Boolean(doc.published)], ['store', 'Map', true])
  })

  it('puts a layer into a group with tilecouch layer --group', async () => {
    const layer = (...argv) => runCommand(['layer', 'land', ...argv, '--db', fixture.url])
    assert.match((await layer('--group', 'Base maps')).out, /^land\nin the group Base maps\n/)
    assert.equal((await fixture.store.layer('land')).group, 'Base maps')
    assert.doesNotMatch((await layer('--group', '')).out, /group/)
    assert.ok(!('group' in await fixture.store.layer('land')))
    assert.match((await layer('--group', 'x'.repeat(201))).err, /bad group .*\[BAD_LAYER_FIELD\]/)
  })

  it('sets the encoding of terrain heights with tilecouch layer --encoding, also in TileJSON', async () => {
    const layer = (...argv) => runCommand(['layer', 'land', ...argv, '--db', fixture.url])
    assert.match((await layer('--encoding', 'terrarium')).out, /\nencoding terrarium\n/)
    assert.equal(tileJson(await fixture.store.layer('land')).encoding, 'terrarium')
    assert.match((await layer('--encoding', 'Terrarium')).err, /bad encoding "Terrarium" .*\[BAD_LAYER_FIELD\]/)
    assert.match((await layer('--encoding', 'mlt')).err, /BAD_LAYER_FIELD/)
    assert.doesNotMatch((await layer('--encoding', '')).out, /encoding/)
  })
})

const XYZ = 'https://tiles.example.org/{z}/{x}/{y}.jpg'

onEachStore('tilecouch layer', backend => {
  const folder = useFolder()
  let url
  beforeEach(async () => { url = await backend.database() })

  const layer = (...argv) => runCommand(['layer', ...argv, '--db', url])
  const readLayer = async name => (await Store.open(url)).layer(name)

  it('creates a layer with an upstream in a new store, and opens the store to readers', async () => {
    const { code, out, err } = await layer('osm', '--upstream', XYZ, '--ttl',
      '7d', '--title', 'Streets', '--zoom-range', '0-14', '--bounds', '5,45,11,48', '--attribution', '© people')
    assert.equal(code, 0, err)
    assert.match(out, pattern(
      /^osm - Streets\n/,
      /zooms 0 to 14\n/,
      /bounds 5, 45, 11, 48\n/,
      /tiles are jpg\n/,
      /tiles expire after 604,800 s\n/,
      /upstream https:\/\/tiles\.example\.org\/\{z\}\/\{x\}\/\{y\}\.jpg \(xyz\)\n$/
    ))
    assert.deepEqual(await readLayer('osm'), {
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
    assert.deepEqual((await readLayer('roads')).upstream.layers, 'roads')
    assert.equal((await readLayer('roads')).format, 'png')
    assert.equal((await layer('roads', '--description', 'all of them', '--no-ttl')).code, 0)
    const { ttl, description, upstream } = await readLayer('roads')
    assert.deepEqual([ttl, description, upstream.type], [undefined, 'all of them', 'wms'])
    assert.equal((await layer('roads', '--no-upstream')).code, 0)
    assert.equal((await readLayer('roads')).upstream, undefined)
    const output = await layer('roads')
    assert.deepEqual([output.code, /no upstream/.test(output.out), JSON.parse((await layer('roads', '--json')).out)],
      [0, true, await readLayer('roads')])
  })

  it('forbids offline areas with --no-offline, until --offline', async () => {
    const { code, out } = await layer('osm', '--no-offline')
    assert.deepEqual([code, (await readLayer('osm')).offline, /offline downloads are forbidden/.test(out)],
      [0, false, true])
    assert.equal((await layer('osm', '--title', 'Streets')).code, 0)
    assert.equal((await readLayer('osm')).offline, false)
    assert.doesNotMatch((await layer('osm', '--offline')).out, /offline/)
    assert.ok(!('offline' in await readLayer('osm')))
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
    for (const [text, expectedCode] of [
      ['https://h/{z}/{x}/{y}?apikey=hunter2', 'BAD_UPSTREAM'], ['https://a:hunter2@h/{z}/{x}/{y}', 'BAD_UPSTREAM'],
      [`${folder.dir}/secret.json`, 'BAD_UPSTREAM'], [`${folder.dir}/cut.json`, 'CONFIG_INVALID'],
      ['https://h/wms', 'SOURCE_NOT_TILES'], ['https://h/ows?service=WMS&apikey=hunter2', 'SOURCE_NOT_TILES'],
      ['https://h/tiles', 'BAD_UPSTREAM']
    ]) {
      const { code, err, out } = await layer('osm', '--upstream', text)
      assert.equal(code, 1)
      assert.match(err, new RegExp(`\\[${expectedCode}\\]`))
      assert.ok(!(err + out).includes('hunter2'), err)
    }
    await assert.rejects(Store.open(url), { code: 'DATABASE_NOT_FOUND' })
  })
})
