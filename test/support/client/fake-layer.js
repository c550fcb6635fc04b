/* global L, document -- of the page this is bundled for */
// A history layer without a store: the test says what changed, and when tiles are there.

/** @param {{clock: any, title?: string, changes?: any, extent?: any, colour?: string}} options */
export function fakeLayer (options) {
  return new FakeLayer(options)
}

const FakeLayer = /** @type {any} */ (L.GridLayer.extend({
  initialize (options) {
    L.GridLayer.prototype.initialize.call(this, options)
    this.clock = options.clock
    this.title = options.title ?? 'Fake'
    this.slow = false // while true no tile comes by itself: arrive() brings them
    this._changes = options.changes ?? null
    this._extent = options.extent ??
      (this._changes?.length ? { first: this._changes[0].time, last: this._changes.at(-1).time } : null)
    this._shown = true
    this.clock.on('timechange', ({ time }) => {
      this._shown = !this.slow
      this.fire('timechange', { time })
      if (this._shown) this.fire('timeload', { time })
    })
  },

  createTile () {
    const tile = document.createElement('div')
    tile.style.background = this.options.colour ?? '#8fb3a0'
    tile.style.boxShadow = 'inset 0 0 0 1px #ffffff66'
    return tile
  },

  changes () {
    return this._changes
  },

  extent () {
    return this._extent
  },

  isShown () {
    return this._shown
  },

  /** The tiles of the present time are there. */
  arrive () {
    this._shown = true
    this.fire('timeload', { time: this.clock.getTime() })
  },

  setChanges (changes) {
    this._changes = changes
    if (changes) this.fire('changes', { changes })
  },

  setExtent (extent) {
    this._extent = extent
    this.fire('extent', extent)
  }
}))

// what the timeline asks of the engine of a layer
Object.defineProperty(FakeLayer.prototype, 'isOnMap', { get () { return Boolean(this._map) } })
