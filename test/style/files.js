// A style with all parts that a style may have.
import { png } from '../support/tiles.js'

export const [T1, T2, T3] = ['2022-01-01T00:00:00Z', '2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/** @param {Record<string, any>} [more] fields of the style */
export const styleOf = more => ({
  version: 8,
  name: 'Streets',
  sources: { osm: { type: 'vector', url: 'couch://osm' }, relief: {
    type: 'raster', tiles: ['couch://relief/{z}/{x}/{y}.png'], tileSize: 256
  } },
  layers: [
    { id: 'land', type: 'background', paint: { 'background-color': '#eee' } },
    { id: 'names', type: 'symbol', source: 'osm', 'source-layer': 'place', layout: {
      'text-field': ['get', 'name'], 'text-font': ['Noto Sans Regular']
    } }
  ],
  ...more
})

/** Files of a folder. @param {Record<string, any>} [more] fields of the style */
export const folderOf = more => ({
  'style.json': JSON.stringify(styleOf(more)),
  'sprite.json': '{"dot":{"x":0,"y":0,"width":1,"height":1,"pixelRatio":1}}',
  'sprite.png': png(1),
  'sprite@2x.json': '{"dot":{"x":0,"y":0,"width":2,"height":2,"pixelRatio":2}}',
  'sprite@2x.png': png(2),
  'glyphs/Noto Sans Regular/0-255.pbf': Buffer.from([10, 0, 1]),
  'glyphs/Noto Sans Regular/256-511.pbf': Buffer.from([10, 0, 2])
})
