// Bytes as text, and back.
const PIECE = 0x6000 // bytes: a multiple of 3, and no more arguments than a call may have

/** @param {string} text */
export const fromBase64 = text => Uint8Array.from(atob(text), character => character.charCodeAt(0))

/** @param {any} bytes */
export function toBase64 (bytes) {
  if (bytes.toBase64) return bytes.toBase64() // browsers of 2025 on
  const pieces = []
  for (let at = 0; at < bytes.length; at += PIECE) pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))))
  return pieces.join('')
}
