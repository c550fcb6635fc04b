// tilecouch remove

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addRemoveCommand (program, run) { // eslint-disable-line no-unused-vars -- yet to come
}
