// English. A text is a string, or a function of what it says; the other languages have the same fields.
import { counted } from '../counted.js'

const count = counted('en')
const times = count({ one: '# time', other: '# times' })

export const en = {
  title: 'Layers and their addresses',
  lead: 'Copy the address that your program takes, and paste it there.',
  map: 'Map',
  open: 'Open the map',
  time: 'Time',
  timeHint: 'Leave it empty for the newest map, or write a time such as 2023, 2023-06 or 2023-06-01: addresses with it show the map at the end of that time.',
  badTime: text => `“${text}” is no time. Write 2023, 2023-06, 2023-06-01 or 2023-06-01T12:00:00Z.`,
  none: 'No layer is called so.',
  empty: 'This store has no layers that you may see.',
  failed: why => `The layers cannot be read: ${why}`,
  reading: 'Reading the layers …',
  images: 'images',
  vector: 'vector tiles',
  copy: (what, layer) => `Copy: ${what}, ${layer}`,
  times: (number, first, last) => `${times(number)}, ${first} to ${last}`,
  kinds: {
    xyz: { head: 'XYZ', use: 'Leaflet, OpenLayers, QGIS and most programs' },
    retina: { head: 'XYZ @2x', use: 'with twice the pixels; Leaflet: {r}, MapLibre: {ratio}' },
    tilejson: { head: 'TileJSON', use: 'MapLibre, OpenLayers' },
    style: { head: 'Map style', use: 'MapLibre, QGIS' },
    qgis: { head: 'QGIS layer file', use: 'drop it into QGIS: a layer for each edition' },
    wmts: { head: 'WMTS', use: 'QGIS, ArcGIS, GDAL: all layers, with their times' },
    ogc: { head: 'OGC API – Tiles', use: 'GDAL, MapProxy and other clients of the OGC API' },
    gdal: { head: 'GDAL', use: 'gdalinfo, gdal_translate and gdalwarp read it as a file' }
  }
}
