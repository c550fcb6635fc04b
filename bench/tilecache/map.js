// Draws real map tiles, as many as in the original benchmark: the world of the demo, drawn from Natural Earth and cut
// into PNGs with smooth edges.
import pMap from 'p-map'
import sharp from 'sharp'
import { TILE, forgetBasemap, worldSvg } from '../../server/demo/basemap.js'

export const LAYER = 'world'
const ENCODERS = 4 // concurrent encoders: as many as sharp has threads

/** @typedef {{z: number, x: number, y: number}} Place */
/** @typedef {Place & {bytes: Buffer}} Tile */

/**
 * The world at four zooms, and the part of the fifth with most land. drawn: the zoom of the demo's drawing, which is
 * enlarged.
 * @typedef {{z: number, drawn: number, left: number, top: number, columns: number, rows: number}} Block
 * @type {Block[]}
 */
export const BLOCKS = [
  ...[1, 2, 3, 4].map(z => ({ z, drawn: z, left: 0, top: 0, columns: 2 ** z, rows: 2 ** z })),
  { z: 5, drawn: 4, left: 12, top: 3, columns: 20, rows: 22 }
]

/** The places zoom by zoom and row by row, as a seeding script requests them. @returns {Place[]} */
export const placesOf = (blocks = BLOCKS) => blocks.flatMap(({ z, left, top, columns, rows }) =>
  Array.from({ length: columns * rows },
    (_, index) => ({ z, x: left + index % columns, y: top + Math.floor(index / columns) })))

/** @param {{blocks?: Block[], signal?: AbortSignal}} [options] @returns {Promise<Tile[]>} in the order of `placesOf` */
export async function drawTiles ({ blocks = BLOCKS, signal } = {}) {
  const tiles = []
  try {
    for (const block of blocks) {
      signal?.throwIfAborted()
      const { data, info } = await sharp(Buffer.from(windowSvg(block)), { unlimited: true })
        .removeAlpha().raw().toBuffer({ resolveWithObject: true })
      const cut = ({ x, y }) => sharp(data, { raw: info })
        .extract({ left: (x - block.left) * TILE, top: (y - block.top) * TILE, width: TILE, height: TILE })
      tiles.push(...await pMap(placesOf([block]),
        async place => ({ ...place, bytes: await cut(place).png().toBuffer() }), { concurrency: ENCODERS, signal }))
    }
  } finally {
    forgetBasemap()
  }
  return tiles
}

/** The part of the demo's drawing of a zoom inside a block. */
function windowSvg ({ z, drawn, left, top, columns, rows }) {
  const tileSize = TILE / 2 ** (z - drawn)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${columns * TILE}" height="${rows * TILE}" ` +
    `viewBox="${left * tileSize} ${top * tileSize} ${columns * tileSize} ${rows * tileSize}">${worldSvg(drawn)}</svg>`
}

/** Describes the tiles for the results. @param {Tile[]} tiles */
export function describe (tiles) {
  const lengths = tiles.map(({ bytes }) => bytes.length).sort((a, b) => a - b)
  return {
    tiles: tiles.length,
    distinct: new Set(tiles.map(({ bytes }) => bytes.toString('latin1'))).size,
    bytes: { total: lengths.reduce((sum, length) => sum + length, 0), min: lengths[
      0
    ], median: lengths[lengths.length >> 1], max: lengths[lengths.length - 1] }
  }
}
