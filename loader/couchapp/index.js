// The design documents: composed from the files of a couchapp, pushed to a database, and a store opened to its readers.
export { compose, composeFolder } from './compose.js'
export { resolveDatabase } from './environments.js'
export { publish, warmIndexes } from './publish.js'
export { push } from './push.js'
