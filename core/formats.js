// The formats of tiles. They are not in images.js, so that a page that only shows tiles does not load code that checks
// bytes.

/** Types by name: content type and the usual extension. */
export const formats = {
  png: { type: 'image/png', ext: 'png' },
  jpeg: { type: 'image/jpeg', ext: 'jpg' },
  webp: { type: 'image/webp', ext: 'webp' },
  avif: { type: 'image/avif', ext: 'avif' },
  mvt: { type: 'application/vnd.mapbox-vector-tile', ext: 'pbf' }
}

/** The format of the tiles of a layer, by default PNG. @param {Record<string, any>} layer */
export const formatOfLayer = layer => Object.values(formats).find(({ ext }) => ext === layer.format) ?? formats.png

/**
 * The usual extension of a content type; undefined if it is not the type of a tile.
 * @param {string | undefined} type
 */
export const extensionOf = type => Object.values(formats).find(format => format.type === type)?.ext
