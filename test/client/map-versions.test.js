// Tests that the adapters refuse unsupported versions of their map libraries, and that docs/client.md lists the
// internals that they use.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = name => readFileSync(path.join(root, name), 'utf8')
const sources = folder => readdirSync(path.join(root, folder), { recursive: true }).map(String)
  .filter(name => name.endsWith('.js')).map(name => read(path.join(folder, name))).join('\n')

/**
 * Loads a module of client/ with some of its imports replaced.
 * @param {string} entry @param {RegExp} filter of the imports that are replaced
 * @param {string} contents of the replacement
 */
async function loadBeside (entry, filter, contents) {
  const { outputFiles: [{ text }] } = await build({
    entryPoints: [path.join(root, entry)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
    plugins: [
      {
        name: 'another module',
        setup (bundler) {
          bundler.onResolve({ filter }, () => ({ path: 'other', namespace: 'other' }))
          bundler.onLoad({ filter: /./, namespace: 'other' }, () => ({ contents }))
        }
      }
    ]
  })
  return import(`data:text/javascript,${encodeURIComponent(text)}`)
}

/** @param {string} entry @param {string} [version] @param {string} [loadTile] body of the method of sources */
const loadBesideMapLibre = (entry, version = '6.17.0', loadTile = '') => loadBeside(entry, /^maplibre-gl$/, `
  class Source {
    async loadTile (tile) { ${loadTile} }
  }
  export const RasterTileSource = Source
  export const VectorTileSource = Source
  export const addProtocol = () => {}
  export const addSourceType = (type, Class) => { (globalThis.sourceTypes ??= {})[type] = Class }
  export const getVersion = () => '${version}'`)

const loaders = {
  'MapLibre GL JS': version => loadBesideMapLibre('client/maplibre/history.js', version),
  OpenLayers: version => loadBeside('client/openlayers/history.js', /(^ol|\.)\/util\.js$/,
    read('node_modules/ol/util.js').replace(/VERSION = '[^']*'/, `VERSION = '${version}'`))
}

/** For each map library: its source text, the name of its npm package, and the folder of its adapter. */
const libraries = {
  Leaflet: { text: () => read('node_modules/leaflet/dist/leaflet-src.js'), name: 'leaflet', folder: 'client/leaflet' },
  'MapLibre GL JS': {
    text: () =>
      ['maplibre-gl.mjs', 'maplibre-gl-shared.mjs'].map(name => read(`node_modules/maplibre-gl/dist/${name}`)).join(),
    name: 'maplibre-gl',
    folder: 'client/maplibre'
  },
  OpenLayers: { text: () => sources('node_modules/ol'), name: 'ol', folder: 'client/openlayers' }
}

describe('the internals of the map libraries', () => {
  for (const [library, refused, supported] of [
    ['MapLibre GL JS', ['7.0.0', '5.23.0', '4.7.1'], ['6.17.0', '5.24.0']],
    ['OpenLayers', ['11.0.0', '10.10.0', '9.2.4'], ['10.11.0', '10.20.1']]
  ]) {
    it(`are not used in unsupported versions of ${library}: the adapter throws an error`, async () => {
      for (const version of refused) {
        await assert.rejects(loaders[library](version), ({ code, message }) => {
          assert.equal(code, 'MAP_VERSION')
          assert.match(message, new RegExp(`needs (MapLibre GL JS 6 or 5.24|ol 10.11), not ${version}$`))
          return true
        })
      }
      for (const version of supported) assert.ok((await loaders[library](version)).historyLayer)
    })
  }

  for (const [library, { text, name, folder }] of Object.entries(libraries)) {
    it(`of ${library} are listed in docs/client.md, with the version that is installed`, () => {
      const [, tested, , internals] = read('docs/client.md').split('## Internals of the map libraries')[1].split('\n')
        .find(line => line.startsWith(`| ${library} |`))?.slice(2).split(' | ') ?? []
      assert.equal(tested, JSON.parse(read(`node_modules/${name}/package.json`)).version)
      const listed = [...internals.matchAll(/`(\w+)`/g)].map(([, member]) => member)
      const [adapterText, libraryText] = [sources(folder), text()]
      for (const member of listed) {
        assert.match(adapterText, new RegExp(`\\b${member}\\b`), `${member} is used`)
        assert.match(libraryText, new RegExp(`\\b${member}\\b`), `${member} is there`)
      }
      const isInternal = member => new RegExp(`this\\.${member}\\b`).test(libraryText)
      const used = [...adapterText.matchAll(/\b(?:_\w+|\w+_)\b/g)].map(([member]) => member).filter(isInternal)
      assert.deepEqual([...new Set(used)].filter(member => !listed.includes(member) && !OWN_NAMES.has(member)), [])
    })
  }
})

/** Members of our classes that have the same name as an internal of the library. */
const OWN_NAMES = new Set(['_entries', '_move', '_parse', '_timer', '_zoom'])

describe('a source of MapLibre', () => {
  it('loads a tile at the second request when the first one failed', async () => {
    const { owners, register, sourceOf } = await loadBesideMapLibre('client/maplibre/sources.js', undefined, `
      globalThis.attempts = (globalThis.attempts ?? 0) + 1
      if (globalThis.attempts === 1) throw new Error('the request failed')
      tile.texture = { update () {} }`)
    const image = { width: 1, close () {} }
    const history = {
      isOnMap: true,
      add (entry) {
        entry.view.show(image)
        entry.ready()
      }
    }
    owners.set('owner', { history, _connect () {} })
    register()
    const { type } = sourceOf('owner', false)
    const source = new globalThis.sourceTypes[type]('id')
    source._options = { owner: 'owner' }
    source.maxzoom = 3
    source.onAdd({ painter: { getTileTexture: () => undefined } })
    const tile = { tileID: { canonical: { z: 1, x: 0, y: 0 } } }
    await assert.rejects(source.loadTile(tile), /the request failed/)
    await source.loadTile(tile)
    assert.equal(tile.state, 'loaded')
  })
})
