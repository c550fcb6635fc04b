import path from 'node:path'
import { TilecouchError } from '../../core/index.js'

/** A couchapp that cannot be composed: which file, seen from where one is, and why. @returns {never} */
export function invalid (file, why) {
  throw new TilecouchError('COUCHAPP_INVALID', { file: path.relative(process.cwd(), file) || file, why })
}
