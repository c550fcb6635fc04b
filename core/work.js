// Documents of work: what a long command does, how far it is and how it ended. Each command writes one, at most every
// few seconds. They are no part of the history of tiles, and are not copied. validate_doc_update.js refuses the same
// fields; a test compares both.
import { scrub } from './errors.js'
import { isPlainText } from './text.js'

export const workDefaults = {
  every: 5, // seconds between two signs of life, unless the document says otherwise
  quiet: 30, // seconds between two signs of life of a command that waits for changes
  missed: 3, // signs of life that may be missing before the work counts as interrupted
  least: 20, // seconds without a sign of life, at least, before that
  days: 90, // days that ended work is kept
  most: 16_384 // characters of all fields
}

/**
 * The state of a command. The document of a killed command says "running" for ever, so its last sign of life counts.
 * @param {{state: string, seen: string, every?: number}} doc
 * @param {number | string | Date} now by the clock of the server: the `Date` header of an answer, or milliseconds
 * @returns {'running' | 'interrupted' | 'done' | 'failed' | 'stopped'}
 */
export function workState ({ state, seen, every = workDefaults.every }, now) {
  const { missed, least } = workDefaults
  const silence = (new Date(now).getTime() - Date.parse(seen)) / 1000
  const isSilent = state === 'running' && !(silence <= Math.max(missed * every, least))
  return isSilent ? 'interrupted' : /** @type {any} */ (state)
}

const words = list => list.split(' ')
const AREA = '--bbox= --polygon= --zoom= -z='

// Commands that are offered again, each with the options that it may have then; = takes a value. None of them names
// another store, writes a file, skips a question, removes what a policy keeps, or gives a right.
/** @type {Record<string, string[]>} */
export const offeredOptions = {
  load: words(`${AREA} --layer= -l= --time= -t= --title= --ttl= --scheme= --grid= --matrix-set= --complete --same= ` +
    '--any-size --dated --source-layer= --id-template= --upstream= --rate= --concurrency= --contact= --batch= ' +
    '--store-concurrency='),
  seed: words(`${AREA} --expired --all --before= --limit= --live --refresh-before= --retry-failed= --rate= ` +
    '--concurrency= --contact='),
  mirror: words(`${AREA} --layer= --current --since= --live`),
  export: words(`${AREA} --format= --scheme= --history --cache --tree --live`),
  prune: words('--all --live --every='),
  check: words(`${AREA} --only= --live --scheme= --grid= --no-decode`)
}

/**
 * Splits the arguments of a command into its words, and its options with their values.
 * @param {any} args
 * @returns {{names: string[], options: string[]} | undefined} undefined: it is not offered again
 */
export function typedParts (args) {
  if (!Array.isArray(args) || !args.every(argument => typeof argument === 'string')) return undefined
  const [command, ...remaining] = /** @type {string[]} */ (args)
  if (!Object.hasOwn(offeredOptions, command)) return undefined
  const allowed = new Set(offeredOptions[command])
  const names = []
  const options = []
  while (remaining.length) {
    const word = String(remaining.shift())
    if (!word.startsWith('-')) {
      names.push(word)
      continue
    }
    options.push(word)
    if (allowed.has(word) || allowed.has(/^--[^=]+=/.exec(word)?.[0] ?? '')) continue
    const value = remaining.shift()
    if (!allowed.has(`${word}=`) || value === undefined || value.startsWith('--')) return undefined
    options.push(value)
  }
  return { names, options }
}

/**
 * The arguments that continue or repeat work in the store that holds its document. A page offers them to an admin, and
 * any writer may have written them, so they are checked.
 * @param {{command: string, args?: any}} doc
 * @param {{isEmbedded: boolean, url: string | null}} store url: null where no command reaches it by an address
 * @returns {string[] | undefined} undefined: the document has none that may be offered, or the store has no address
 */
export function typedAgain ({ command, args }, { isEmbedded, url }) {
  const parts = typedParts(args)
  const isGood = argument => isPlainText(argument) && scrub(argument) === argument
  if (!parts || args[0] !== command || !args.every(isGood) || (!isEmbedded && url === null)) return undefined
  const { names, options } = parts
  // the store comes first: no option before it can take it for its value
  const store = url === null ? [] : ['--db', url]
  if (command !== 'mirror') return [command, ...store, ...args.slice(1)]
  return names.length === 1 ? [command, names[0], url ?? 'embedded', ...options] : undefined // the store is its target
}
