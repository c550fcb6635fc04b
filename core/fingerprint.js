/** A hash of 64 bits, made of two halves (FNV-1a). It distinguishes texts, and is not cryptographic. */
export function fingerprint (text) {
  let [a, b] = [0x811c9dc5, 0xcbf29ce4]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code ^ index, 0x01000193)
  }
  return [a, b].map(half => (half >>> 0).toString(16).padStart(8, '0')).join('')
}
