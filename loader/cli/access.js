// tilecouch access

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addAccessCommand (program, run) { // eslint-disable-line no-unused-vars -- yet to come
}
