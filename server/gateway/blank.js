// A tile that shows nothing, for clients that cannot do without an image.

const MOST = 16 // sizes kept; layers have one or two between them

/** @type {Map<number, Promise<Buffer>>} */
const made = new Map()

/**
 * A transparent PNG.
 * @param {number} size pixels a side
 * @returns {Promise<Buffer>}
 */
export function blankTile (size) {
  const known = made.get(size)
  if (known) return known
  const tile = make(size)
  if (made.size >= MOST) made.clear()
  made.set(size, tile)
  tile.catch(() => made.delete(size))
  return tile
}

async function make (size) {
  const { default: sharp } = await import('sharp') // not needed by gateways that have no such tiles
  const background = { r: 0, g: 0, b: 0, alpha: 0 }
  return sharp({ create: { width: size, height: size, channels: 4, background } }).png({ palette: true }).toBuffer()
}
