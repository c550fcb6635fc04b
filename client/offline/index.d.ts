// Types of `tilecouch/offline`: the same as in `tilecouch/client`, for what runs without Leaflet.
export { OfflineStore } from '../index.js'
export type {
  Area, AreaEstimate, AreaSpec, AreaState, AreaStatus, AreaWish, Areas, BrowseCache, Column, Device, DeviceStats, Edits, ExactTime, LayerDocument,
  OfflineStoreEvents, OfflineStoreOptions, PouchConstructor, StorageFigures, TilecouchError, Time, Version
} from '../index.js'
