// tilecouch token

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addTokenCommand (program, run) { // eslint-disable-line no-unused-vars -- yet to come
}
