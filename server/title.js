// Everybody on the machine can list processes with their arguments. This hides passwords and keys in them while the
// command runs. It runs first; while Node starts, and in the line of a shell or of npx, they are still visible.
import { scrub } from '../core/errors.js'

/** @param {string[]} words of the command line @returns {string[]} the same without passwords and keys */
export const withoutSecrets = words => words.map(word => {
  const [secretOption] = /^(--set=)?(upstreamHeaders|accessKeys)=/.exec(word) ?? [] // `serve --set` refuses these
  if (secretOption) return `${secretOption}(hidden)`
  return scrub(word.replace(/:\/\/[^]*\s[^]*@/, '://')) // a password may contain a space, at which scrub would stop
    .replace(/(:\/\/[^?]*\?)[^]+/, '$1…') // keys of tile servers
})

const words = process.argv.slice(2)
const visibleWords = withoutSecrets(words)
if (visibleWords.some((word, index) => word !== words[index])) process.title = `tilecouch ${visibleWords.join(' ')}`
