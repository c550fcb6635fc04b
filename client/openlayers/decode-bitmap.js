// How images of tiles become what OpenLayers draws.

/**
 * An image for canvas and WebGL alike. Of an enlarged ancestor only the part that is shown is kept.
 * @param {Blob} blob
 * @param {{up: number, dx: number, dy: number}} picture
 */
export async function decodeBitmap (blob, { up, dx, dy }) {
  const options = /** @type {const} */ ({ premultiplyAlpha: 'none' }) // WebGL layers multiply themselves
  const whole = await createImageBitmap(blob, options)
  if (!up) return whole
  const [width, height] = [whole.width / 2 ** up, whole.height / 2 ** up]
  const part = await createImageBitmap(
    whole, Math.floor(dx * width), Math.floor(dy * height), Math.max(1, width), Math.max(1, height), options
  )
  whole.close()
  return part
}
