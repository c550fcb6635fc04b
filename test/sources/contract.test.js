// The contract of every kind of source of stored tiles: order, selection, rows, and the fields of a layer.
import assert from 'node:assert/strict'
import path from 'node:path'
import { Store, flipY, openSource, parseArea, selectorOf } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { inOrder, tilesByName, useRangeServer } from '../support/archives.js'
import { tilesOf, withSource } from '../support/memory-source.js'
import { useFolder } from '../support/folder.js'
import { backends } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { publishFunctions } from '../support/published.js'
import { tileListOf, writeArchive, writeMbtiles } from './archive-writers.js'

const T = '2024-03-01T00:00:00Z'
const SIDE = 8 // of a square in the middle of zoom 5
const names = ['0/0/0', '1/0/1', '2/3/0', '2/3/3', '10/2/1', '10/2/10', '10/2/2', '10/100/5', '10/10/5',
  '26/67108863/0', '26/0/67108863',
  ...Array.from({ length: SIDE * SIDE }, (_, index) => `5/${12 + index % SIDE}/${12 + Math.floor(index / SIDE)}`)]
const tiles = Object.fromEntries(names.map((name, index) => [name, png(index)]))
const placeOf = name => name.split('/').map(Number)

const metadata = {
  name: 'City', description: 'd', attribution: '©', version: 2, format: 'jpeg', minzoom: '0', maxzoom: 14,
  bounds: '5.9,45.8,10.5,47.8', center: '8,46,7', json: '{"vector_layers": [{"id": "water"}]}',
  type: 'baselayer', scheme: 'tms', id: 'x', 'tilecouch:time': T
}
const fields = {
  name: 'City', description: 'd', attribution: '©', version: '2', format: 'jpg', minzoom: 0, maxzoom: 14,
  bounds: [5.9, 45.8, 10.5, 47.8], center: [8, 46, 7], vector_layers: [{ id: 'water' }]
}
const invalid = { bounds: '1,2,3', center: '1,2', minzoom: 'low', maxzoom: '99', json: '{', 'tilecouch:time': 'soon' }

/** Options of `writeArchive`. With `metadata`, the header has the fields and the metadata have other bounds. */
const archiveOptions = layerMetadata => layerMetadata === metadata
  ? { header: { type: 3, minzoom: 0, maxzoom: 14, bounds: fields.bounds, center: fields.center },
    metadata: { ...layerMetadata, bounds: '1,2,3,4' } }
  : { metadata: layerMetadata }

/**
 * @typedef {object} Kind
 * @property {(imagesByTile: Record<string, Buffer>, layerMetadata?: any) => string | Promise<string>} write
 *   returns the name to open
 * @property {Record<string, any>} [options] of openSource
 * @property {'xyz' | 'tms'} [otherScheme] the scheme that counts rows from the other side
 * @property {Record<string, any>} [always] fields without metadata; undefined if the kind has no metadata
 * @property {boolean} [isCounted] the source knows its total
 */

/** @returns {Kind} */
function archive (leaf) {
  const server = useRangeServer()
  return {
    write (imagesByTile, layerMetadata = {}) {
      server.file = writeArchive({ tiles: imagesByTile, leaf, ...archiveOptions(layerMetadata) })
      return server.url
    },
    always: { format: 'png', minzoom: 0, maxzoom: 26 },
    isCounted: true
  }
}

const kinds = {
  'a folder': () => {
    const folder = useFolder()
    return {
      write: (imagesByTile, layerMetadata = {}) => folder.write({
        ...Object.fromEntries(Object.entries(imagesByTile).map(([name, bytes]) => [`${name}.png`, bytes])),
        'metadata.json': JSON.stringify(layerMetadata)
      }),
      otherScheme: 'tms',
      always: {}
    }
  },
  MBTiles: () => {
    const folder = useFolder()
    let count = 0
    return {
      write: (imagesByTile, layerMetadata = {}) =>
        writeMbtiles(folder.path(`city-${++count}.mbtiles`), tileListOf(imagesByTile), layerMetadata),
      otherScheme: 'xyz',
      always: {}
    }
  },
  'a PMTiles file': () => {
    const folder = useFolder()
    return {
      write (imagesByTile, layerMetadata = {}) {
        folder.write(
          { 'city.pmtiles': writeArchive({ tiles: imagesByTile, leaf: 20, ...archiveOptions(layerMetadata) }) }
        )
        return folder.path('city.pmtiles')
      },
      always: { format: 'png', minzoom: 0, maxzoom: 26 },
      isCounted: true
    }
  },
  'PMTiles on a web server': () => archive(undefined),
  'PMTiles on a web server, with leaves': () => archive(20)
}
for (const backend of backends) {
  kinds[`a layer of a store on ${backend.name}`] = () => ({
    async write (imagesByTile) {
      const url = await backend.database()
      const store = await Store.create(url)
      await store.defineLayer('osm')
      await store.write(tileListOf(imagesByTile).map(tile => ({ layer: 'osm', time: T, ...tile })))
      await publishFunctions(store)
      return url
    },
    options: { from: { layer: 'osm' } }
  })
  kinds[`a database of MapProxy on ${backend.name}`] = () => ({
    async write (imagesByTile) {
      const url = await backend.database()
      const couch = new Couch(url)
      await couch.request({ method: 'PUT' })
      await couch.bulk(tileListOf(imagesByTile).map(({ z, x, y, bytes }) => ({
        _id: `webmercator-${z}-${x}-${y}`,
        _attachments: { tile: { content_type: 'image/png', data: bytes.toString('base64') } }
      })))
      return url
    },
    options: { idTemplate: '%(grid_name)s-%(z)s-%(x)s-%(y)s' },
    otherScheme: 'tms'
  })
}

for (const [title, setUp] of Object.entries(kinds)) {
  describe(`${title} as a source`, function () {
    this.timeout(30000)
    const { write, options, otherScheme, always, isCounted } = setUp()

    const using = async (name, extraOptions, use) =>
      withSource(await openSource(name, { ...options, ...extraOptions }), use)

    it('yields its tiles with their bytes in the order of ids, to several readers at once too', async () => {
      const name = await write(tiles)
      await using(name, {}, async source => {
        const [first, ...otherLists] = await Promise.all([tilesByName(source), tilesOf(source), tilesOf(source)])
        assert.deepEqual(first, Object.fromEntries(names.map(tile => [tile, tiles[tile].toString('latin1')])))
        assert.deepEqual(Object.keys(first), inOrder(names))
        if (!options) assert.equal(source.name, path.basename(name))
        for (const list of [...otherLists, await tilesOf(source)]) assert.deepEqual(list, inOrder(names))
      })
    })

    it('yields only tiles of the requested zooms and area', async () => {
      const name = await write(tiles)
      const triangle = { type: 'Polygon', coordinates: [[[0, 0], [40, 0], [0, 40], [0, 0]]] }
      for (const [areaOptions, zooms] of [
        [undefined, { min: 1, max: 2 }], [undefined, { min: 5, max: 30 }], [undefined, { min: 27, max: 30 }],
        [{ bbox: [1, -10, 60, -1] }], [{ bbox: [1, -10, 60, -1] }, { min: 1, max: 2 }],
        [{ bbox: [170, -85, -170, 85] }],
        [{ polygon: triangle }, { min: 5, max: 5 }]
      ]) {
        const selected = selectorOf(areaOptions && parseArea(areaOptions), zooms)
        const expected = inOrder(names.filter(tile => selected(...placeOf(tile))))
        await using(name, { ...areaOptions, zooms }, async source => {
          assert.deepEqual(await tilesOf(source), expected, JSON.stringify([areaOptions, zooms]))
          if (isCounted) assert.equal(source.total, expected.length)
        })
      }
    })

    if (otherScheme) {
      it(`counts rows from the other side with --scheme ${otherScheme}, and keeps the order of ids`, async () => {
        const flipped = Object.fromEntries(names.map(name => {
          const [z, x, y] = placeOf(name)
          return [`${z}/${x}/${flipY(z, y)}`, tiles[name].toString('latin1')]
        }))
        await using(await write(tiles), { scheme: otherScheme }, async source => {
          const contentByTile = await tilesByName(source)
          assert.deepEqual(contentByTile, flipped)
          assert.deepEqual(Object.keys(contentByTile), inOrder(Object.keys(flipped)))
        })
      })
    }

    if (!always) return

    it('makes fields of a layer from its metadata', async () => {
      await using(await write(tiles, metadata), {}, source => {
        assert.deepEqual(source.fields, fields)
        assert.equal(source.time, T)
      })
    })

    it('is read without metadata, and with invalid metadata', async () => {
      for (const layerMetadata of [undefined, invalid]) {
        await using(await write(tiles, layerMetadata), {},
          source => assert.deepEqual([source.fields, source.time], [always, undefined]))
      }
    })
  })
}
