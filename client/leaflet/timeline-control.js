// The timeline as a control of Leaflet.
import L from './version.js'
import { delegate } from '../timeline/delegate.js'
import { TIMELINE_FIELDS, Timeline, timelineDefaults } from '../timeline/timeline.js'

export const timelineControlDefaults = {
  /** @type {L.ControlPosition} at the bottom or at the top: along that edge of the map */
  position: 'bottomleft',
  /** @type {HTMLElement | null} element that contains it, instead of the map */
  container: null,
  ...timelineDefaults
}

/**
 * @typedef {import('./history-layer.js').HistoryLayer} HistoryLayer
 * @typedef {import('../timeline/timeline.js').TimelineEvents} TimelineControlEvents
 * @typedef {Partial<typeof timelineControlDefaults>} TimelineControlOptions
 */

/**
 * @type {import('./leaflet.js').Base<L.Control & Timeline, typeof timelineControlDefaults, TimelineControlEvents,
 *   typeof L.Control>}
 */
const Base = /** @type {any} */ (L.Control.extend({ includes: L.Evented.prototype, options: timelineControlDefaults }))

/** A `Timeline` along an edge of the map. */
export class TimelineControl extends Base {
  /** @param {HistoryLayer | HistoryLayer[]} layers several share a clock @param {TimelineControlOptions} [options] */
  constructor (layers, options) {
    super(options)
    this._timeline = new Timeline(layers, this.options)
    this._timeline.on('rangechange zonechange', event => this.fire(event.type, event))
  }

  addTo (map) {
    super.addTo(map)
    const { container, position } = this.options
    if (container) {
      this._container.classList.remove('leaflet-control')
      this._timeline.appendTo(container)
    } else {
      const edge = position.startsWith('top') ? 'top' : 'bottom'
      this._timeline.dock(map.getContainer(), { edge, corners: map._controlContainer })
    }
    return this
  }

  onAdd () {
    L.DomEvent.disableClickPropagation(this._timeline.element)
    return this._timeline.element
  }

  remove () {
    this._timeline.remove()
    return super.remove()
  }
}

delegate(TimelineControl, Timeline, '_timeline', ['element', ...TIMELINE_FIELDS])

/** @param {HistoryLayer | HistoryLayer[]} layers several share a clock @param {TimelineControlOptions} [options] */
export const timeline = (layers, options) => new TimelineControl(layers, options)
