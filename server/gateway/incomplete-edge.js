// An edge that is filled for the first time does not know what it lacks. "There is no such tile", or the map as of
// a time, could be wrong answers, and clients would keep them: until it is complete it answers FILLING instead.
import { TilecouchError } from '../../loader/errors.js'

const UNSURE = new Set(['DATABASE_NOT_FOUND', 'TILE_NOT_FOUND', 'LAYER_NOT_FOUND', 'INDEX_MISSING'])

/** @param {{isIncomplete?: () => boolean}} ctx @param {{kind?: string, time?: string}} asked */
export function refuseIfIncomplete (ctx, { kind, time }) {
  const isAboutPast = time !== undefined || kind === 'versions' || kind === 'times'
  if (isAboutPast && ctx.isIncomplete?.()) throw new TilecouchError('FILLING')
}

/** The error to answer when something was not found. @param {{isIncomplete?: () => boolean}} ctx */
export const fillingOr = (ctx, error) =>
  ctx.isIncomplete?.() && UNSURE.has(error.code) ? new TilecouchError('FILLING', {}, { cause: error }) : error

/** @returns {import('./dispatch.js').Route} */
export const unlessIncomplete = route => async (ctx, asked, req, res) => {
  refuseIfIncomplete(ctx, asked)
  try {
    await route(ctx, asked, req, res)
  } catch (error) {
    throw fillingOr(ctx, error)
  }
}
