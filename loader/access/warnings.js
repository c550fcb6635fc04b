// What is wrong with who may do what, for people: each with a code that does not change.

/**
 * @param {Omit<import('../access.js').Access, 'warnings'>} access
 * @returns {{code: string, text: string}[]}
 */
export function warningsOf ({ public: isPublic, readers, writers, ownWriters, validation, party }) {
  const found = []
  const warn = (code, text) => found.push({ code, text })
  if (party) warn('EVERYBODY_IS_ADMIN', 'Everybody who reaches this server is its admin: nothing below holds. Keep it on this machine, or give it an admin.')
  else if (isPublic && validation === 'none') warn('EVERYBODY_WRITES', 'EVERYBODY MAY WRITE: the store is open and has no validation function. `tilecouch push` deploys it.')
  else if (validation === 'none' && (readers.names.length || readers.roles.length)) warn('READERS_WRITE', 'Whoever may read may write: the store has no validation function. `tilecouch push` deploys it.')
  if (validation === 'another') warn('OTHER_VALIDATION', 'Another validation function than that of this tilecouch decides who writes. `tilecouch push` deploys ours.')
  if (isPublic) return found
  for (const kind of /** @type {const} */ (['names', 'roles'])) {
    for (const name of ownWriters ? writers[kind].filter(one => !readers[kind].includes(one)) : []) {
      warn('WRITER_SHUT_OUT', `${kind === 'names' ? 'the user' : 'the role'} ${name} may not write, since CouchDB does not let it read: name it among the writers again.`)
    }
  }
  return found
}
