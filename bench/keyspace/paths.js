// Where a key stands for who asks by HTTP.
import { parseTileId } from '../../core/index.js'

/** @param {string} key as the gateway has it */
export function pathOfTile (key) {
  const { layer, z, x, y } = parseTileId(key)
  return `/${layer}/${z}/${x}/${y}.png`
}

/** @param {string} key as the database has it */
export const pathOfAttachment = key => `/${key}/tile`
