// tilecouch get
import { writeFile } from 'node:fs/promises'
import { parseReference, parseTilePath } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { withStore } from './store.js'
import { bytes } from './output.js'

/** @type {import('./command.js').Declaration} */
export const getCommand = {
  arguments: ['<layer[@time]>', '<z/x/y>'],
  options: [['-o, --output <file>', 'file to write; - for standard output', { required: true }]],
  help: 'Example:\n  tilecouch get osm@2023 10/300/412 -o then.png',
  run: (context, options, reference, tile) =>
      withStore(context, options, store => saveTile(context, store, options.output, reference, tile))
}

async function saveTile ({ output }, store, file, reference, tile) {
  const { layer, time } = parseReference(reference)
  const { z, x, y } = parseTilePath(tile)
  const version = time ? await store.at(layer, z, x, y, time) : await store.head(layer, z, x, y)
  if (file === '-') return void output.stdout.write(version.bytes)
  try {
    await writeFile(file, version.bytes)
  } catch (error) {
    throw new TilecouchError('TARGET_UNWRITABLE', { value: file, why: error.message }, { cause: error })
  }
  const { bytes: content, ...facts } = version
  output.result({ ...facts, file }, [`${file}: ${version.type}, ${bytes(content.length)}, as of ${version.time}`])
}
