// What `import … from 'tilecouch/client'` gives. The same classes on the global L are declared in global.d.ts.
// Written by hand; tests compare it with the source: names, options, events and methods.
import * as L from 'leaflet'

/** A time as people and programs write it: a Date, or ISO text. A part of one means a period: `2024`, `2024-03`, `2024-03-01`. */
export type Time = string | Date

/** A time as documents hold it: UTC, whole seconds, `2024-03-01T00:00:00Z`. Exact times sort as text. */
export type ExactTime = string

/** First and last time of a period; both belong to it. */
export interface Range {
  from: Time
  to: Time
}

/** A moment at which the view of a map changed. */
export interface Change {
  time: ExactTime
  /** that look different from then on */
  tiles: number
  /** of the new versions */
  bytes: number
}

/** What a tile shows from one time on. */
export interface Version {
  layer: string
  z: number
  x: number
  y: number
  time: ExactTime
  /** revision of the document that holds it */
  rev: string
  bytes: number
  /** of the image, as documents name it: `md5-…`; none from a store whose index is older */
  digest?: string
  /** from this time on there is no tile */
  gone: boolean
  /** the newest one */
  current: boolean
  expires: ExactTime | null
}

/** A tile that looks different at two times. */
export interface ChangedTile {
  z: number
  x: number
  y: number
  /** of what is to be seen at the second time */
  bytes: number
  before: Version | null
  after: Version | null
}

/** A layer's document: TileJSON 3.0 fields, and the store's own. */
export interface LayerDocument {
  layer: string
  name?: string
  description?: string
  attribution?: string
  minzoom?: number
  maxzoom?: number
  /** west, south, east, north in degrees */
  bounds?: [number, number, number, number]
  /** longitude, latitude, zoom */
  center?: [number, number, number]
  format?: string
  tileSize?: number
  [field: string]: unknown
}

/** Every error has a code from docs/reference.md: branch on it, never on the message. */
export class TilecouchError extends Error {
  constructor (code: string, details?: Record<string, unknown>, options?: { cause?: unknown })
  readonly code: string
  readonly status: number
  readonly advice?: string
  readonly details: Record<string, unknown>
  toJSON (): { error: string, reason: string, advice?: string }
}

/** The listening methods of Leaflet, knowing the events `E`: name -> fields. */
export interface Listening<E> {
  on<K extends keyof E> (type: K, fn: (event: Event<E[K]>) => void, context?: any): this
  once<K extends keyof E> (type: K, fn: (event: Event<E[K]>) => void, context?: any): this
  off<K extends keyof E> (type: K, fn?: (event: Event<E[K]>) => void, context?: any): this
}

/** An event of Leaflet with fields of its own. */
export type Event<Fields> = Omit<L.LeafletEvent, keyof Fields> & Fields

/** `extend` as Leaflet has it, with `this` and the constructor of the class it is called on. */
interface Extending {
  extend<Class extends new (...args: any[]) => any, Props extends object> (this: Class, props: Props & ThisType<InstanceType<Class> & Props>):
    { [K in keyof Class]: Class[K] } & (new (...args: ConstructorParameters<Class>) => InstanceType<Class> & Props)
}

/** Listeners of `E` on an instance, and Leaflet's own `include`, `mergeOptions`, … on the class. */
type Base<Instance, E, Parent> = (new (...args: any[]) => Listening<E> & Instance) & Extending & Omit<Parent, 'extend' | 'prototype'>

// ---- Clock

export interface ClockOptions {
  /** where it starts; null: the newest */
  time?: Time | null
}

export interface ClockEvents {
  /** it moved */
  timechange: { time: ExactTime | null, previous: ExactTime | null }
}

declare const ClockBase: Base<L.Evented, ClockEvents, typeof L.Evented>

/** A time that layers and controls share. */
export class Clock extends ClockBase {
  constructor (options?: ClockOptions)
  options: ClockOptions
  /** null: the newest */
  getTime (): ExactTime | null
  /** A part of a time means its end. Throws `BAD_TIME`, and stays where it is, when it is none. */
  setTime (time: Time | null): this
}

export function clock (options?: ClockOptions): Clock

// ---- Layers

/** How a store is read. */
export interface StoreOptions {
  /** name of the layer in the store */
  layer: string
  /** follow the changes of the store */
  live?: boolean
  /** read the layer's document for zooms, bounds, tile size and attribution */
  tilejson?: boolean
  /** zooms in which a tile is enlarged beyond the last one */
  overzoom?: number
  /** milliseconds until a request counts as unanswered */
  timeout?: number
  /** for every request, as fetch takes them */
  fetchOptions?: RequestInit
  /** what is on the device, to be read as well */
  offline?: OfflineStore
  /** which is read first: the device (with `offline`), the network; or the device only */
  read?: 'device' | 'network' | 'only'
}

/** What both layers tell of the store. */
export interface StoreEvents {
  layerload: { layer: LayerDocument }
  storeerror: { error: TilecouchError }
  storeback: {}
}

/** Leaflet's own events of tiles. */
export interface TileEvents {
  loading: {}
  load: {}
  tileloadstart: { coords: L.Coords, tile: HTMLElement }
  tileload: { coords: L.Coords, tile: HTMLElement }
  tileunload: { coords: L.Coords, tile: HTMLElement }
  tileerror: { coords: L.Coords, tile: HTMLElement, error: Error }
}

export interface CouchLayerOptions extends StoreOptions, L.TileLayerOptions {}
export interface CouchLayerEvents extends StoreEvents, TileEvents {}

declare const CouchLayerBase: Base<L.TileLayer, CouchLayerEvents, typeof L.TileLayer>

/** The newest tiles of a layer. */
export class CouchLayer extends CouchLayerBase {
  /** @param db address of the database */
  constructor (db: string, options: CouchLayerOptions)
  options: CouchLayerOptions
  /** of the layer's document, once it is there; until then the layer's name */
  title: string
  retry (): this
  refresh (): this
}

export function couchLayer (db: string, options: CouchLayerOptions): CouchLayer

export interface HistoryLayerOptions extends StoreOptions, L.GridLayerOptions {
  /** where the clock is set to begin with; null: the newest */
  time?: Time | null
  /** shared with other layers; its own unless given */
  clock?: Clock
  /** milliseconds in which a tile turns into its next version */
  fade?: number
  /** milliseconds that tiles of a step wait for the slower ones */
  together?: number
  /** changes before and after the present time that are fetched in advance */
  preload?: number
  /** bytes fetched in advance at most, at one time */
  preloadSize?: number
  /** bytes of images kept */
  cacheSize?: number
  /** entries of the version index kept */
  versions?: number
  /** images fetched at the same time */
  requests?: number
  /** for an image before it counts as failed */
  attempts?: number
}

export interface HistoryLayerEvents extends StoreEvents, TileEvents {
  timechange: { time: ExactTime | null }
  timeload: { time: ExactTime | null }
  changes: { changes: Change[] | null }
  extent: { first?: ExactTime, last?: ExactTime }
}

declare const HistoryLayerBase: Base<L.GridLayer, HistoryLayerEvents, typeof L.GridLayer>

/** The map as it was: every tile in its version as of the clock's time. */
export class HistoryLayer extends HistoryLayerBase {
  /** @param db address of the database */
  constructor (db: string, options: HistoryLayerOptions)
  options: HistoryLayerOptions
  /** the one given to it, or its own */
  readonly clock: Clock
  /** of the layer's document, once it is there; until then the layer's name */
  title: string
  getTime (): ExactTime | null
  setTime (time: Time | null): this
  /** Oldest first; null while that is not known; empty where nothing is. */
  changes (): Change[] | null
  /** Of the whole layer; null while unknown, or when it has no tiles. */
  extent (): { first: ExactTime, last: ExactTime } | null
  isShown (): boolean
  /** Times of versions, or null for the newest. */
  changedTiles (from: ExactTime | null, to: ExactTime | null): ChangedTile[]
  tileAt (place: L.LatLngExpression): { z: number, x: number, y: number, versions: Version[], shown: Version | null } | null
  preload (times: (ExactTime | null)[], signal?: AbortSignal): Promise<void>
  retry (): this
  refresh (): this
}

export function historyLayer (db: string, options: HistoryLayerOptions): HistoryLayer

// ---- Player

export interface PlayerOptions {
  /** steps a second */
  speed?: number
  /** starts again at the end */
  loop?: boolean
  /** plays only what changed within */
  range?: Range | null
}

export interface PlayerEvents {
  /** it starts */
  play: {}
  /** it stops, for whatever reason */
  pause: {}
  /** it moved the clock to the next change */
  step: { time: ExactTime }
  /** the next step is due, and tiles or changes are not there yet */
  waiting: { time: ExactTime | null }
  /** it came to the last change, and does not loop; `pause` follows */
  end: {}
  /** `setSpeed` was called */
  speedchange: { speed: number }
  /** `setLoop` was called */
  loopchange: { loop: boolean }
  /** it plays another range; without fields: everything */
  rangechange: { from?: ExactTime, to?: ExactTime }
}

declare const PlayerBase: Base<L.Evented, PlayerEvents, typeof L.Evented>

/** Steps a clock from change to change of its layers, and waits for their tiles. */
export class Player extends PlayerBase {
  constructor (clock: Clock, layers: HistoryLayer | HistoryLayer[], options?: PlayerOptions)
  options: PlayerOptions
  /** the one it moves */
  readonly clock: Clock
  /** On from the present time; from the beginning when that is the end. */
  play (): this
  /** Stays where it is. */
  pause (): this
  /** Plays, or pauses. */
  toggle (): this
  /** Also while it waits for tiles. */
  isPlaying (): boolean
  /** Steps a second. */
  getSpeed (): number
  /** Steps a second; throws `BAD_OPTION` unless above 0. */
  setSpeed (speed: number): this
  /** Whether it starts again at the end. */
  getLoop (): boolean
  /** Whether to start again at the end. */
  setLoop (loop: boolean): this
  /** Exact times, or null: everything. */
  getRange (): { from: ExactTime, to: ExactTime } | null
  /** Both ends belong to it, and parts of a time are whole periods; null: everything. */
  setRange (range: Range | null): this
  /** So many changes on, or back. */
  step (steps: number): this
  first (): this
  last (): this
  setLayers (layers: HistoryLayer | HistoryLayer[], clock?: Clock): this
}

export function player (clock: Clock, layers: HistoryLayer | HistoryLayer[], options?: PlayerOptions): Player

// ---- Controls

export interface TimelineControlOptions extends L.ControlOptions {
  /** anything at the bottom: along the lower edge of the map; at the top: along the upper */
  position?: L.ControlPosition
  /** an element to be in instead of the map */
  container?: HTMLElement | null
  /** steps a second while playing */
  speed?: number
  /** playing starts again at the end */
  loop?: boolean
  /** to begin with */
  range?: Range | null
  timeZone?: TimeZone
  /** a play button, speed and loop */
  playable?: boolean
  /** a range can be chosen */
  selectable?: boolean
  /** the axis can be zoomed */
  zoomable?: boolean
}

/** In which times are shown: `'utc'`, `'local'`, or a name such as `'Europe/Berlin'`. */
export type TimeZone = 'utc' | 'local' | (string & {})

export interface TimelineControlEvents {
  /** another range was chosen; without fields: none */
  rangechange: { from?: ExactTime, to?: ExactTime }
  /** `setTimeZone` was called, or the user chose another */
  zonechange: { timeZone: TimeZone }
}

declare const TimelineControlBase: Base<L.Control & L.Evented, TimelineControlEvents, typeof L.Control>

/** When the view of the map changed, and the way through it. */
export class TimelineControl extends TimelineControlBase {
  /** @param layers a history layer, or several that share a clock */
  constructor (layers: HistoryLayer | HistoryLayer[], options?: TimelineControlOptions)
  options: TimelineControlOptions
  /** what it plays with: listen to it, or tell it what to do */
  readonly player: Player
  /** that of its layers */
  readonly clock: Clock
  setLayers (layers: HistoryLayer | HistoryLayer[]): this
  /** In which times are shown. */
  getTimeZone (): TimeZone
  /** Throws a `RangeError` when there is none of that name. */
  setTimeZone (zone: TimeZone): this
  /** Exact times, or null: none is chosen. */
  getRange (): { from: ExactTime, to: ExactTime } | null
  /** Both ends belong to it, and parts of a time are whole periods; null: everything. */
  setRange (range: Range | null): this
  toggleRange (): this
  /** The axis shows the range, with some air on both sides. */
  zoomToRange (): this
  zoomAxis (factor: number): this
  /** The axis shows all there is. */
  showAll (): this
  /** What the axis shows, in milliseconds; null for everything. */
  setSpan (span: { from: number, to: number } | null): this
}

export function timeline (layers: HistoryLayer | HistoryLayer[], options?: TimelineControlOptions): TimelineControl

export interface CompareControlOptions extends L.ControlOptions {
  /** where the handle is, a share of the width of the map */
  split?: number
  leftLabel?: string
  rightLabel?: string
  /** the handle's name for screen readers */
  label?: string
}

export interface CompareControlEvents {
  /** the handle moved */
  splitchange: { split: number }
}

/** One side of a comparison: layers that have a container to clip. */
export type Side = L.GridLayer | L.GridLayer[] | null

declare const CompareControlBase: Base<L.Control & L.Evented, CompareControlEvents, typeof L.Control>

/** Two sides under a swipe handle. */
export class CompareControl extends CompareControlBase {
  constructor (left: Side, right: Side, options?: CompareControlOptions)
  options: CompareControlOptions
  setLayers (left: Side, right: Side): this
  /** What the sides show; an empty text: no label. */
  setLabels (left: string, right: string): this
  /** Where the handle is, a share of the width of the map. */
  getSplit (): number
  /** A share of the width, 0 to 1. */
  setSplit (split: number): this
}

export function compare (left: Side, right: Side, options?: CompareControlOptions): CompareControl

export interface CoverageLayerOptions extends L.GridLayerOptions {
  /** name of the layer */
  layer: string
  opacity?: number
  zIndex?: number
  className?: string
}

export interface CoverageLayerEvents {
  coverage: { tiles: CoverageCounts }
}

/** Tiles in view, by what is on the device. */
export interface CoverageCounts {
  /** the tile, and all that the areas take along beneath it */
  whole: number
  /** not all of it: an area is not complete, or holds only a part of what lies beneath */
  part: number
  /** only because it was looked at: it is kept for a while */
  browsed: number
}

declare const CoverageLayerBase: Base<L.GridLayer, CoverageLayerEvents, typeof L.GridLayer>

/** Which tiles are on the device, painted over the map. */
export class CoverageLayer extends CoverageLayerBase {
  constructor (offline: OfflineStore, options: CoverageLayerOptions)
  options: CoverageLayerOptions
  counts (): CoverageCounts
  refresh (): this
}

export function coverageLayer (offline: OfflineStore, options: CoverageLayerOptions): CoverageLayer

// ---- Mirror

/** A PouchDB of the page, with whatever adapter but http. */
export interface PouchDatabase {
  name: string
  adapter?: string
  info (): Promise<any>
  get (id: string, ...more: any[]): Promise<any>
  put (doc: any, ...more: any[]): Promise<any>
  allDocs (options?: any): Promise<any>
  bulkDocs (docs: any, options?: any): Promise<any>
  bulkGet (options: any): Promise<any>
  revsDiff (revs: any): Promise<any>
  changes (options?: any): any
}

export interface MirrorOptions {
  /** only these layers */
  layers?: string[]
  /** only tiles that touch it: west, south, east, north in degrees */
  bbox?: [number, number, number, number] | string
  /** only tiles that touch it: GeoJSON */
  polygon?: object
  /** only these: `'0-14'`, `7` */
  zooms?: { min: number, max: number } | string | number
  /** only the newest tiles, without the past */
  current?: boolean
  /** of the past, only what was still to be seen then or came later */
  since?: Time
  /** goes on until the signal */
  live?: boolean
  /** counts what is missing, and writes nothing */
  dryRun?: boolean
  /** for every request, as fetch takes them */
  fetchOptions?: RequestInit
  signal?: AbortSignal
  /** after every batch */
  onProgress?: (status: MirrorStatus) => void
  /** it is reading, following or away, or another error is met */
  onState?: (status: MirrorStatus) => void
  /** the target does not take a document, and never will */
  onRefused?: (refused: { id: string, rev?: string, error: string, reason: string }) => void
  /** how much at once */
  limits?: Partial<MirrorLimits>
}

export interface MirrorLimits {
  /** changes read at once */
  page: number
  /** of them under way */
  pages: number
  /** documents a request at most */
  batch: number
  /** of tiles a request, as far as their size can be foretold */
  batchBytes: number
  /** of one answer: beyond it the batch is divided */
  mostBytes: number
  /** batches on their way */
  concurrency: number
  /** milliseconds between two notes of how far it got */
  checkpoint: number
  /** milliseconds a live mirror waits for a change before it asks again */
  poll: number
  /** milliseconds before a live mirror tries again, doubled each time */
  firstDelay: number
  longestDelay: number
}

/** How a mirror goes, and what it did so far. */
export interface MirrorStatus {
  /** away: the store does not answer, and it is tried again */
  state: 'reading' | 'following' | 'away'
  /** seconds for which it may be behind: 0 while it follows; undefined: it never was up to date */
  lag?: number
  /** when it was, in milliseconds */
  upToDate?: number
  /** changes that are not looked at */
  pending?: number
  /** the sequence up to which everything is there */
  since?: string | number
  /** of the document that remembers it */
  checkpoint?: string
  /** code of the last error, while it is away */
  error?: string
  reason?: string
  /** looked at */
  changes: number
  /** documents among them that belong to the mirror */
  selected: number
  /** revisions that the target was asked about */
  checked: number
  /** revisions that it did not have */
  missing: number
  /** written */
  docs: number
  /** among them: tombstones */
  deleted: number
  /** versions of tiles among them */
  tiles: number
  /** received */
  bytes: number
  /** revisions that the source does not have any more */
  absent: number
  /** revisions that the target did not take */
  refused: number
  /** revisions that the target has refused, in this run or before, and lacks */
  lacking: number
  /** the first of them */
  refusals: { id: string, rev?: string, error: string, reason: string }[]
}

/** A store, all of it or a part, taken into a PouchDB, or from there to a store. */
export class Mirror {
  /** @param from address of a store, or a PouchDB @param to the same */
  constructor (from: string | PouchDatabase, to: string | PouchDatabase, options?: MirrorOptions)
  /** for people, without any password */
  readonly from: string
  readonly to: string
  /** Resolves when everything is there; rejects with `ABORTED` when the signal says so. */
  run (): Promise<MirrorStatus>
  status (): MirrorStatus
}

/** A mirror that runs: `PouchDB.replicate` with the same sides, for tiles. */
export function mirror (from: string | PouchDatabase, to: string | PouchDatabase, options?: MirrorOptions): Promise<MirrorStatus>

// ---- Offline

/** What `new PouchDB(name, options)` is made with. */
export type PouchConstructor = new (name: string, options?: any) => any

export interface OfflineStoreOptions {
  /** address of the store, absolute or relative to the page; may hold a name and password */
  remote: string
  /** of the databases on the device: two stores of a page have two names; `tilecouch` unless given */
  name?: string
  /** the global one unless given; without any: `NO_POUCHDB` */
  PouchDB?: PouchConstructor
  /** of PouchDB: `idb` in browsers, `leveldb` in Node unless given */
  adapter?: string
  /** for every request, as fetch takes them */
  fetchOptions?: RequestInit
  /** keeps what was looked at, up to so many bytes (50 MB unless said); off unless given. Browsers only: `BAD_OPTION` in Node */
  browse?: true | { size?: number }
  /** how much at once */
  limits?: Partial<TransferLimits>
}

/** How much of an area is transferred at once. */
export interface TransferLimits extends MirrorLimits {
  /** for a document that a side has trouble with */
  tries: number
  /** of a request for documents, before it is found out which one is to blame */
  retries: number
  /** milliseconds between two notes of how far it got */
  noting: number
  /** changes that are read rather than the area listed anew */
  feed: number
  /** as many more of them as the area has versions */
  feedShare: number
  /** of uploads */
  upload: Partial<UploadLimits>
}

/** How much of an edition is sent at once. */
export interface UploadLimits {
  /** tiles a request at most */
  batch: number
  /** of images in the first requests, before anything is known of the line */
  firstBytes: number
  /** of images in a request on the slowest line */
  leastBytes: number
  /** of images in a request on the quickest line */
  mostBytes: number
  /** milliseconds a request is meant to take */
  batchTime: number
  /** requests on their way */
  concurrency: number
}

/** Listeners are given `{type, …}` with these. */
export interface OfflineStoreEvents {
  /** an area was added, removed, renamed, or changed its state */
  areas: { areas: Area[] }
  /** during a transfer, some ten times a second at most */
  progress: { area: Area, status: AreaStatus }
  /** something in the background went wrong; what a call meets rejects the call */
  failure: { area?: Area, error: TilecouchError }
  /** the store answers, or does not any more */
  online: { online: boolean }
  /** tiles of a layer on the device changed */
  tiles: { layer: string, area?: Area }
}

/** Parts of the map on a device, with all that belongs to them: in the PouchDB of the page, or of Node. */
export class OfflineStore {
  constructor (options: OfflineStoreOptions)
  /** of its databases */
  readonly name: string
  /** address of the store, without name and password */
  readonly remote: string
  /** Resolves when the list of areas has been read. */
  readonly ready: Promise<void>
  /** what was taken along, and is to be */
  readonly areas: Areas
  /** what is on the device, whatever the network does */
  readonly device: Device
  /** what was made on this device */
  readonly edits: Edits
  /** what was looked at, when that is kept */
  readonly browse?: BrowseCache
  /** whether the store answered last time; undefined: it was not asked yet */
  readonly isOnline: boolean | undefined
  readonly isClosed: boolean
  on<K extends keyof OfflineStoreEvents> (type: K, fn: (event: { type: K } & OfflineStoreEvents[K]) => void): this
  on (types: string, fn: (event: any) => void): this
  once<K extends keyof OfflineStoreEvents> (type: K, fn: (event: { type: K } & OfflineStoreEvents[K]) => void): this
  once (types: string, fn: (event: any) => void): this
  off<K extends keyof OfflineStoreEvents> (type: K, fn?: (event: { type: K } & OfflineStoreEvents[K]) => void): this
  off (types: string, fn?: (event: any) => void): this
  /** How much room there is. What a browser does not tell is not there, nor anything but `ours` in Node. */
  storage (): Promise<StorageFigures>
  /** Asks the browser never to clear what is here by itself; whether it agreed. */
  persist (): Promise<boolean>
  /** Ends what is under way, and leaves everything on the device. */
  close (): Promise<void>
  /** Closes it, and removes everything from the device. */
  destroy (): Promise<void>
}

/** Bytes that are used and free. */
export interface StorageFigures {
  /** by everything of this origin, as the browser counts */
  usage?: number
  /** what the browser gives this origin at most */
  quota?: number
  free?: number
  /** the browser does not clear it by itself */
  persisted?: boolean
  /** images of the areas and of what was looked at */
  ours: number
}

/** What an area is of. */
export interface AreaSpec {
  layer: string
  /** west, south, east, north in degrees */
  bbox?: [number, number, number, number]
  /** GeoJSON */
  polygon?: object
  zooms: { min: number, max: number }
  /** false: only the newest tiles; true: their past as well; since: of the past only what was still to be seen then, or came later */
  history: boolean | { since: ExactTime }
}

/** What is taken along, as it is said. */
export interface AreaWish {
  layer: string
  /** as Leaflet has it: south-west and north-east */
  bounds?: L.LatLngBoundsExpression
  /** west, south, east, north in degrees */
  bbox?: [number, number, number, number] | string
  /** GeoJSON: a Polygon, MultiPolygon, Feature or FeatureCollection */
  polygon?: object
  /** `'0-14'`, `7`, `[0, 14]`; all of the layer unless said */
  zooms?: { min: number, max: number } | [number, number] | string | number
  /** false unless said: only the newest tiles */
  history?: boolean | { since: Time }
  /** there is leave to take along what the terms of the layer forbid */
  permission?: boolean
}

/** The areas of a device: the same list in every tab. */
export interface Areas {
  /**
   * Nothing is taken yet. Rejects with `BAD_LAYER`, `BAD_BBOX`, `BAD_AREA`, `BAD_ZOOM`, `BAD_OPTION`, `LAYER_NOT_FOUND`,
   * `OFFLINE_FORBIDDEN` (the terms of the layer), `AREA_EXISTS` (the name is taken), `UNREACHABLE`.
   */
  add (wish: AreaWish & { name: string }): Promise<Area>
  /** In the order in which they were made. */
  list (): Area[]
  get (idOrName: string): Area | undefined
  /** As the estimate of an area that is added, without adding it. */
  estimate (wish: AreaWish, options?: { signal?: AbortSignal }): Promise<AreaEstimate>
}

/** `waiting`: another tab transfers it. `incomplete`: broken off, or some tiles failed. */
export type AreaState = 'new' | 'waiting' | 'downloading' | 'paused' | 'incomplete' | 'complete' | 'removing'

/** What an area takes, before anything is taken. */
export interface AreaEstimate {
  /** places that have an image */
  tiles: number
  /** documents: more than tiles where there is a past */
  versions: number
  /** of images, exactly */
  bytes: number
  /** over the net, within 1 % */
  transfer: number
  /** made for the estimate itself */
  requests: number
}

/** How an area stands. */
export interface AreaStatus {
  state: AreaState
  /** on the device */
  tiles: number
  versions: number
  /** of images on the device */
  bytes: number
  /** what it will be, once that is known */
  total?: { tiles: number, versions: number, bytes: number, transfer: number }
  /** tiles that did not come; the next download tries them, and only them */
  failed: number
  /** bytes a second, during a transfer */
  rate?: number
  /** seconds, during a transfer */
  remaining?: number
  /** when it lacked nothing, last */
  updated?: string
  /** it is kept as the store has it */
  live: boolean
  /** code of what went wrong last */
  error?: string
  reason?: string
}

/** A part of a layer that a device keeps. Other areas may hold the same tiles: each is complete by itself. */
export interface Area {
  readonly id: string
  readonly name: string
  readonly layer: string
  readonly spec: AreaSpec
  /** its PouchDB; another one may take its place when the device was full */
  readonly db: any
  readonly state: AreaState
  readonly isComplete: boolean
  /** true: all of the past; false: none; a time: what was still to be seen then, and since */
  readonly hasHistory: boolean | ExactTime
  /** Plain values. */
  status (): AreaStatus
  /** Whether a place lies in it. */
  holds (z: number, x: number, y: number): boolean
  estimate (options?: { signal?: AbortSignal }): Promise<AreaEstimate>
  /**
   * Takes along what is not there yet: goes on where it was, tries again what failed; when nothing is missing it is a refresh.
   * Rejects with `ABORTED` (the signal, `pause()`, `remove()`), `QUOTA_EXCEEDED` (no room; `force` tries it all the same), `UNREACHABLE`, …
   */
  download (options?: { signal?: AbortSignal, force?: boolean }): Promise<AreaStatus>
  /** Stops a transfer, in whichever tab it runs. */
  pause (): Promise<void>
  /** Only what changed since. */
  refresh (options?: { signal?: AbortSignal }): Promise<AreaStatus & { changed: { docs: number, tiles: number, bytes: number } }>
  /** Keeps it as the store has it from now on, also after a reload. */
  live (isLive?: boolean): Promise<void>
  rename (name: string): Promise<void>
  /** Off the device, at once and completely. */
  remove (): Promise<void>
}

/** What is on the device: of all areas and of what was made here, read together. */
export interface Device {
  layers (): Promise<LayerDocument[]>
  layer (layer: string): Promise<LayerDocument | undefined>
  /** Newest first. */
  editions (layer: string): Promise<Record<string, any>[]>
  /** What there is of a layer, zoom by zoom. */
  stats (layer: string): Promise<DeviceStats>
  /** First and last time; null when there is nothing. */
  extent (layer: string): Promise<{ first: ExactTime, last: ExactTime } | null>
  /** Of the tiles of each column, ascending by row, then time. */
  versions (layer: string, columns: Column[]): Promise<Version[][]>
  tile (version: Version): Promise<Blob | undefined>
  /** The newest image of a place. */
  head (layer: string, z: number, x: number, y: number): Promise<{ blob: Blob, version: Version } | undefined>
  /** Whether the newest image of a place is there. */
  has (layer: string, z: number, x: number, y: number): Promise<boolean>
}

/** Rows of one column of tiles; both ends belong to it. */
export interface Column {
  z: number
  x: number
  y0: number
  y1: number
}

/** What a device holds of a layer; times in seconds. */
export interface DeviceStats {
  tiles: number
  versions: number
  bytes: number
  first: number
  last: number
  zooms: { z: number, tiles: number, x0: number, x1: number, y0: number, y1: number }[]
}

/** What was looked at, kept up to a number of bytes. Nothing of it rejects: what it cannot do it leaves. */
export interface BrowseCache {
  /** bytes kept at most */
  readonly size: number
  /** `change` {layers}: something was put, or let go */
  on (type: 'change', fn: (event: { type: 'change', layers?: string[] }) => void): this
  off (type: 'change', fn?: (event: any) => void): this
  get (version: Version): Promise<Blob | undefined>
  put (version: Version, blob: Blob): Promise<void>
  /** The newest image of a place that is kept; without a version when only the place of it is known. */
  head (layer: string, z: number, x: number, y: number): Promise<{ blob: Blob, version?: Version } | undefined>
  layers (): Promise<string[]>
  usage (): Promise<{ bytes: number, tiles: number, size: number, layers: Record<string, { bytes: number, tiles: number }> }>
  /** Forgets a layer, or everything. */
  clear (layer?: string): Promise<void>
}

/** What is made on this device: surveys without a network, that go to the store later. */
export interface Edits {
  /** An edition of this device. Tiles of it are to be seen at once, by every layer that reads from the device. */
  begin (edition: EditionWish): Promise<Edition>
  get (layer: string, time: Time): Promise<Edition | undefined>
  /** Oldest first. */
  list (): Promise<Edition[]>
}

/** An edition that is to be made here. */
export interface EditionWish {
  /** need not be anywhere yet: the store gets it with its first edition */
  layer: string
  /** when the map looked like this; now unless given */
  time?: Time
  title?: string
  /** where the tiles come from */
  source?: string
  /** of the layer, when neither the device nor the store knows it */
  fields?: Record<string, unknown>
}

/** Bytes of an image: what they are is read from them. */
export type TileImage = Blob | ArrayBuffer | ArrayBufferView

/** A tile that is made here. */
export interface MadeTile {
  z: number
  x: number
  y: number
  image?: TileImage
  /** from that time on there is no tile */
  gone?: boolean
}

/** A tile that was not taken. */
export interface FailedTile {
  z: number
  x: number
  y: number
  code: string
  reason: string
}

/** One edition that is made on this device, and its way to the store. */
export interface Edition {
  readonly layer: string
  readonly time: ExactTime
  put (z: number, x: number, y: number, image: TileImage): Promise<void>
  /** There was no tile at that time. */
  gone (z: number, x: number, y: number): Promise<void>
  /** Many at once; one that is no good does not cost the others. */
  putAll (tiles: Iterable<MadeTile> | AsyncIterable<MadeTile>, options?: { signal?: AbortSignal }): Promise<{ tiles: number, bytes: number, failed: number, failures: FailedTile[] }>
  /** Takes one back that was not sent; whether there was one. */
  remove (z: number, x: number, y: number): Promise<boolean>
  status (): Promise<EditionStatus>
  tiles (options?: { state?: 'unsent' | 'sent' | 'refused' }): AsyncGenerator<EditionTile>
  /** Sends what the store has not got. Conflicts are settled as in mirrors: no version is lost. */
  upload (options?: UploadOptions): Promise<EditionStatus>
  /** Takes it off the device, whether it was sent or not. */
  discard (): Promise<void>
}

/** How an edition of this device stands. */
export interface EditionStatus {
  layer: string
  time: ExactTime
  title?: string
  source?: string
  state: 'open' | 'uploading' | 'sent' | 'gone'
  /** that were made here */
  tiles: number
  /** of those that are here: that say there is no tile */
  gone: number
  sent: number
  unsent: number
  /** that the store does not take */
  refused: number
  /** that are on the device still */
  here: number
  /** of images on the device */
  bytes: number
  /** when all of it had been sent */
  uploaded?: ExactTime
  /** where to */
  to?: string
}

/** A tile of an edition as it is on the device. */
export interface EditionTile {
  z: number
  x: number
  y: number
  gone: boolean
  bytes: number
  /** content type */
  type?: string
  state: 'unsent' | 'sent' | 'refused'
  /** why it was refused */
  code?: string
  reason?: string
  image (): Promise<Blob | undefined>
}

export interface UploadOptions {
  /** address of a store; the one that the areas come from unless given */
  to?: string
  /** of somebody with the right to write */
  name?: string
  password?: string
  fetchOptions?: RequestInit
  signal?: AbortSignal
  onProgress?: (progress: { tiles: number, bytes: number, refused: number, total: { tiles: number, bytes: number }, rate: number, remaining?: number }) => void
  onFailure?: (failure: FailedTile) => void
}

export {}
