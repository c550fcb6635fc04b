// What a command that goes on says of the store: that it is away, and that it is back.

/**
 * @param {import('./output.js').Output} output
 * @param {string} waiting what is said when it begins
 * @returns {(state: {state: 'following' | 'away', error?: any}) => void} for `onState` of loader/repeat.js
 */
export function sayStates (output, waiting) {
  let wasAway = false
  return ({ state, error }) => {
    output.note(state === 'away' ? `The store is away: ${error.message}. Trying again.` : wasAway ? 'The store is back.' : `${waiting} Ctrl-C ends it.`)
    wasAway = state === 'away'
  }
}
