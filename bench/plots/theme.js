// Colours of the plots. The same name has the same colour in every plot: add a program or a kind of store here, one line.
// [on a light page, on a dark page]

/** @typedef {[light: string, dark: string]} Colour */

/** @type {Record<'ink' | 'soft' | 'grid' | 'ours' | 'others', Colour>} */
export const theme = {
  ink: ['#1f2933', '#e6edf3'], // words and whiskers
  soft: ['#52606d', '#9fb0c0'], // axes and what is said beside
  grid: ['#d5dbe1', '#38424d'], // lines behind the bars
  ours: ['#1f6feb', '#58a6ff'], // a bar of tilecouch's
  others: ['#8a96a3', '#77838f'] // a bar of anybody else's
}

/** @type {Record<string, Colour>} */
export const colours = {
  tilecouch: theme.ours,
  gateway: ['#1f6feb', '#58a6ff'],
  'gateway, hot': ['#1f6fec', '#58a6fe'],
  'gateway, cold': ['#79a9e8', '#3d6fb0'],
  CouchDB: ['#d1242f', '#ff7b72'],
  nginx: ['#1a7f37', '#56d364'],
  memcached: ['#9a6700', '#e3b341'],
  Redis: ['#8250df', '#c297ff'],
  DiskCache: ['#bf3989', '#ff9bce'],
  files: ['#107d7d', '#5ad1d1'],
  MapProxy: ['#bc4c00', '#ffa657'],
  'TileServer GL light': ['#7a5230', '#c9a27e']
}

/** For names that have none of their own, in turn. @type {Colour[]} */
export const palette = [
  ['#1f6fed', '#58a6fd'], ['#d1242e', '#ff7b71'], ['#1a7f38', '#56d365'], ['#9a6701', '#e3b342'], ['#8250de', '#c297fe'],
  ['#107d7e', '#5ad1d2'], ['#bf398a', '#ff9bcf'], ['#bc4c01', '#ffa658'], ['#52606e', '#9fb0c1'], ['#7a5231', '#c9a27f']
]

/**
 * A colour for each name of a plot.
 * @param {string[]} names
 * @returns {string[]} as on a light page: bench/plots/render.js knows what becomes of it on a dark one
 */
export function coloursOf (names) {
  const own = names.map(name => colours[name]?.[0])
  const rest = palette.map(([light]) => light).filter(light => !own.some(taken => taken && near(taken, light)))
  let at = 0
  return own.map(colour => colour ?? rest[at++ % rest.length])
}

/** The palette repeats the named colours but for a shade, so that each light colour names one dark one. */
const near = (one, other) => one.slice(0, 6) === other.slice(0, 6)

/** Every light colour with the dark one that stands for it. @returns {Colour[]} */
export const pairs = () => [...new Map([...Object.values(theme), ...Object.values(colours), ...palette]).entries()]
