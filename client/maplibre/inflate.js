/**
 * The bytes of a tile as MapLibre takes them: not compressed, which stored vector tiles usually are.
 * @param {Blob} blob @returns {Promise<ArrayBuffer>}
 */
export async function inflate (blob) {
  const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer())
  if (first !== 0x1f || second !== 0x8b) return blob.arrayBuffer()
  return new Response(blob.stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()
}
