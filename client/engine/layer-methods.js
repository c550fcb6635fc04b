// Code that the layers of all map libraries share. Each layer has methods and events of the time engine
// (history-methods.d.ts declares them). Layers on a canvas or with WebGL need bitmaps.

/** The events of HistoryEngine that a layer fires, too. */
export const LAYER_EVENTS = 'timechange timeload changes extent layerload storeerror storeback'

/** The methods of HistoryEngine that a layer has. */
export const METHODS = 'getTime setTime changes extent isShown changedTiles changesByTile preload retry refresh'

/**
 * Methods of the object in a field become methods of its holder. A method that returns that object returns the holder.
 * @param {any} holder a prototype @param {string} field @param {string[]} names
 */
export function forward (holder, field, names) {
  for (const name of names) {
    holder[name] = function (...args) {
      const result = this[field][name](...args)
      return result === this[field] ? this : result
    }
  }
}

/**
 * Methods of `history`, the engine of a layer, become methods of the layer. Bundlers leave out a layer that a page does
 * not import if the call is marked as pure.
 * @param {any} Layer a class @param {string} [methods] names
 * @returns {any} the class
 */
export function withHistoryMethods (Layer, methods = METHODS) {
  forward(Layer.prototype, 'history', methods.split(' '))
  return Layer
}

/** A tile with its versions, and the one that it shows. @param {any} history @param {any} tile {z, x, y} */
export const tileWithVersions = (history, { z, x, y }) => ({
  z, x, y,
  versions: history.index.versions(z, x, y),
  shown: history.index.at(z, x, y, history.getTime()) ?? null
})

/**
 * Decodes the image of a tile. Of an enlarged ancestor, it keeps only the part that is shown.
 * @param {Blob} blob
 * @param {{up: number, dx: number, dy: number}} picture
 * @param {ImageBitmapOptions} [options]
 */
export async function decodeBitmap (blob, { up, dx, dy }, options) {
  const whole = await createImageBitmap(blob, options)
  if (!up) return whole
  const [width, height] = [whole.width / 2 ** up, whole.height / 2 ** up]
  const part = await createImageBitmap(whole, dx * width, dy * height, Math.max(1, width), Math.max(1, height), options)
  whole.close()
  return part
}
