// The formats of tiles. Apart from images.js: who only shows tiles loads nothing that looks into their bytes.

/** Types by name: content type and the usual extension. */
export const formats = {
  png: { type: 'image/png', ext: 'png' },
  jpeg: { type: 'image/jpeg', ext: 'jpg' },
  webp: { type: 'image/webp', ext: 'webp' },
  avif: { type: 'image/avif', ext: 'avif' },
  mvt: { type: 'application/vnd.mapbox-vector-tile', ext: 'pbf' }
}

/** What the tiles of a layer are: PNG unless it says otherwise. @param {Record<string, any>} layer */
export const formatOfLayer = layer => Object.values(formats).find(({ ext }) => ext === layer.format) ?? formats.png

/** The usual extension of a content type; nothing for what is no tile's. @param {string | undefined} type */
export const extensionOf = type => Object.values(formats).find(format => format.type === type)?.ext
