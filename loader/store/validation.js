// The validation function of a store (`validate_doc_update`), as the design document has it and for use in Node.
import { readFile } from 'node:fs/promises'

const FILE = new URL('../../_design/tiles/validate_doc_update.js', import.meta.url)

/** @returns {Promise<string>} */
export const readValidation = () => readFile(FILE, 'utf8')

/**
 * The source of a design function without the comments before it and the semicolon after it. Query servers put `return`
 * or a parenthesis before the source, which a comment there would break.
 * @param {string} text
 */
export const withoutComments = text =>
  text.replace(/^(\s*\/\/[^\n]*\n|\s*\/\*[\s\S]*?\*\/)*/, '').trim().replace(/;$/, '')
