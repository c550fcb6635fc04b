// A password or key that was given on the command line can be read by everybody who lists processes. It should not be there; where it
// is, it does not stay there for as long as a command runs. This is the first thing that runs: until then Node starts, which
// nobody can shorten, and the line of a shell or of npx before it stays as it is.
import { scrub } from '../core/errors.js'

const HEADERS = '--upstream-headers'

/** @param {string[]} words of the command line @returns {string[]} the same without what opens anything */
export const withoutSecrets = words => words.map((word, at) => {
  if (words[at - 1] === HEADERS) return '(hidden)'
  if (word.startsWith(`${HEADERS}=`)) return `${HEADERS}=(hidden)`
  return scrub(word.replace(/:\/\/[^]*\s[^]*@/, '://')) // a word is one address: its password may have a space, which ends it in a text
    .replace(/(:\/\/[^?]*\?)[^]+/, '$1…') // keys of tile servers
})

const said = process.argv.slice(2)
const shown = withoutSecrets(said)
if (shown.some((word, at) => word !== said[at])) process.title = `tilecouch ${shown.join(' ')}`
