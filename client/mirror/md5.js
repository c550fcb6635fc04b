// The digest that CouchDB keeps of attachments. Browsers have no MD5; this one takes a tenth of a millisecond for a tile.
import { toBase64 } from './base64.js'

const CONSTANTS = Int32Array.from({ length: 64 }, (_, at) => Math.floor(Math.abs(Math.sin(at + 1)) * 2 ** 32))

/** As documents name it. @param {Uint8Array} bytes */
export const digestOf = bytes => `md5-${toBase64(md5(bytes))}`

/** @param {Uint8Array} bytes @returns {Uint8Array} 16 bytes */
export function md5 (bytes) {
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476)
  const words = new Int32Array(16)
  const whole = bytes.length & ~63
  for (let at = 0; at < whole; at += 64) {
    read(words, bytes, at)
    mix(state, words)
  }
  // the rest, a bit that ends it, and the length in bits
  const rest = new Uint8Array(bytes.length - whole < 56 ? 64 : 128)
  rest.set(bytes.subarray(whole))
  rest[bytes.length - whole] = 0x80
  const length = new DataView(rest.buffer, rest.length - 8)
  length.setUint32(0, bytes.length << 3, true)
  length.setUint32(4, Math.floor(bytes.length / 2 ** 29), true)
  for (let at = 0; at < rest.length; at += 64) {
    read(words, rest, at)
    mix(state, words)
  }
  const digest = new DataView(new ArrayBuffer(16))
  state.forEach((word, at) => digest.setInt32(4 * at, word, true))
  return new Uint8Array(digest.buffer)
}

/** A block as words, low bytes first. */
function read (words, bytes, at) {
  for (let word = 0; word < 16; word++, at += 4) words[word] = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24
}

/** Four kinds of steps, sixteen of each; four at a time, so that no word has to change its place. */
function mix (state, words) {
  let [a, b, c, d] = state
  let at = 0
  for (; at < 16; at += 4) {
    a = turn(a + (d ^ (b & (c ^ d))) + CONSTANTS[at] + words[at], 7) + b | 0
    d = turn(d + (c ^ (a & (b ^ c))) + CONSTANTS[at + 1] + words[at + 1], 12) + a | 0
    c = turn(c + (b ^ (d & (a ^ b))) + CONSTANTS[at + 2] + words[at + 2], 17) + d | 0
    b = turn(b + (a ^ (c & (d ^ a))) + CONSTANTS[at + 3] + words[at + 3], 22) + c | 0
  }
  for (; at < 32; at += 4) {
    a = turn(a + (c ^ (d & (b ^ c))) + CONSTANTS[at] + words[5 * at + 1 & 15], 5) + b | 0
    d = turn(d + (b ^ (c & (a ^ b))) + CONSTANTS[at + 1] + words[5 * at + 6 & 15], 9) + a | 0
    c = turn(c + (a ^ (b & (d ^ a))) + CONSTANTS[at + 2] + words[5 * at + 11 & 15], 14) + d | 0
    b = turn(b + (d ^ (a & (c ^ d))) + CONSTANTS[at + 3] + words[5 * at + 16 & 15], 20) + c | 0
  }
  for (; at < 48; at += 4) {
    a = turn(a + (b ^ c ^ d) + CONSTANTS[at] + words[3 * at + 5 & 15], 4) + b | 0
    d = turn(d + (a ^ b ^ c) + CONSTANTS[at + 1] + words[3 * at + 8 & 15], 11) + a | 0
    c = turn(c + (d ^ a ^ b) + CONSTANTS[at + 2] + words[3 * at + 11 & 15], 16) + d | 0
    b = turn(b + (c ^ d ^ a) + CONSTANTS[at + 3] + words[3 * at + 14 & 15], 23) + c | 0
  }
  for (; at < 64; at += 4) {
    a = turn(a + (c ^ (b | ~d)) + CONSTANTS[at] + words[7 * at & 15], 6) + b | 0
    d = turn(d + (b ^ (a | ~c)) + CONSTANTS[at + 1] + words[7 * at + 7 & 15], 10) + a | 0
    c = turn(c + (a ^ (d | ~b)) + CONSTANTS[at + 2] + words[7 * at + 14 & 15], 15) + d | 0
    b = turn(b + (d ^ (c | ~a)) + CONSTANTS[at + 3] + words[7 * at + 21 & 15], 21) + c | 0
  }
  state[0] += a
  state[1] += b
  state[2] += c
  state[3] += d
}

const turn = (word, bits) => word << bits | word >>> (32 - bits)
