// The timeline as a control of MapLibre.
import { Emitter } from '../engine/emitter.js'
import { delegate } from '../timeline/delegate.js'
import { element } from '../timeline/dom.js'
import { TIMELINE_FIELDS, Timeline, timelineDefaults } from '../timeline/timeline.js'

export const timelineControlDefaults = {
  /** @type {import('maplibre-gl').ControlPosition} at the bottom or at the top: along that edge of the map */
  position: 'bottom-left',
  /** @type {HTMLElement | null} element that contains it, instead of the map */
  container: null,
  ...timelineDefaults
}

/**
 * @typedef {import('./history-layer.js').HistoryLayer} HistoryLayer
 * @typedef {Partial<typeof timelineControlDefaults>} TimelineControlOptions
 */

/** Declares the methods of Timeline, which delegate() below adds. @type {new () => Timeline} */
const Held = /** @type {any} */ (Object)

/** A `Timeline` along an edge of the map. */
export class TimelineControl extends Held {
  /** @param {HistoryLayer | HistoryLayer[]} layers several share a clock @param {TimelineControlOptions} [options] */
  constructor (layers, options) {
    super()
    this.options = { ...timelineControlDefaults, ...options }
    this._timeline = new Timeline(layers, this.options)
    this._place = element('div', { hidden: true }) // MapLibre puts it into a corner
  }

  /** @param {import('maplibre-gl').Map} map @returns {HTMLElement} */
  onAdd (map) {
    const { container, position } = this.options
    if (container) this._timeline.appendTo(container)
    else {
      const corners = /** @type {HTMLElement} */ (map.getContainer().querySelector('.maplibregl-control-container'))
      this._timeline.dock(map.getContainer(), { edge: position.startsWith('top') ? 'top' : 'bottom', corners })
    }
    return this._place
  }

  onRemove () {
    this._timeline.remove()
    this._place.remove()
  }

  getDefaultPosition () {
    return this.options.position
  }
}

delegate(TimelineControl, Timeline, '_timeline', ['element', ...TIMELINE_FIELDS])
delegate(TimelineControl, Emitter, '_timeline')

/** @param {HistoryLayer | HistoryLayer[]} layers several share a clock @param {TimelineControlOptions} [options] */
export const timeline = (layers, options) => new TimelineControl(layers, options)
