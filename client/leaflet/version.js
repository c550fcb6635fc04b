// Leaflet, if it is one that the layers and controls can extend. They import it from here, so that another one gives a
// clear error before any class is made of it.
import L from 'leaflet'
import { TilecouchError } from '../../core/errors.js'

const SUPPORTED = /^1\.(9|\d\d+)\./

const { version } = L
if (!SUPPORTED.test(version)) throw new TilecouchError('LEAFLET_VERSION', { value: version })

export default L
