// The document that marks a database as a store.
import { randomUUID } from 'node:crypto'
import { now } from '../../core/index.js'
import { SCHEMA } from '../../core/store/recognise.js'

/** Of a store that begins now. @param {number} [schema] of its documents */
export const newMark = (schema = SCHEMA) => ({ type: 'store', schema, created: now(), uuid: randomUUID() })
