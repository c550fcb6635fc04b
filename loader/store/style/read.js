// Reads a style from a file, or from a folder:
//   style.json
//   sprite.json  sprite.png  sprite@2x.json  sprite@2x.png
//   glyphs/Noto Sans Regular/0-255.pbf  …
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { TilecouchError } from '../../errors.js'
import { readRegular } from '../../formats/files.js'

export const styleLimits = {
  style: 1_000_000, // characters of a style
  file: 4_194_304, // bytes of one file, as validate_doc_update.js has it
  files: 2000, // of a style
  bytes: 16_000_000 // of all files together: a mirror has them in memory at once
}

/** What a style may have beside it: the name of a file -> its content type. @param {string} name with slashes */
const typeOf = name => {
  if (/^sprite(@2x)?\.json$/.test(name)) return 'application/json'
  if (/^sprite(@2x)?\.png$/.test(name)) return 'image/png'
  return /^glyphs\/[^/,]{1,100}\/\d{1,7}-\d{1,7}\.pbf$/.test(name) ? 'application/x-protobuf' : undefined
}

/**
 * @param {string} source a file or a folder
 * @returns {Promise<{style: any, files: import('../styles.js').StyleFiles, ignored: string[]}>}
 */
export async function readStyle (source) {
  const isFolder = await stat(source).then(stats => stats.isDirectory(), () => {
    throw new TilecouchError('SOURCE_NOT_FOUND', { value: source })
  })
  const names = isFolder ? (await namesIn(source)).filter(name => name !== 'style.json') : []
  const style = parse(await read(isFolder ? path.join(source, 'style.json') : source, styleLimits.style), source)
  const styleFiles = names.filter(typeOf)
  if (styleFiles.length > styleLimits.files) {
    throw bad(source, `it has ${styleFiles.length} files, more than ${styleLimits.files}`)
  }
  /** @type {import('../styles.js').StyleFiles} */
  const files = {}
  let total = 0
  for (const name of styleFiles) {
    const bytes = await read(path.join(source, name), styleLimits.file)
    total += bytes.length
    if (total > styleLimits.bytes) throw bad(source, `its files have more than ${styleLimits.bytes} bytes`)
    const why = whyNotFile(name, bytes)
    if (why) throw bad(source, `${name} ${why}`)
    files[name] = { type: /** @type {string} */ (typeOf(name)), bytes }
  }
  return { style, files, ignored: names.filter(name => !typeOf(name)) }
}

const bad = (file, why) => new TilecouchError('BAD_STYLE', { file, why })

/** Names below a folder, with slashes, in order. */
async function namesIn (folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const name = entry => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/')
  return entries.filter(entry => !entry.isDirectory()).map(name).sort()
}

async function read (file, most) {
  try {
    return await readRegular(file, { most })
  } catch (error) {
    if (error.code === 'ENOENT') throw bad(file, 'there is no such file')
    throw error instanceof TilecouchError ? error : bad(file, error.message)
  }
}

function parse (bytes, file) {
  try {
    return JSON.parse(String(bytes).replace(/^\ufeff/, ''))
  } catch (error) {
    throw bad(file, `it is not JSON: ${error.message}`)
  }
}

/** What is wrong with a file of a style, if anything. */
function whyNotFile (name, bytes) {
  if (name.endsWith('.png')) return bytes.toString('latin1', 1, 4) === 'PNG' ? undefined : 'is no PNG'
  if (!name.endsWith('.json')) return bytes.length ? undefined : 'is empty'
  try {
    JSON.parse(String(bytes))
  } catch (error) {
    return `is not JSON: ${error.message}`
  }
}
