// The document that marks a database as a store: what it should say, and how one without it gets it.
import { STORE_ID, isExactTime, now } from '../../core/index.js'
import { newMark } from '../store/mark.js'

/** @param {import('../store/couch.js').Couch} couch @param {import('../verify/report.js').Report} report */
export async function checkMark (couch, report) {
  const doc = await couch.find({ path: STORE_ID, qs: { conflicts: true } })
  if (!doc) return report.add('no-mark', STORE_ID)
  if (doc._conflicts?.length) report.add('conflict', STORE_ID, `${doc._rev} and ${doc._conflicts}`)
  for (const why of wrongWith(doc)) report.add('bad-mark', STORE_ID, why)
}

function wrongWith ({ type, schema, created, published }) {
  return [
    ...(type === 'store' ? [] : [`type ${JSON.stringify(type)}`]),
    ...(isSchema(schema) ? [] : [`schema ${JSON.stringify(schema)}`]),
    ...[created, published].filter(time => time !== undefined && !isExactTime(time)).map(time => `time ${JSON.stringify(time)}`)
  ]
}

const isSchema = schema => Number.isInteger(schema) && schema >= 1

/**
 * Which schema the documents of a store have; 0 where nothing says it.
 * @param {any} doc
 * @returns {number}
 */
export const schemaOf = doc => doc?.type === 'store' && isSchema(doc.schema) ? doc.schema : 0

/**
 * Marks a store, or puts its mark right. Where there are design documents it has been published, whatever its door is like:
 * a push that finds the mark does not open it.
 * @param {import('../store/couch.js').Couch} couch
 * @param {number} [schema]
 * @returns {Promise<boolean>} whether nothing is wrong with it now
 */
export async function mark (couch, schema) {
  const isPublished = Boolean(await couch.get('_design/tiles'))
  const doc = await couch.update(STORE_ID, stored => {
    if (stored?.type === 'store' && isSchema(stored.schema)) return undefined
    const fresh = newMark(schema)
    if (!stored) return { ...fresh, ...(isPublished && { published: now() }) }
    return { ...stored, type: fresh.type, schema: isSchema(stored.schema) ? stored.schema : fresh.schema }
  })
  return wrongWith(doc).length === 0
}
