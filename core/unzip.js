/** @param {Uint8Array} bytes of a vector tile, gzipped or not @returns {Promise<Uint8Array>} */
export async function unzipTile (bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  const stream = new Blob([/** @type {any} */ (bytes)]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
