// The state that the timeline shows, computed from its layers, clock and player.
import { axisOf, clampSpan, domainOf } from './scale.js'
import { uniteChanges, uniteExtents } from './steps.js'
import { capital } from './words.js'

const INSET = 12 // pixels left of the first and right of the last time

/**
 * @param {any} control the TimelineControl
 * @returns {() => any} The same lists make the same changes and axis again, so that nothing that hangs on them is made
 * for every frame.
 */
export function stateOf (control) {
  let united = { lists: /** @type {any[]} */ ([undefined]), changes: /** @type {any[]} */ ([]), complete: false, times: /** @type {number[]} */ ([]) }
  let axis = /** @type {any} */ (null)

  function unite (layers) {
    const lists = layers.map(layer => layer.changes())
    if (lists.length === united.lists.length && lists.every((list, i) => list === united.lists[i])) return
    const { changes, complete } = uniteChanges(lists)
    united = { lists, changes, complete, times: changes.map(change => Date.parse(change.time)) }
  }

  function lay (span, width) {
    if (!span || !width) axis = null
    else if (axis?.from !== span.from || axis.to !== span.to || axis.width !== width) axis = axisOf(span, width, INSET)
    return axis
  }

  return () => {
    const layers = control.layers.filter(layer => layer._map)
    unite(layers)
    const { changes, complete, times } = united
    const domain = domainOf(uniteExtents(layers.map(layer => layer.extent())), changes)
    const zoomedTo = control.span && domain && clampSpan(control.span, domain)
    const span = zoomedTo ?? domain
    const playing = control.player.isPlaying()
    // a device that goes on without the store is no problem
    const problem = complete && layers.some(layer => layer.options?.offline) ? null : control.problem
    return {
      changes, complete, times, domain, span, playing, problem,
      time: control.clock.getTime(),
      axis: lay(span, control.width),
      zone: control.zone,
      zoomed: Boolean(zoomedTo),
      range: control.getRange(),
      hover: control.hovered,
      waiting: playing && control.waiting,
      busy: !complete || !layers.every(layer => layer.isShown()),
      message: !layers.length ? 'The layer is not on the map'
        : changes.length ? '' : problem ? capital(problem)
          : complete ? 'Nothing changed here' : domain ? '' : 'Loading the history …'
    }
  }
}
