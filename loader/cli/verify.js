// tilecouch verify

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addVerifyCommand (program, run) {
  void [program, run]
}
