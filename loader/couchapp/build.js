// Writes the classic couchapp folders, which couchapp, erica and couchdb-push push unchanged, and the client library's
// bundles, which go into the npm package as dist/.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { bundle, clientBundles } from './bundle.js'
import { compose } from './compose.js'

/**
 * @param {string} target a folder of its own: what is in it from an earlier build is replaced
 * @param {string} [source]
 * @returns {Promise<string[]>} the folders, one a design document
 */
export async function build (target, source) {
  const folders = []
  for (const { _id, _attachments = {}, couchapp, ...fields } of await compose(source)) {
    const folder = path.join(target, _id.slice('_design/'.length))
    await rm(folder, { recursive: true, force: true })
    await write(path.join(folder, '_id'), _id)
    // tells couchapp that this folder is an application, and where it goes without an argument
    await write(path.join(folder, '.couchapprc'), '{}\n')
    for (const [key, value] of Object.entries(fields)) await writeField(folder, key, value)
    for (const [name, { data }] of Object.entries(_attachments)) await write(path.join(folder, '_attachments', name), Buffer.from(data, 'base64'))
    folders.push(folder)
  }
  return folders
}

/**
 * The client library's bundles for script tags, bundlers and CDNs.
 * @param {string} target a folder
 * @returns {Promise<string[]>} the files
 */
export async function buildClient (target) {
  const bundles = Object.entries(await bundle(clientBundles))
  return Promise.all(bundles.map(async ([name, { bytes }]) => {
    await write(path.join(target, name), bytes)
    return path.join(target, name)
  }))
}

async function writeField (folder, key, value) {
  if (typeof value === 'string') return write(path.join(folder, /^[(_]/.test(value) ? `${key}.js` : key), value)
  if (Array.isArray(value) || typeof value !== 'object') return write(path.join(folder, `${key}.json`), JSON.stringify(value, null, 2))
  for (const [inner, part] of Object.entries(value)) await writeField(path.join(folder, key), inner, part)
}

async function write (file, content) {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, content)
}
