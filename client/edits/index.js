// Editing on a device, apart from areas: `new OfflineStore({ remote, Edits })` gives the store `edits`.
export { TilecouchError } from '../../core/index.js'
export { Edits } from './edits.js'
