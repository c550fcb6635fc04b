// View keys as bytes that sort as CouchDB sorts keys: null, false, true, numbers, strings, arrays, objects.
// CouchDB compares strings with ICU, where "l_b" < "l-b" < "l9" < "lB": punctuation before digits before letters,
// case last. Characters beyond ASCII follow in code point order, which differs from ICU for accented letters and agrees
// for the high sentinels such as \ufff0. As in ICU, tabs and the ends of lines come before the space, each as itself,
// and all other control characters are ignored.

// in the order of types
const [END, NULL, FALSE, TRUE, NUMBER, STRING, ARRAY, OBJECT] = Array(8).keys()

/** Printable ASCII as ICU sorts it, without regard to case. Indexes on disks hold these places: none may change. */
const ORDER = ' _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz'

const CONTROL = 1 // and 0 ends a string
const ranks = new Uint8Array(128).fill(CONTROL) // by code
for (const [place, character] of [...ORDER].entries()) {
  ranks[character.charCodeAt(0)] = place + 2
  ranks[character.toUpperCase().charCodeAt(0)] = place + 2
}

const BEYOND_ASCII = 0xfe // above every rank; the code point follows
const IGNORED = /[\0-\x08\x0e-\x1f\x7f]/g // eslint-disable-line no-control-regex

function pushString (out, rawText) {
  const text = rawText.replace(IGNORED, '')
  let hasCapitals = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 128) {
      out.push(ranks[code])
      if (ranks[code] === CONTROL) out.push(code)
      hasCapitals ||= code >= 65 && code <= 90
    } else out.push(BEYOND_ASCII, code >> 8, code & 0xff)
  }
  out.push(END)
  // strings that differ in case only: small letters first
  if (hasCapitals) {
    for (let i = 0; i < text.length; i++) out.push(text.charCodeAt(i) >= 65 && text.charCodeAt(i) <= 90 ? 2 : 1)
  }
  out.push(END)
}

const scratch = Buffer.alloc(8)

function pushNumber (out, number) {
  scratch.writeDoubleBE(number === 0 ? 0 : number) // no -0
  // negative numbers: all bits turned, so that smaller sorts first; others: the sign bit set
  const negative = scratch[0] & 0x80
  for (const byte of scratch) out.push(negative ? byte ^ 0xff : byte)
  if (!negative) out[out.length - 8] |= 0x80
}

function push (out, value) {
  if (value === null || value === undefined) out.push(NULL)
  else if (value === false) out.push(FALSE)
  else if (value === true) out.push(TRUE)
  else if (typeof value === 'number') {
    out.push(NUMBER)
    pushNumber(out, value)
  } else if (typeof value === 'string') {
    out.push(STRING)
    pushString(out, value)
  } else if (Array.isArray(value)) {
    out.push(ARRAY)
    for (const item of value) push(out, item)
    out.push(END)
  } else {
    out.push(OBJECT)
    for (const [name, item] of Object.entries(value)) {
      push(out, name)
      push(out, item)
    }
    out.push(END)
  }
}

export function encodeKey (key) {
  /** @type {number[]} */
  const out = []
  push(out, key)
  return Buffer.from(out)
}
