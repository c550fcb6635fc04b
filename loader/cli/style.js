// tilecouch style
import { checkLayer } from '../../core/index.js'
import { storeStyle } from '../style/index.js'
import { withStore } from './connect.js'
import { bytes, plural, table } from './output.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addStyleCommand (program, run) {
  program.command('style')
    .description('store a MapLibre style for a layer; without a file, list its styles')
    .argument('<layer>')
    .argument('[file]', 'a style.json, or a folder with style.json, sprite.json, sprite.png and glyphs/FONT/0-255.pbf')
    .option('-t, --time <time>', 'from when on the style counts, such as 2024-03-01 (default: now)')
    .addHelpText('after', `
A stored style never changes: the newest up to the time of a map counts. Its sources name layers of the store:
"url": "couch://osm". Maps find it at osm/style.json and osm@2024/style.json. See docs/styles.md.

Examples:
  tilecouch style osm style.json --time 2024-03-01
  tilecouch style osm my-style/
  tilecouch style osm
  tilecouch remove osm --style 2024-03-01`)
    .action(run(styleCommand))
}

function styleCommand (context, options, layer, file) {
  const { output, signal } = context
  checkLayer(layer)
  return withStore(context, options, async store => {
    if (file === undefined) return list(store, layer, output)
    const stored = await storeStyle(store, layer, file, { time: options.time, signal })
    const { time, isNew, files, ignored } = stored
    output.result(stored, [
      isNew
        ? `Stored the style ${layer}@${time}${files ? `, with ${plural(files, 'file')}, ${bytes(stored.bytes)}` : ''}`
        : `Nothing new: ${layer}@${time} is the same style`,
      ...(ignored.length ? [`  ${plural(ignored.length, 'file')} ignored, such as ${ignored[0]}`] : [])
    ])
  })
}

async function list (store, layer, output) {
  await store.layer(layer)
  const found = (await store.styles(layer)).map(({ time, stored, style, _attachments = {} }) => ({
    time,
    stored,
    name: style.name,
    layers: style.layers.length,
    files: Object.keys(_attachments).length,
    bytes: Object.values(_attachments).reduce((sum, { length }) => sum + length, 0)
  }))
  output.result(found, found.length
    ? table(['time', 'name', 'layers', 'files', 'size'], found.map(({ time, name, layers, files, bytes: size }) =>
      [time, typeof name === 'string' ? name : '', layers, files, bytes(size)]))
    : [`No style is stored for ${layer}: maps get the default style. Store one with: tilecouch style ${layer} FILE`])
}
