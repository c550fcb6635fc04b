// The document that marks a database as a tile store. It is read before anything is written into the database.
import { show } from '../../core/errors.js'
import { LAYER_KINDS, isAdministrative, isTileId } from '../../core/ids.js'
import { STORE_ID, isExactTime, now } from '../../core/index.js'
import { TilecouchError } from '../errors.js'

export const SCHEMA = 1 // of the documents; raised when they change in a way older code cannot read
export const LARGEST_LOGO = 262_144 // bytes: validate_doc_update.js refuses more

/** The marker of a new store. */
export const newMarker = () => (
  { type: 'store', schema: SCHEMA, created: now(), uuid: globalThis.crypto.randomUUID() }
)

/**
 * Whether a document is the marker of a store. Throws if only a newer program can read that store.
 * @param {{type?: string, schema?: number} | undefined} marker
 */
export function hasMarker (marker, url) {
  if (marker?.type !== 'store') return false
  const { schema } = marker
  if (!schema || schema <= SCHEMA) return true
  const why = `the store has schema ${Number.isFinite(schema) ? schema : show(schema)}, this tilecouch knows ` +
    `${SCHEMA}: upgrade it. ` +
    `If no newer tilecouch wrote that, an admin sets schema to ${SCHEMA} in the document tilecouch`
  throw new TilecouchError('CONFIG_INVALID', { file: url, why })
}

const OURS = new RegExp(`^(_design/|(${LAYER_KINDS.join('|')}):)`)

/**
 * Refuses a database with documents of other programs. A database without a marker may be a store as well: filled by
 * MapProxy, or by replication of a part.
 * @param {string[]} ids some of its documents
 */
export function refuseForeign (ids, url) {
  const isOurs = id => OURS.test(id) || isTileId(id) || isAdministrative(id)
  const foreign = ids.find(id => !isOurs(id))
  if (foreign) throw new TilecouchError('NOT_A_STORE', { db: url, value: foreign })
}

/** The schema of a store's documents; 0 if it is unknown. */
export const schemaOf = doc => doc?.type === 'store' && isSchema(doc.schema) ? doc.schema : 0

/** The faults of a marker. @param {any} doc @returns {string[]} */
export function markerFaults ({ type, schema, uuid, created, published, _attachments: { logo } = {} }) {
  return [
    ...(type === 'store' ? [] : [`type ${JSON.stringify(type)}`]),
    ...(isSchema(schema) ? [] : [`schema ${JSON.stringify(schema)}`]),
    ...(uuid === undefined || isUuid(uuid) ? [] : [`uuid ${JSON.stringify(uuid)}`]),
    ...(logo?.length > LARGEST_LOGO ? [`a logo of ${logo.length} bytes`] : []),
    ...[created, published].filter(time => time !== undefined && !isExactTime(time))
      .map(time => `time ${JSON.stringify(time)}`)
  ]
}

const isUuid = uuid => typeof uuid === 'string'
const isSchema = schema => Number.isInteger(schema) && schema >= 1

/**
 * Writes or corrects the marker of a store. A store with design documents was published before, even if it is private
 * now: with that in the marker, a push does not open it.
 * @param {import('./couch.js').Couch} couch
 * @returns {Promise<boolean>} whether it is valid now
 */
export async function mark (couch) {
  const isPublished = Boolean(await couch.get('_design/tiles'))
  const doc = await couch.update(STORE_ID, stored => {
    const hasUuid = stored?.uuid === undefined || isUuid(stored.uuid)
    if (stored?.type === 'store' && isSchema(stored.schema) && hasUuid) return undefined
    const newFields = newMarker()
    if (!stored) return { ...newFields, ...(isPublished && { published: now() }) }
    const schemaNow = isSchema(stored.schema) ? stored.schema : newFields.schema
    return { ...stored, type: newFields.type, schema: schemaNow, ...(!hasUuid && { uuid: newFields.uuid }) }
  })
  return markerFaults(doc).length === 0
}
