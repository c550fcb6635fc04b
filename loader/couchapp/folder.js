// Writes design documents as classic couchapp folders, which couchapp, erica and couchdb-push deploy unchanged.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { compose } from './compose.js'

/**
 * @param {string} target folder; the folders of these design documents in it are replaced
 * @param {string} [source] folder with _design/, views/ and attachments/ (default: those of this package)
 * @returns {Promise<string[]>} the folders, one per design document
 */
export async function composeFolder (target, source) {
  const folders = []
  for (const { _id, _attachments = {}, couchapp, ...fields } of await compose(source)) {
    const folder = path.join(target, _id.slice('_design/'.length))
    await rm(folder, { recursive: true, force: true })
    await write(path.join(folder, '_id'), _id)
    // tells couchapp that this folder is an application
    await write(path.join(folder, '.couchapprc'), '{}\n')
    for (const [key, value] of Object.entries(fields)) await writeField(folder, key, value)
    for (const [name, { data }] of Object.entries(_attachments)) {
      await write(path.join(folder, '_attachments', name), Buffer.from(data, 'base64'))
    }
    folders.push(folder)
  }
  return folders
}

async function writeField (folder, key, value) {
  if (typeof value === 'string') return write(path.join(folder, /^[(_]/.test(value) ? `${key}.js` : key), value)
  if (Array.isArray(value) || typeof value !== 'object') {
    return write(path.join(folder, `${key}.json`), JSON.stringify(value, null, 2))
  }
  for (const [inner, part] of Object.entries(value)) await writeField(path.join(folder, key), inner, part)
}

async function write (file, content) {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, content)
}
