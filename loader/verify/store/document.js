// One tile document by itself: what the validation of the store demands, seen from outside, for stores that were filled
// before it was deployed, by other programs or by replication.
import { TILE_ATTACHMENT, isAhead, isExactTime, parseTileId } from '../../../core/index.js'

/**
 * @param {any} doc
 * @returns {{address?: import('../../../core/ids.js').VersionAddress, problems: import('../decode.js').Problems}} address: none when it is no tile
 */
export function checkDocument (doc) {
  let address
  try {
    address = parseTileId(doc._id)
  } catch (error) {
    return { problems: [['bad-id', error.details?.why]] }
  }
  if (doc.type !== 'tile') return { problems: [['not-a-tile', `type ${JSON.stringify(doc.type)}`]] }
  /** @type {import('../decode.js').Problems} */
  const problems = []
  const add = (is, code, why) => { if (is) problems.push([code, why]) }

  const wrong = ['layer', 'z', 'x', 'y'].filter(field => doc[field] !== address[field])
  add(wrong.length, 'fields-disagree', wrong.map(field => `${field} ${JSON.stringify(doc[field])}`).join(', '))
  const isPast = address.time !== undefined
  add(doc.current !== !isPast, 'wrong-current', `current ${JSON.stringify(doc.current)}`)
  add(!isExactTime(doc.time), 'bad-time', `time ${JSON.stringify(doc.time)}`)
  for (const field of ['stored', 'expires', 'contested']) add(doc[field] !== undefined && !isExactTime(doc[field]), 'bad-time', `${field} ${JSON.stringify(doc[field])}`)
  add(isExactTime(doc.stored) && isAhead(doc.stored), 'odd-time', `stored ${doc.stored}`)
  add(isPast && isExactTime(doc.time) && doc.time !== address.time, 'time-disagrees', `time ${doc.time}`)

  const attachments = doc._attachments ?? {}
  for (const name of Object.keys(attachments)) add(name !== TILE_ATTACHMENT, 'stray-attachment', name)
  const hasBytes = Object.hasOwn(attachments, TILE_ATTACHMENT)
  add(doc.gone === true && hasBytes, 'gone-with-bytes')
  add(doc.gone !== true && !hasBytes, 'no-bytes')
  add(doc._conflicts?.length, 'conflict', `${doc._rev} and ${doc._conflicts}`)
  return { address, problems }
}
