// tilecouch export

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addExportCommand (program, run) {
  void [program, run]
}
