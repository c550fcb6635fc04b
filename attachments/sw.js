/* global SHELL -- written before this when the couchapp is put together: {version, files: name -> digest} */
console.assert(SHELL.version)
