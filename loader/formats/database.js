// Opens SQLite databases, with settings of the connection.
import Database from 'libsql'

/** @param {string} file @param {Record<string, string | number>} settings by the names of SQLite's pragmas */
export function openDatabase (file, settings) {
  const db = new Database(file)
  for (const [name, value] of Object.entries(settings)) db.exec(`PRAGMA ${name} = ${value}`)
  return db
}
