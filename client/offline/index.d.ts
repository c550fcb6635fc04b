// Types of `tilecouch/offline`: the same as in `tilecouch/client`, for what runs without Leaflet.
export { OfflineStore, TilecouchError } from '../index.js'
export type {
  Area, AreaEstimate, AreaSpec, AreaState, AreaStatus, AreaWish, Areas, BrowseCache, Column, Device, DeviceStats, Edition, EditionStatus, EditionTile,
  EditionWish, Edits, ExactTime, FailedTile, LayerDocument, MadeTile, OfflineStoreEvents, OfflineStoreOptions, PouchConstructor, StorageFigures, TileImage,
  Time, TransferLimits, UploadLimits, UploadOptions, Version
} from '../index.js'
