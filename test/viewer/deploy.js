// Another version of the viewer, deployed to a store: every file of it that runs says which one it is of.
import { stamp } from '../../loader/couchapp/bundle.js'
import { isOfViewer } from '../../loader/couchapp/compose.js'

const MARKED = { 'viewer.js': 'js', 'leaflet.js': 'js', 'offline.js': 'js', 'viewer.css': 'css' }

const mark = (name, number) => MARKED[name] === 'css'
  ? `\n:root { --version: ${number} }`
  : `\n;(globalThis.versions ??= {})["${name}"] = ${number};`

/** @param {number} number told by `versions` of the page, and by `--version` of its style */
export async function deploy (store, number) {
  const { _attachments, ...design } = await store.couch.request({ path: '_design/tiles?attachments=true' })
  const files = Object.fromEntries(Object.entries(_attachments)
    .map(([name, { content_type: type, data }]) => [name, { type, bytes: Buffer.from(data, 'base64') }]))
  for (const name of Object.keys(MARKED)) {
    files[name].bytes = Buffer.concat([files[name].bytes, Buffer.from(mark(name, number))])
  }
  // as it was before it was stamped
  files['index.html'].bytes = Buffer.from(
    files['index.html'].bytes.toString().replace(/\?v=[0-9a-f]+/g, '').replace(/integrity="[^"]+"/g, 'integrity=""')
  )
  files['sw.js'].bytes = Buffer.from(files['sw.js'].bytes.toString().replace(/^const SHELL=.*\n/, ''))
  stamp(files, isOfViewer)
  const attached = Object.entries(files)
    .map(([name, { type, bytes }]) => [name, { content_type: type, data: bytes.toString('base64') }])
  await store.couch.request(
    { method: 'PUT', path: '_design/tiles', body: JSON.stringify(
      { ...design, _attachments: Object.fromEntries(attached) }
    ) }
  )
}
