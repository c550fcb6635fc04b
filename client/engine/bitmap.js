// Images of tiles as bitmaps, for the map libraries that draw on a canvas or with WebGL.

/**
 * The image of a tile. Of an enlarged ancestor, only the part that is shown is kept.
 * @param {Blob} blob
 * @param {{up: number, dx: number, dy: number}} picture
 * @param {ImageBitmapOptions} [options]
 */
export async function decodeBitmap (blob, { up, dx, dy }, options) {
  const whole = await createImageBitmap(blob, options)
  if (!up) return whole
  const [width, height] = [whole.width / 2 ** up, whole.height / 2 ** up]
  const [left, top] = [Math.floor(dx * width), Math.floor(dy * height)]
  const part = await createImageBitmap(whole, left, top, Math.max(1, width), Math.max(1, height), options)
  whole.close()
  return part
}
