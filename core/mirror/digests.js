// Whether attachments are what their documents say. A line that is bad in the middle does not get to the target: the request is made again.
import { TilecouchError } from '../errors.js'

/**
 * @param {any[]} docs with attachments as bytes, or as base64
 * @param {(data: any) => string} digestOf as CouchDB writes it
 */
export function checkDigests (docs, digestOf) {
  for (const { _id: id, _attachments: attachments = {} } of docs) {
    for (const { data, digest } of Object.values(attachments)) {
      if (data === undefined || !digest?.startsWith('md5-')) continue
      if (digestOf(data) !== digest) throw new TilecouchError('BAD_ANSWER', { url: '_bulk_get', why: `the bytes of ${id} are not those that were stored` })
    }
  }
}
