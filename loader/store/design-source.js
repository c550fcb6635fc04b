// Reads the source of design functions, with the modules that they include, as query servers take it.
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { TilecouchError } from '../errors.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const VALIDATION = '_design/tiles/validate_doc_update.js'
const CODE = /^ *\/\/ !code (\S+)$/gm

/**
 * A design function with modules inside: a line `// !code core/style.js` becomes the code of that file, which imports
 * nothing. So does couchapp.
 * @param {string} text @param {string} file of the function @param {string} top folder of the modules
 */
export function withModules (text, file, top = root) {
  const refuse = why => {
    throw new TilecouchError('COUCHAPP_INVALID', { file: path.relative(process.cwd(), file) || file, why })
  }
  return text.replace(CODE, (_, name) => {
    const module = path.join(top, name)
    if (!existsSync(module)) return refuse(`no such file: ${name}`)
    const code = readFileSync(module, 'utf8')
    if (/^import\b/m.test(code)) return refuse(`${name} imports something, which no design function can`)
    return code.replace(/^export (?=var|function)/gm, '').trim()
  })
}

/**
 * The source of a design function without the comments before it and the semicolon after it. Query servers put `return`
 * or a parenthesis before the source, which a comment there would break.
 * @param {string} text
 */
export const withoutComments = text =>
  text.replace(/^(\s*\/\/[^\n]*\n|\s*\/\*[\s\S]*?\*\/)*/, '').trim().replace(/;$/, '')

/** The validation function of a store, as the design document has it. @returns {Promise<string>} */
export async function readValidation () {
  const file = path.join(root, VALIDATION)
  return withModules(await readFile(file, 'utf8'), file)
}
