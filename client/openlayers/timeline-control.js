// The timeline as a control of OpenLayers.
import Control from 'ol/control/Control.js'
import { delegate } from '../timeline/delegate.js'
import { TIMELINE_FIELDS, Timeline, timelineDefaults } from '../timeline/timeline.js'

export const timelineControlDefaults = {
  /** @type {'top' | 'bottom'} edge of the map */
  edge: 'bottom',
  /** @type {HTMLElement | undefined} element that contains it, instead of the map */
  target: undefined,
  ...timelineDefaults
}

/**
 * @typedef {import('./history-source.js').HistorySource} HistorySource
 * @typedef {HistorySource | import('ol/layer/Layer.js').default<any, any>} HistoryTarget a HistorySource, or a layer
 *   that has one
 * @typedef {Partial<typeof timelineControlDefaults>} TimelineControlOptions
 */

/** @param {HistoryTarget | HistoryTarget[]} layers @returns {HistorySource[]} */
export const sourcesOf = layers => [layers].flat().map((/** @type {any} */ layer) => layer.getSource?.() ?? layer)

const Base = /** @type {new (options: any) => Control & Timeline} */ (/** @type {unknown} */ (Control))

/** A `Timeline` along an edge of the map. */
export class TimelineControl extends Base {
  /** @param {HistoryTarget | HistoryTarget[]} layers several share a clock @param {TimelineControlOptions} [options] */
  constructor (layers, options) {
    const timelineOptions = { ...timelineControlDefaults, ...options }
    const inner = new Timeline(sourcesOf(layers), timelineOptions)
    super({ element: inner.element, target: timelineOptions.target })
    this._timeline = inner
    this._edge = timelineOptions.edge
    inner.on('rangechange zonechange', (/** @type {any} */ event) => { this.dispatchEvent({ ...event }) })
  }

  setMap (map) {
    this._timeline.remove()
    const target = /** @type {any} */ (this).target_
    super.setMap(map)
    if (!map) return
    if (target) this._timeline.appendTo(target)
    else this._timeline.dock(map.getTargetElement(), { edge: this._edge, corners: map.getOverlayContainerStopEvent() })
  }

  setLayers (layers) {
    this._timeline.setLayers(sourcesOf(layers))
    return this
  }
}

delegate(TimelineControl, Timeline, '_timeline', TIMELINE_FIELDS)

/** @param {HistoryTarget | HistoryTarget[]} layers several share a clock @param {TimelineControlOptions} [options] */
export const timeline = (layers, options) => new TimelineControl(layers, options)
