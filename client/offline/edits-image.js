// An image that a page gives for a tile: its bytes, and what they are.
import { TilecouchError, inspectTile } from '../../core/index.js'

const MOST = 64e6 // bytes: a vector tile that unpacks to more is not a tile

/**
 * @param {Blob | ArrayBuffer | ArrayBufferView} image
 * @returns {Promise<{bytes: Uint8Array, type: string}>} type: read from the bytes, whatever a Blob says
 */
export async function readImage (image) {
  const bytes = await bytesOf(image)
  const unpacked = bytes[0] === 0x1f && bytes[1] === 0x8b ? await unpack(bytes) : undefined
  const { type } = inspectTile(bytes, { gunzip: () => unpacked?.bytes ?? fail(unpacked?.why) })
  return { bytes, type }
}

/** @returns {Promise<Uint8Array>} */
async function bytesOf (image) {
  if (image instanceof Blob) return new Uint8Array(await image.arrayBuffer())
  if (ArrayBuffer.isView(image)) return new Uint8Array(image.buffer, image.byteOffset, image.byteLength)
  if (image instanceof ArrayBuffer) return new Uint8Array(image)
  throw new TilecouchError('BAD_OPTION', { option: 'image', value: image === null ? null : typeof image, why: 'a Blob, an ArrayBuffer or a Uint8Array' })
}

async function unpack (packed) {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const chunks = []
  let length = 0
  try {
    for (;;) {
      const { value } = await reader.read()
      if (!value) return { bytes: new Uint8Array(await new Blob(chunks).arrayBuffer()) }
      length += value.length
      if (length > MOST) return { why: 'it unpacks to too much' }
      chunks.push(value)
    }
  } catch (error) {
    return { why: error.message }
  } finally {
    reader.cancel().catch(() => {})
  }
}

const fail = why => { throw new Error(why) }
