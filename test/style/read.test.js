import assert from 'node:assert/strict'
import path from 'node:path'
import { readStyle, whyNotStyle } from '../../loader/store/style.js'
import { useFolder } from '../support/folder.js'
import { folderOf, styleOf } from './files.js'

describe('reading a style', () => {
  const folder = useFolder()

  it('reads a file, or a folder with sprite and glyphs, and lists the ignored files', async () => {
    folder.write({ 'plain.json': `\ufeff${JSON.stringify(styleOf())}` })
    assert.deepEqual(await readStyle(path.join(folder.dir, 'plain.json')), { style: styleOf(), files: {}, ignored: [] })
    const dir = path.join(
      folder.write(Object.fromEntries(Object.entries({ ...folderOf(), 'README.md': 'x', 'glyphs/LICENSE': 'y' })
        .map(([name, bytes]) => [`full/${name}`, bytes]))), 'full'
    )
    const { style, files, ignored } = await readStyle(dir)
    assert.deepEqual(style, styleOf())
    assert.deepEqual(Object.entries(files).map(([name, { type }]) => `${name} ${type}`), [
      'glyphs/Noto Sans Regular/0-255.pbf application/x-protobuf',
      'glyphs/Noto Sans Regular/256-511.pbf application/x-protobuf',
      'sprite.json application/json', 'sprite.png image/png', 'sprite@2x.json application/json',
      'sprite@2x.png image/png'
    ])
    assert.deepEqual(ignored, ['README.md', 'glyphs/LICENSE'])
  })

  const wrong = {
    'is not JSON': [{ 'style.json': '{' }, /is not JSON/],
    'is missing': [{ 'sprite.json': '{}' }, /there is no such file/],
    'has a sprite image that is not PNG': [{ ...folderOf(), 'sprite.png': 'GIF89a' }, /sprite\.png is no PNG/],
    'has a sprite that is not JSON': [{ ...folderOf(), 'sprite@2x.json': '<html>' }, /sprite@2x\.json is not JSON/],
    'has an empty range of glyphs': [{ ...folderOf(), 'glyphs/Noto Sans Regular/0-255.pbf': '' }, /0-255\.pbf is empty/]
  }
  for (const [what, [files, why]] of Object.entries(wrong)) {
    it(`refuses a style that ${what}`, () => assert.rejects(readStyle(folder.write(files)),
      error => error.code === 'BAD_STYLE' && why.test(error.message)))
  }

  it('reports a missing file',
    () => assert.rejects(readStyle('/nowhere/style.json'), { code: 'SOURCE_NOT_FOUND' }))
})

describe('a style', () => {
  const layers = new Set(['osm', 'relief'])
  const files = Object.keys(folderOf()).filter(name => name !== 'style.json')
  const why = (more, beside = []) => whyNotStyle(styleOf(more), beside, layers)

  it('may name layers of the store, with or without a time, and URLs of other servers', () => {
    for (const source of [
      { type: 'vector', url: 'couch://osm' }, { type: 'vector', url: 'couch://osm@2020' },
      { type: 'raster-dem', tiles: ['couch://relief/{z}/{x}/{y}.png'] },
      { type: 'vector', url: 'https://tiles.example.org/x.json' },
      { type: 'geojson', data: { type: 'FeatureCollection', features: [] } }
    ]) assert.equal(why({ sources: { osm: source } }), undefined, JSON.stringify(source))
    assert.equal(why({}, files), undefined)
  })

  it('is refused when it is malformed or names missing layers, files or fonts', () => {
    const source = value => ({ sources: { osm: value } })
    for (const [more, beside, words] of /** @type {[any, string[], RegExp][]} */ ([
      [{ version: 7 }, [], /no style of version 8/],
      [{ sources: [] }, [], /no style of version 8/],
      [{ layers: undefined }, [], /no style of version 8/],
      [source({ url: 'couch://osm' }), [], /source "osm" has no type/],
      [source(null), [], /source "osm" has no type/],
      [source({ type: 'vector' }), [], /has no url and no tiles/],
      [source({ type: 'vector', url: 'mbtiles://osm' }), [], /is at "mbtiles:\/\/osm": write couch:\/\/LAYER/],
      [source({ type: 'vector', url: 'osm.json' }), [], /is at "osm\.json"/],
      [source({ type: 'vector', url: 'couch://roads' }), [], /of the layer "roads", which the store does not have/],
      [source({ type: 'raster', tiles: ['https://x/{z}/{x}/{y}', 'couch://roads/{z}/{x}/{y}.png'] }),
        [], /of the layer "roads"/],
      [{ layers: [{ type: 'line' }] }, [], /no id or no type/],
      [{ layers: [{ id: 'a', type: 'line', source: 'toString' }] }, [], /layer "a" is of the source "toString"/],
      [{ sprite: 'sprites/sprite' }, [], /its sprite is at "sprites\/sprite"/],
      [{ sprite: [{ id: 'a', url: 'a' }] }, [], /sprites are not at whole addresses/],
      [{ sprite: [{ id: 'a', url: 'https://x/a' }] }, files, /several sprites/],
      [{}, ['sprite.json'], /sprite\.json has no sprite\.png/],
      [{}, ['sprite.json', 'sprite.png', 'sprite@2x.png'], /sprite@2x\.png has no sprite@2x\.json/],
      [{}, ['sprite@2x.json', 'sprite@2x.png'], /sprite@2x\.json has no sprite\.json/],
      [{ glyphs: 'fonts/{fontstack}/{range}.pbf' }, [], /its glyphs are at/],
      [{}, ['glyphs/Other/0-255.pbf'], /layer "names" needs the font "Noto Sans Regular"/],
      [
        {
          layers: [
            { id: 'a', type: 'symbol', layout: {
              'text-font': ['step', ['zoom'], ['literal', ['Noto Sans Regular']], 10, ['literal', ['Bold']]]
            } }
          ]
        }, files, /needs the font "Bold"/
      ]
    ])) assert.match(why(more, beside) ?? '', words, JSON.stringify(more))
    for (const odd of [null, 5, 'x', [], { version: 8 }]) {
      assert.match(whyNotStyle(odd, [], layers) ?? '', /no style of version 8/)
    }
  })
})
