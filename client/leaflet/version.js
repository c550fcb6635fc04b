// Exports Leaflet after a check of its version. The layers and controls import it from here, so that an unsupported
// version gives a clear error before a class extends it.
import L from 'leaflet'
import { TilecouchError } from '../../core/errors.js'

const SUPPORTED = /^1\.(9|\d\d+)\./

const { version } = L
if (!SUPPORTED.test(version)) throw new TilecouchError('LEAFLET_VERSION', { value: version })

export default L
