// A tile document as it ought to be: what its id and its bytes say goes before what its fields say. Pure: the same document,
// the same answer, so that two mirrors that mend the same damage apart have the same in the end.
import { TILE_ATTACHMENT, inspectTile, parsePeriod, parseTileId } from '../../core/index.js'
import { fieldsOf } from '../resolve/content.js'
import { digestOf } from '../store/tile.js'
import { plainBytes } from '../verify/store/bytes.js'
import { checkDocument } from '../verify/store/document.js'

const TIMES = ['stored', 'expires', 'contested']

/** Problems that this mends, when it can. */
export const MENDABLE = new Set(['fields-disagree', 'wrong-current', 'time-disagrees', 'bad-time', 'stray-attachment', 'no-bytes', 'not-a-tile'])

/** What is wrong with a document by itself. A conflict is not. @param {any} doc */
export const wrongIn = doc => checkDocument(doc).problems.filter(([code]) => code !== 'conflict')

/**
 * @param {any} doc with bytes, of a tile's id
 * @returns {any} nothing when it cannot be put right as a whole
 */
export function mendDocument (doc) {
  const { layer, z, x, y, time } = parseTileId(doc._id)
  if (doc.type !== undefined && doc.type !== 'tile') return undefined // somebody else's
  const fields = fieldsOf(doc)
  for (const field of TIMES) if (fields[field] !== undefined) fields[field] = secondOf(fields[field])
  const image = imageOf(doc)
  const made = {
    _id: doc._id, ...fields, type: 'tile', layer, z, x, y, current: time === undefined, time: time ?? secondOf(doc.time),
    ...(image && { _attachments: { [TILE_ATTACHMENT]: image } })
  }
  return wrongIn(made).length ? undefined : made
}

/** A time that was written another way, but says one second. */
function secondOf (text) {
  try {
    const { start, exact } = parsePeriod(text)
    return exact ? start : text
  } catch {
    return text
  }
}

/** The attachment that is the tile, by its name or by being the only one that can be. */
function imageOf ({ gone, _attachments: attachments = {} }) {
  const [only, ...others] = Object.values(attachments)
  const own = attachments[TILE_ATTACHMENT]
  if (!own && (!only || others.length || gone === true)) return undefined
  const data = plainBytes(own ?? only)
  const type = typeOf(data)
  if (!type && !own) return undefined
  return { content_type: type ?? own.content_type, data, digest: digestOf(data) }
}

function typeOf (bytes) {
  try {
    return inspectTile(bytes).type
  } catch {
    return undefined
  }
}
