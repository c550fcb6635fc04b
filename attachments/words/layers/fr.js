// Français.
import { counted } from '../counted.js'

const count = counted('fr')
const times = count({ one: '# date', other: '# dates' })

/** @type {typeof import('./en.js').en} */
export const fr = {
  title: 'Couches et leurs adresses',
  lead: 'Copiez l’adresse que votre programme accepte et collez-la.',
  map: 'Carte',
  open: 'Ouvrir la carte',
  time: 'Date',
  timeHint: 'Laissez vide pour la carte la plus récente, ou écrivez une date comme 2023, 2023-06 ou 2023-06-01 : ces adresses montrent la carte à la fin de cette période.',
  badTime: text => `« ${text} » n’est pas une date. Écrivez 2023, 2023-06, 2023-06-01 ou 2023-06-01T12:00:00Z.`,
  none: 'Aucune couche ne porte ce nom.',
  empty: 'Cette base n’a aucune couche que vous puissiez voir.',
  failed: why => `Impossible de lire les couches : ${why}`,
  reading: 'Lecture des couches …',
  images: 'images',
  vector: 'tuiles vectorielles',
  copy: (what, layer) => `Copier : ${what}, ${layer}`,
  times: (number, first, last) => `${times(number)}, du ${first} au ${last}`,
  kinds: {
    xyz: { head: 'XYZ', use: 'Leaflet, OpenLayers, QGIS et la plupart des programmes' },
    retina: { head: 'XYZ @2x', use: 'avec deux fois plus de pixels ; Leaflet : {r}, MapLibre : {ratio}' },
    tilejson: { head: 'TileJSON', use: 'MapLibre, OpenLayers' },
    style: { head: 'Style de carte', use: 'MapLibre, QGIS' },
    qgis: { head: 'Fichier de couche QGIS', use: 'à déposer dans QGIS : une couche par édition' },
    wmts: { head: 'WMTS', use: 'QGIS, ArcGIS, GDAL : toutes les couches avec leurs dates' },
    ogc: { head: 'OGC API – Tiles', use: 'GDAL, MapProxy et autres clients de l’OGC API' },
    gdal: { head: 'GDAL', use: 'gdalinfo, gdal_translate et gdalwarp le lisent comme un fichier' }
  }
}
