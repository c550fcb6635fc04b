// What keeps a store in order: removing, copying and renaming, pruning, expired tiles, compaction, mirrors.
export { compact } from './compact.js'
export { copyLayer } from './copy/index.js'
export { moveLayer } from './copy/move.js'
export { expire } from './expired/index.js'
export { Mirror, mirror } from './mirror/index.js'
export { prune, pruneAll } from './prune/index.js'
export { removeEdition, removeLayer, removeStyle, removeTiles } from './remove/index.js'
export { Remover } from './remove/remover.js'
