// The colours of the demo: a calm map by day, the same map in a deep blue night, and the twilight between.

/** Steps of light from day, 0, to night: enough that the edge between two of them is hardly visible. */
export const NIGHT = 44

const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16))

/** What is drawn, by day and by night. */
export const inks = {
  sea: { day: '#b7d3e2', night: '#0c1a2e' },
  grid: { day: '#a9c8d9', night: '#13243b' }, // graticule
  coast: { day: '#6f9cb5', night: '#2f4a6b' },
  land: { day: '#f4efe4', night: '#1d2b42' },
  border: { day: '#b9a98f', night: '#42526c' },
  ice: { day: '#fdfdfb', night: '#2a3a54' }
}

// Smooth edges are mixtures of two inks: [one, other, part of the other].
const mixtures = [
  ['sea', 'sea', 0], ['sea', 'grid', 1], ['sea', 'coast', 0.35], ['sea', 'coast', 0.7], ['sea', 'coast', 1],
  ['coast', 'land', 0.35], ['coast', 'land', 0.7], ['land', 'land', 0], ['land', 'border', 0.5], ['land', 'border', 1],
  ['coast', 'ice', 0.5], ['ice', 'ice', 0]
]

const blend = (a, b, part) => a.map((value, index) => value + (b[index] - value) * part)

const coloursBy = hours => mixtures.map(([one, other, part]) =>
  blend(rgb(inks[one][hours]), rgb(inks[other][hours]), part))

/** Colours of the map by day: what a drawn pixel is matched with. */
export const dayColours = coloursBy('day')

const nightColours = coloursBy('night')

const EVENING = rgb('#8f6a78') // a little red just after sunset

/** How far to the night a level is: dusk falls a little faster at first. */
const darkness = level => level === 0 ? 0 : 0.05 + 0.95 * (1 - (1 - level / NIGHT) ** 1.25)

const warmth = level => level === 0 ? 0 : 0.16 * Math.max(0, 1 - level / (NIGHT * 0.6)) * Math.min(1, level / 6)

// A PNG indexes 256 colours. Wide areas show every step of light; on lines every fourth is enough.
const steps = mixtures.map(([one, other]) => one === other ? 1 : 4)
const stepsOf = base => NIGHT / steps[base] + 1
const starts = mixtures.map((_, base) => steps.slice(0, base).reduce((sum, __, before) => sum + stepsOf(before), 0))

const indices = Uint8Array.from({ length: mixtures.length * (NIGHT + 1) }, (_, at) => {
  const base = at % mixtures.length
  // upwards: even the first step is dusk
  return starts[base] + Math.ceil(Math.floor(at / mixtures.length) / steps[base])
})

/** Index of a base colour in the light of a level. */
export const shade = (base, level) => indices[base + level * mixtures.length]

/** Every base colour in every light: red, green and blue of each index. */
export const palette = Uint8Array.from(mixtures.flatMap((_, base) => {
  const colourAt = level =>
    blend(blend(dayColours[base], nightColours[base], darkness(level)), EVENING, warmth(level)).map(Math.round)
  return Array.from({ length: stepsOf(base) }, (__, step) => colourAt(step * steps[base])).flat()
}))

/**
 * Turns drawn pixels into indices of base colours.
 * @param {Uint8Array} pixels red, green, blue
 * @returns {Uint8Array}
 */
export function quantise (pixels) {
  const found = new Uint8Array(pixels.length / 3)
  const known = new Int16Array(1 << 18).fill(-1) // six bits a channel
  for (let at = 0, from = 0; at < found.length; at++, from += 3) {
    const key = pixels[from] >> 2 << 12 | pixels[from + 1] >> 2 << 6 | pixels[from + 2] >> 2
    if (known[key] < 0) known[key] = nearest(pixels[from], pixels[from + 1], pixels[from + 2])
    found[at] = known[key]
  }
  return found
}

function nearest (red, green, blue) {
  let best = 0
  let least = Infinity
  for (const [index, [r, g, b]] of dayColours.entries()) {
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2
    if (distance < least) [best, least] = [index, distance]
  }
  return best
}
