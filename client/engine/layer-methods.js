// Code that the layers of all map libraries share. Each layer has methods and events of the time engine
// (history-methods.d.ts declares them). Layers on a canvas or with WebGL need bitmaps.

/** The events of HistoryEngine that a layer fires, too. */
export const LAYER_EVENTS = 'timechange timeload changes extent layerload storeerror storeback'

/** The methods of HistoryEngine that a layer has. */
export const METHODS = 'getTime setTime changes extent isShown changedTiles changesByTile preload retry refresh'

/**
 * Methods of `history`, the engine of a layer, become methods of the layer. A method that returns the engine returns
 * the layer. Bundlers leave out a layer that a page does not import if the call is marked as pure.
 * @param {any} Layer a class @param {string} [methods] names
 * @returns {any} the class
 */
export function withHistoryMethods (Layer, methods = METHODS) {
  for (const name of methods.split(' ')) {
    Layer.prototype[name] = function (...args) {
      const result = this.history[name](...args)
      return result === this.history ? this : result
    }
  }
  return Layer
}

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
