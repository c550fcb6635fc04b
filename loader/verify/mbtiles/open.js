import path from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'libsql'

/** Only for reading: libsql ignores its readonly option, SQLite itself does not. @param {string} file */
export const open = file => new Database(`file:${pathToFileURL(path.resolve(file)).pathname}?mode=ro`)
