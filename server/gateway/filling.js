// While an edge is filled for the first time it does not know what it lacks: that a tile is not there, or what there was at a
// time, would be answers that are wrong, and that clients would keep.
import { TilecouchError } from '../../core/index.js'

const UNSURE = new Set(['DATABASE_NOT_FOUND', 'TILE_NOT_FOUND', 'LAYER_NOT_FOUND', 'INDEX_MISSING'])

/** @param {{isFilling?: () => boolean}} ctx @param {{kind?: string, time?: string}} asked */
export function checkFilled (ctx, { kind, time }) {
  if ((time !== undefined || kind === 'versions' || kind === 'times') && ctx.isFilling?.()) throw new TilecouchError('FILLING')
}

/** What to answer for what was not found. @param {{isFilling?: () => boolean}} ctx @param {any} error */
export const unsure = (ctx, error) => ctx.isFilling?.() && UNSURE.has(error.code) ? new TilecouchError('FILLING', {}, { cause: error }) : error

/** @param {import('./dispatch.js').Route} route @returns {import('./dispatch.js').Route} */
export const unlessFilling = route => async (ctx, asked, req, res) => {
  checkFilled(ctx, asked)
  try {
    await route(ctx, asked, req, res)
  } catch (error) {
    throw unsure(ctx, error)
  }
}
