// `npm run bundle` and `npm pack`: writes the bundles of the client library into dist/, or into the folder that is named.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundle, clientBundles } from '../loader/couchapp/bundle.js'

const folder = process.argv[2] ?? 'dist'
mkdirSync(folder, { recursive: true })
for (const [name, { bytes }] of Object.entries(await bundle(clientBundles))) writeFileSync(path.join(folder, name), bytes)
