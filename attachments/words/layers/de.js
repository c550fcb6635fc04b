// Deutsch.
import { counted } from '../counted.js'

const count = counted('de')
const times = count({ one: '# Zeitpunkt', other: '# Zeitpunkte' })

/** @type {typeof import('./en.js').en} */
export const de = {
  title: 'Ebenen und ihre Adressen',
  lead: 'Kopieren Sie die Adresse für Ihr Programm und fügen Sie sie dort ein.',
  map: 'Karte',
  open: 'Karte öffnen',
  time: 'Zeit',
  timeHint: 'Leer für die neueste Karte, oder eine Zeit wie 2023, 2023-06 oder 2023-06-01: Adressen damit zeigen die Karte am Ende dieser Zeit.',
  badTime: text => `„${text}“ ist keine Zeit. Schreiben Sie 2023, 2023-06, 2023-06-01 oder 2023-06-01T12:00:00Z.`,
  none: 'Keine Ebene heißt so.',
  empty: 'Dieser Speicher hat keine Ebenen, die Sie sehen dürfen.',
  failed: why => `Die Ebenen können nicht gelesen werden: ${why}`,
  reading: 'Die Ebenen werden gelesen …',
  images: 'Bilder',
  vector: 'Vektorkacheln',
  copy: (what, layer) => `Kopieren: ${what}, ${layer}`,
  times: (number, first, last) => `${times(number)}, ${first} bis ${last}`,
  kinds: {
    xyz: { head: 'XYZ', use: 'Leaflet, OpenLayers, QGIS und die meisten Programme' },
    retina: { head: 'XYZ @2x', use: 'mit doppelt so vielen Pixeln; Leaflet: {r}, MapLibre: {ratio}' },
    tilejson: { head: 'TileJSON', use: 'MapLibre, OpenLayers' },
    style: { head: 'Kartenstil', use: 'MapLibre, QGIS' },
    qgis: { head: 'QGIS-Layerdatei', use: 'in QGIS ziehen: ein Layer je Ausgabe' },
    wmts: { head: 'WMTS', use: 'QGIS, ArcGIS, GDAL: alle Ebenen mit ihren Zeiten' },
    ogc: { head: 'OGC API – Tiles', use: 'GDAL, MapProxy und andere Programme mit OGC API' },
    gdal: { head: 'GDAL', use: 'gdalinfo, gdal_translate und gdalwarp lesen es wie eine Datei' }
  }
}
