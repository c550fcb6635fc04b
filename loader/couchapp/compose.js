// Composes design documents from _design/<name>/**, views/<name>/** and attachments/**. Stricter than the couchapp
// tools: it refuses files that it does not understand, since a file that is silently left out is missed only in
// production.
import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { shared } from '../../core/promises.js'
import { withModules, withoutComments } from '../store/design-source.js'
import {
  adminBundles, besides, bundle, clientBundles, invalid as fail, layersBundles, stamp, viewerBundles
} from './bundle.js'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The design document that the viewer belongs to. */
export const VIEWER = 'tiles'

/** The page of the layers. */
export const LAYERS = 'layers.html'
/** The page of the control room. */
export const ADMIN = 'admin.html'
export const ADMIN_WORDS = 'words.admin.json'

/** Files of other packages that the viewer needs: attachment name -> module. */
const vendored = {
  'leaflet.js': 'leaflet/dist/leaflet.js',
  'leaflet.css': 'leaflet/dist/leaflet.css'
}

const contentTypes = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8'
}

/**
 * @typedef {object} Deployed
 * @property {string} _id
 * @property {string} language
 * @property {Record<string, {map: string, reduce?: string}>} [views]
 * @property {Record<string, {content_type: string, data: string}>} [_attachments]
 * @property {{signatures: Record<string, string>}} couchapp
 *
 * @typedef {Deployed & Record<string, any>} DesignDocument
 */

/**
 * The design documents of a couchapp, those with views first: the others read their indexes.
 * @param {string} [folder] holds _design/, views/ and attachments/
 * @returns {Promise<DesignDocument[]>}
 */
export async function compose (folder = root) {
  const designs = await readTree(path.join(folder, '_design'), folder, { isRequired: true })
  const views = await readTree(path.join(folder, 'views'), folder)
  const names = new Set([...Object.keys(designs), ...Object.keys(views)])
  const isOwn = path.resolve(folder) === path.resolve(root)
  const attachments = await (isOwn ? ownAttachments() : readAttachments(path.join(folder, 'attachments')))
  const docs = [...names].map(name =>
    designOf(name, designs[name] ?? {}, views[name], name === VIEWER ? toAttachments(attachments) : {}))
  return docs.sort((a, b) => Number(!a.views) - Number(!b.views) || (a._id < b._id ? -1 : 1))
}

/**
 * @param {string} name
 * @param {Record<string, any>} fields of _design/NAME
 * @param {Record<string, any> | undefined} views of views/NAME
 * @param {NonNullable<Deployed['_attachments']>} files
 * @returns {DesignDocument}
 */
function designOf (name, fields, views, files) {
  const where = `_design/${name}`
  if (!/^[a-z][a-z0-9_-]*$/.test(name) || typeof fields !== 'object') {
    fail(where, 'a design document is a folder with a lower case name')
  }
  if (fields.views && views) fail(where, `there are views in _design/${name}/views and in views/${name}`)
  if (fields._id || fields._rev || fields._attachments) fail(where, '_id, _rev and _attachments are not files')
  const allViews = views ?? fields.views
  checkViews(name, allViews ?? {})
  return {
    _id: where,
    language: 'javascript',
    ...fields,
    ...(allViews && { views: allViews }),
    ...(Object.keys(files).length && { _attachments: files }),
    couchapp: { signatures: signaturesOf(files) }
  }
}

function checkViews (name, views) {
  if (typeof views !== 'object') fail(`views/${name}`, 'views are folders: views/DESIGN/VIEW/map.js')
  for (const [view, { map } = {}] of Object.entries(/** @type {Record<string, any>} */ (views))) {
    if (typeof map !== 'string') fail(`views/${name}/${view}`, 'a view needs a map.js')
  }
}

const composeOwn = shared(() => compose().then(deepFreeze))

/** The design documents of this package, composed once and frozen. */
export const ownDesigns = async () => [...await composeOwn()]

/** @template T @param {T} value @returns {T} */
function deepFreeze (value) {
  if (typeof value !== 'object' || value === null) return value
  Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}

/** A folder as an object: folders nest, file names without extension are keys. */
async function readTree (folder, top, { isRequired = false } = {}) {
  const tree = {}
  for (const { name, file, stat } of await readEntries(folder, isRequired)) {
    const extension = path.extname(name)
    const key = stat.isDirectory() ? name : name.slice(0, name.length - extension.length)
    if (Object.hasOwn(tree, key)) fail(file, `two sources for "${key}"`)
    if (stat.isDirectory()) tree[key] = await readTree(file, top)
    else tree[key] = parseFile(file, extension, withModules(await readFile(file, 'utf8'), file, top))
  }
  return tree
}

function parseFile (file, extension, text) {
  if (extension === '.json') {
    try {
      return JSON.parse(text)
    } catch (error) {
      return fail(file, `bad JSON: ${error.message}`)
    }
  }
  if (extension === '') return text.trim()
  if (extension !== '.js') return fail(file, 'only .js, .json and files without extension belong here')
  const source = withoutComments(text)
  if (path.basename(file) === 'reduce.js' && /^_[a-z_]+$/.test(source)) return source
  try {
    new vm.Script(source, { filename: file })
  } catch (error) {
    fail(file, error.message)
  }
  if (!isOneFunction(source)) fail(file, 'a design function is one anonymous function in parentheses')
  return source
}

// Parses the source without running it: between ? and : there is no comma, and a method ends with its brace
function isOneFunction (source) {
  if (!/^\(function\s*\(/.test(source) || !source.endsWith('})')) return false
  const inner = source.slice(1, -1)
  try {
    return [`0 ? ${inner} : 0`, `({ method ${inner.slice('function'.length)} })`].every(text => new vm.Script(text))
  } catch {
    return false
  }
}

const pageBundles = { ...clientBundles, ...besides, ...layersBundles, ...adminBundles }

/** Whether a file belongs to the viewer, and so to its version. @param {string} name */
export const isOfViewer = name => !Object.hasOwn(pageBundles, name) && ![LAYERS, ADMIN, ADMIN_WORDS].includes(name)

/** The attachments of this package: modules and styles as bundles, everything else unchanged. */
async function ownAttachments () {
  const isPart = name => /\.(js|css)$/.test(name)
  const [files, bundles] = await Promise.all([
    readAttachments(path.join(root, 'attachments'), { except: isPart, modules: vendored }),
    bundle({ ...viewerBundles, ...pageBundles })
  ])
  for (const [name, { bytes }] of Object.entries(bundles)) add(files, name, name, bytes)
  stamp(files, isOfViewer)
  return sortFiles(files)
}

/** @param {string} folder @param {{except?: (name: string) => boolean, modules?: Record<string, string>}} [options] */
async function readAttachments (folder, { except = () => false, modules = {} } = {}) {
  const files = {}
  const walk = async (directory, prefix) => {
    for (const { name, file, stat } of await readEntries(directory)) {
      if (stat.isDirectory()) await walk(file, `${prefix}${name}/`)
      else if (!except(prefix + name)) add(files, prefix + name, file, await readFile(file))
    }
  }
  await walk(folder, '')
  for (const [name, module] of Object.entries(modules)) {
    const file = fileURLToPath(import.meta.resolve(module))
    add(files, name, file, await readFile(file))
  }
  return sortFiles(files)
}

function add (files, name, file, bytes) {
  const type = contentTypes[path.extname(name)]
  if (!type) fail(file, 'unknown content type')
  if (Object.hasOwn(files, name)) fail(file, `two sources for "${name}"`)
  files[name] = { type, bytes }
}

const sortFiles = files => Object.fromEntries(Object.entries(files).sort(([a], [b]) => a < b ? -1 : 1))

async function readEntries (folder, isRequired = false) {
  let names
  try {
    names = await readdir(folder)
  } catch (error) {
    if (error.code === 'ENOENT' && !isRequired) return []
    return fail(folder, error.code === 'ENOENT' ? 'no such folder' : error.message)
  }
  const files = []
  for (const name of names.filter(entry => !entry.startsWith('.')).sort()) {
    const file = path.join(folder, name)
    const stat = await lstat(file)
    if (!stat.isDirectory() && !stat.isFile()) fail(file, 'symbolic links and special files are not followed')
    files.push({ name, file, stat })
  }
  return files
}

const toAttachments = files => Object.fromEntries(Object.entries(files).map(([name, { type, bytes }]) =>
  [name, { content_type: type, data: bytes.toString('base64') }]))

/**
 * Signatures as in couchapp: CouchDB compresses text attachments, so its digests cannot be compared with files.
 * @param {Record<string, {data: string}>} [attachments] with their bytes in base64
 */
export const signaturesOf = (attachments = {}) => Object.fromEntries(Object.entries(attachments)
  .map(([name, { data }]) => [name, createHash('md5').update(data, 'base64').digest('hex')]))

/**
 * Writes design documents as classic couchapp folders, which couchapp, erica and couchdb-push deploy unchanged.
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
