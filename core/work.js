// Documents of work: what a long command does, how far it is and how it ended. Each command writes one, at most every
// few seconds. They are no part of the history of tiles, and are not copied. validate_doc_update.js refuses the same
// fields; a test compares both.
import { count, isRun } from './documents.js'
import { scrub } from './errors.js'
import { workId } from './ids.js'
import { isPlainText } from './plain-text.js'
import { isExactTime } from './times.js'
import { listOf, object, text, whole } from './values.js'

export const workDefaults = {
  every: 5, // seconds between two signs of life, unless the document says otherwise
  quiet: 30, // seconds between two signs of life of a command that waits for changes
  missed: 3, // of them that may be missing before the work counts as interrupted
  least: 20, // seconds without one, at least
  days: 90, // that ended work is kept
  most: 16_384 // characters of all fields
}

const STATES = ['running', 'done', 'failed', 'stopped']
const COMMAND = /^[a-z-]{1,30}$/

/** @type {Record<string, import('./documents.js').Kind>} */
export const workKinds = {
  work: {
    fields: {
      command: value => typeof value === 'string' && COMMAND.test(value),
      args: listOf(text(1000)), // what was typed after `tilecouch`, to go on or to do it again: see typedAgain
      edition: isExactTime,
      state: value => STATES.includes(value),
      started: isExactTime,
      seen: isExactTime,
      finished: isExactTime,
      every: whole(1, 86_400), // seconds
      unit: text(100), // of done and total
      done: count,
      total: count,
      rate: value => Number.isFinite(value) && value >= 0, // a second
      failed: count,
      failures: listOf(text(1000)), // some of them
      user: text(300),
      host: text(300),
      about: object,
      error: object
    },
    needs: ['command', 'state', 'started', 'seen'],
    most: workDefaults.most,
    isGeneral: true,
    id: ({ _id }) => workId(isRun(String(_id).slice(5)) ? String(_id).slice(5) : 'RUN')
  }
}

/**
 * What became of work: a command that was killed says "running" for ever.
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

// options that name another store, show a secret, replace files or skip a question
const NOT_AGAIN = /^--(?:db|from|password-file|identity|access-keys-file|report|gateway|force|yes)(?:=|$)/

/**
 * The arguments that go on with work, or do it again, in the store that holds its document. Every writer may have
 * written them: a page offers them to an admin.
 * @param {{command: string, args?: any}} doc
 * @param {string | null} store its address; null: it has none that a command needs
 * @returns {string[] | undefined} undefined: the document has none, or others than a command writes
 */
export function typedAgain ({ command, args }, store) {
  const isGood = each => typeof each === 'string' && isPlainText(each) && scrub(each) === each && !NOT_AGAIN.test(each)
  if (!Array.isArray(args) || args[0] !== command || !args.every(isGood)) return undefined
  if (command !== 'mirror') return store === null ? args : [...args, '--db', store]
  const [, from, ...options] = args // the store is its target
  return from === undefined || from.startsWith('-') || store === null ? undefined : [command, from, store, ...options]
}
