// Español.
import { counted } from '../counted.js'

const count = counted('es')
const times = count({ one: '# fecha', other: '# fechas' })

/** @type {typeof import('./en.js').en} */
export const es = {
  title: 'Capas y sus direcciones',
  lead: 'Copie la dirección que admite su programa y péguela allí.',
  map: 'Mapa',
  open: 'Abrir el mapa',
  time: 'Fecha',
  timeHint: 'Déjelo vacío para el mapa más reciente, o escriba una fecha como 2023, 2023-06 o 2023-06-01: esas direcciones muestran el mapa al final de ese periodo.',
  badTime: text => `«${text}» no es una fecha. Escriba 2023, 2023-06, 2023-06-01 o 2023-06-01T12:00:00Z.`,
  none: 'Ninguna capa se llama así.',
  empty: 'Este almacén no tiene capas que usted pueda ver.',
  failed: why => `No se pueden leer las capas: ${why}`,
  reading: 'Leyendo las capas …',
  images: 'imágenes',
  vector: 'teselas vectoriales',
  copy: (what, layer) => `Copiar: ${what}, ${layer}`,
  times: (number, first, last) => `${times(number)}, del ${first} al ${last}`,
  kinds: {
    xyz: { head: 'XYZ', use: 'Leaflet, OpenLayers, QGIS y la mayoría de los programas' },
    retina: { head: 'XYZ @2x', use: 'con el doble de píxeles; Leaflet: {r}, MapLibre: {ratio}' },
    tilejson: { head: 'TileJSON', use: 'MapLibre, OpenLayers' },
    style: { head: 'Estilo de mapa', use: 'MapLibre, QGIS' },
    qgis: { head: 'Archivo de capa de QGIS', use: 'arrástrelo a QGIS: una capa por edición' },
    wmts: { head: 'WMTS', use: 'QGIS, ArcGIS, GDAL: todas las capas con sus fechas' },
    ogc: { head: 'OGC API – Tiles', use: 'GDAL, MapProxy y otros clientes de la OGC API' },
    gdal: { head: 'GDAL', use: 'gdalinfo, gdal_translate y gdalwarp lo leen como un archivo' }
  }
}
