// The question before something is removed: at a terminal the name of what goes must be typed, elsewhere --yes is
// needed. docs/decisions.md says which commands ask, and which do not.
//
//   const confirm = confirmation(context, options, 'osm') // throws at once if nobody can be asked
//   output.note('Removing from osm: …')
//   await confirm()
import { TilecouchError } from '../errors.js'
import { linePrompt } from './passwords.js'

/**
 * @param {import('./program.js').Context} context
 * @param {{yes?: boolean, dryRun?: boolean}} options with either of them nothing is asked
 * @param {string} name what must be typed
 * @param {{isPiped?: boolean}} [more] isPiped: standard input is read for something else
 * @returns {() => Promise<void>} asks; rejects unless the name is typed
 */
export function confirmation ({ output, stdin, signal }, { yes, dryRun }, name, { isPiped } = {}) {
  if (yes || dryRun) return async () => {}
  const ask = isPiped || output.json ? undefined : linePrompt({ stdin, stderr: output.stderr, signal })
  if (!ask) throw new TilecouchError('NOT_CONFIRMED', { why: 'nobody confirmed it' })
  return async () => {
    const answer = await ask(`This cannot be undone. To go on, type ${name}: `)
    if (answer !== name) throw new TilecouchError('NOT_CONFIRMED', { why: `the answer was not ${name}` })
  }
}
