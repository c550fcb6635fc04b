// proj4js for other grids than Web Mercator, loaded when the first of them is used: see core/grids/projections.js.
import { createRequire } from 'node:module'
import { registerProj4 } from '../../core/grids/index.js'

const require = createRequire(import.meta.url)

registerProj4(definition => require('proj4')(definition))
