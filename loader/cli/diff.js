// tilecouch diff

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addDiffCommand (program, run) {
  void [program, run]
}
