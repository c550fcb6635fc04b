// tilecouch check

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addCheckCommand (program, run) { // eslint-disable-line no-unused-vars -- yet to come
}
