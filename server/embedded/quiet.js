// The packages under the embedded store are old (node-fetch 2, readable-stream 1) and use parts of
// Node that it now warns about. Nothing a user can do about that, so exactly these warnings, from exactly these
// packages, are kept off the terminal. Every other warning passes, also the same ones from anybody else's code.

const codes = new Set(['DEP0005', 'DEP0040', 'DEP0044', 'DEP0060', 'DEP0169'])
const packages = /[\\/]node_modules[\\/](pouchdb-[a-z-]+|node-fetch|whatwg-url|tr46|readable-stream|leveldown|levelup|level[a-z-]*)[\\/]/

let installed = false

/** Filters process.emitWarning, once for the process. */
export function quietOldPackages () {
  if (installed) return
  installed = true
  const emitWarning = process.emitWarning
  process.emitWarning = /** @type {any} */ (function (/** @type {any[]} */ ...args) {
    const code = typeof args[1] === 'object' ? args[1]?.code : args[2]
    if (codes.has(code ?? args[0]?.code) && packages.test(String(new Error().stack))) return
    return Reflect.apply(emitWarning, process, args)
  })
}
