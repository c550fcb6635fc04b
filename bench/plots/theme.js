// Colours of the plots. A name has the same colour in every plot. Add a new program or kind of store below.

/** @typedef {[light: string, dark: string]} Colour on a light page, on a dark page */

/** @type {Record<string, Colour>} */
const hues = {
  blue: ['#1f6feb', '#58a6ff'],
  sky: ['#79a9e8', '#8fb8e8'],
  navy: ['#0a3d91', '#2f6fd6'],
  red: ['#d1242f', '#ff7b72'],
  green: ['#1a7f37', '#56d364'],
  gold: ['#9a6700', '#e3b341'],
  violet: ['#8250df', '#c297ff'],
  teal: ['#107d7d', '#5ad1d1'],
  pink: ['#bf3989', '#ff9bce'],
  orange: ['#bc4c00', '#ffa657'],
  brown: ['#7a5230', '#c9a27e'],
  grey: ['#8a96a3', '#77838f']
}

/** @type {Record<'ink' | 'soft' | 'grid' | 'ours' | 'others', Colour>} */
export const theme = {
  ink: ['#1f2933', '#e6edf3'], // text and whiskers
  soft: ['#52606d', '#9fb0c0'], // axes and notes
  grid: ['#d5dbe1', '#38424d'], // lines behind the bars
  ours: hues.blue, // bars of tilecouch
  others: hues.grey // bars of other programs
}

/**
 * Colours by name, or by the part of a name before its first comma. Blue means tilecouch.
 * @type {Record<string, Colour>}
 */
export const colours = {
  tilecouch: hues.blue,
  'tilecouch mirror': hues.blue,
  gateway: hues.blue,
  'gateway, cold': hues.sky,
  'gateway, hot, 2 workers': hues.navy,
  'history client: only versions that differ': hues.blue,
  'POST …/by_tile/queries': hues.blue,
  'history client into its index': hues.sky,
  'nginx, tree, now': hues.blue,
  'nginx, tree, first edition': hues.sky,
  'nginx, tree, last edition': hues.navy,
  CouchDB: hues.red,
  'CouchDB’s replicator': hues.red,
  'CouchDB, tile by tile': hues.red,
  'CouchDB, batches of 50': hues.brown,
  'CouchDB, plain GET': hues.pink,
  nginx: hues.green,
  memcached: hues.gold,
  Redis: hues.violet,
  DiskCache: hues.pink,
  files: hues.teal,
  MapProxy: hues.orange,
  'TileServer GL light': hues.brown,
  'a connection for each request': theme.others,
  'connections kept (-k)': hues.violet,
  'tilecouch load': hues.blue,
  'tile ids': hues.sky,
  'random ids': hues.red,
  'ids of 10 digits': hues.green,
  'a PUT each': hues.orange,
  'page cache warm': hues.orange,
  'page cache dropped': hues.grey
}

/** The colours of names without a colour of their own, or whose colour is taken, in turn. @type {Colour[]} */
const palette = [hues.red, hues.green, hues.gold, hues.violet,
  hues.teal, hues.pink, hues.orange, hues.brown, hues.sky, hues.navy, hues.grey]

/** A light colour for each name of a plot. The colours differ as long as there are enough. @returns {string[]} */
export function coloursOf (names) {
  const takenColours = new Set()
  const take = colour => colour && !takenColours.has(colour) && takenColours.add(colour) ? colour : undefined
  const exact = names.map(name => take(colours[name]))
  const near = names.map((name, index) => exact[index] ?? take(colours[name.split(',')[0]]))
  const free = palette.filter(colour => !takenColours.has(colour))
  let at = 0
  return near.map(colour => (colour ?? (free.length ? free : palette)[at++ % (free.length || palette.length)])[0])
}

/** Every light colour with its dark counterpart. @returns {Colour[]} */
export const pairs = () => [...new Map([...Object.values(theme), ...Object.values(hues)]).entries()]
