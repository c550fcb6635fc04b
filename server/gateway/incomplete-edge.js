// An edge that is being filled for the first time does not know which tiles it lacks. Answers about missing tiles and
// about past times could be wrong, and clients would keep them. Until the edge is complete, it answers FILLING instead.
import { TilecouchError } from '../../loader/errors.js'

const UNCERTAIN_CODES = new Set(['DATABASE_NOT_FOUND', 'TILE_NOT_FOUND', 'LAYER_NOT_FOUND', 'INDEX_MISSING'])

/** @param {{isIncomplete?: () => boolean}} ctx @param {{kind?: string, time?: string}} target */
export function refuseIfIncomplete (ctx, { kind, time }) {
  const isAboutPast = time !== undefined || kind === 'versions' || kind === 'times'
  if (isAboutPast && ctx.isIncomplete?.()) throw new TilecouchError('FILLING')
}

/** While the edge is incomplete, FILLING replaces uncertain errors. @param {{isIncomplete?: () => boolean}} ctx */
export const fillingOr = (ctx, error) =>
  ctx.isIncomplete?.() && UNCERTAIN_CODES.has(error.code) ? new TilecouchError('FILLING', {}, { cause: error }) : error

/** @returns {import('./dispatch.js').Route} */
export const unlessIncomplete = route => async (ctx, target, req, res) => {
  refuseIfIncomplete(ctx, target)
  try {
    await route(ctx, target, req, res)
  } catch (error) {
    throw fillingOr(ctx, error)
  }
}
