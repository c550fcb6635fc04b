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

export {}
