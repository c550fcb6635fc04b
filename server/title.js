// Removes passwords and keys of the command line from the list of processes, which everybody can read. It runs before
// anything else of the program is loaded; the time in which Node starts, and the line of a shell or of npx before it,
// stay.
import { scrub } from '../core/errors.js'

const HEADERS = '--upstream-headers'

/** @param {string[]} words of the command line @returns {string[]} the same without secrets */
export const withoutSecrets = words => words.map((word, at) => {
  if (words[at - 1] === HEADERS) return '(hidden)'
  if (word.startsWith(`${HEADERS}=`)) return `${HEADERS}=(hidden)`
  return scrub(word.replace(/:\/\/[^]*\s[^]*@/, '://')) // a word is one address: its password may have a space, which ends it in a text
    .replace(/(:\/\/[^?]*\?)[^]+/, '$1…') // keys of tile servers
})

const given = process.argv.slice(2)
const shown = withoutSecrets(given)
if (shown.some((word, at) => word !== given[at])) process.title = `tilecouch ${shown.join(' ')}`
