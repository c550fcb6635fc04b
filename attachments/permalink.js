// The address of what is shown: #daylight@2024-06-20T12:00:00Z/3/47.100/8.500, with layer@time as everywhere in tilecouch.

const REFERENCE = /^([a-z0-9][a-z0-9_-]{0,62})(?:@([0-9TZ:-]+))?$/

/**
 * @param {string} hash
 * @returns {{layer?: string, time?: string, view?: {z: number, lat: number, lon: number}}} what of it makes sense
 */
export function parse (hash) {
  const [reference = '', ...numbers] = decode(hash.replace(/^#/, '')).split('/')
  const match = REFERENCE.exec(reference)
  const [z, lat, lon] = numbers.map(text => text.trim() === '' ? NaN : Number(text))
  const valid = numbers.length === 3 && z >= 0 && z <= 30 && Math.abs(lat) <= 90 && Math.abs(lon) <= 360
  return { ...(match && { layer: match[1], time: match[2] }), ...(valid && { view: { z, lat, lon } }) }
}

/** @param {{layer: string, time?: string, view: {z: number, lat: number, lon: number}}} shown */
export function format ({ layer, time, view: { z, lat, lon } }) {
  const digits = Math.max(2, Math.ceil(z / 3)) // about a pixel
  return `#${time ? `${layer}@${time}` : layer}/${+z.toFixed(2)}/${lat.toFixed(digits)}/${lon.toFixed(digits)}`
}

function decode (text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
