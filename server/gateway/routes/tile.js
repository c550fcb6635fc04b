// A tile: from memory at once, else when the store or the upstream has it.
import { TilecouchError } from '../../../core/index.js'
import { sendMissing, sendTile } from '../answer.js'
import { checkFilled, unsure } from '../filling.js'

/** Milliseconds until a client is told to try again later. What was begun for it goes on, so that then it is there. */
export const PATIENCE = 60000

/**
 * @param {any} ctx @param {import('../router.js').AskedTile} asked
 * @param {import('../answer.js').Request} req @param {import('../answer.js').Response} res
 * @returns {void | Promise<void>}
 */
export function tile (ctx, asked, req, res) {
  const found = ctx.tiles.peek(asked.layer, asked.z, asked.x, asked.y, asked.time)
  return found ? sendTile(ctx, asked, req, res, found) : wait(ctx, asked, req, res)
}

async function wait (ctx, asked, req, res) {
  const { layer, z, x, y, time } = asked
  checkFilled(ctx, asked)
  const gone = new AbortController()
  const leave = () => gone.abort()
  let late = false
  const timer = setTimeout(() => {
    late = true
    gone.abort()
  }, ctx.patience)
  res.once('close', leave)
  try {
    const found = await ctx.tiles.get(layer, z, x, y, time, { signal: gone.signal })
    if (!res.destroyed) await sendTile(ctx, asked, req, res, found)
  } catch (error) {
    if (late) throw new TilecouchError('UNREACHABLE', { url: 'the store', why: `no tile within ${ctx.patience / 1000} seconds` }, { cause: error })
    const known = unsure(ctx, error)
    if (known.code !== 'TILE_NOT_FOUND') throw known
    await sendMissing(ctx, req, res, error, await ctx.layers.get(layer))
  } finally {
    clearTimeout(timer)
    res.off('close', leave)
  }
}
