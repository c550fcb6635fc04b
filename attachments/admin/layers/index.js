// The section "Layers": a list, and the settings of one layer.
import { element } from '../../../client/timeline/dom.js'
import { isLayer } from '../../../core/ids.js'
import { LayerForm } from './form.js'
import { LayerList } from './list.js'

/**
 * Forms with changes that are not saved, while something else is shown.
 * @type {WeakMap<object, Map<string, LayerForm>>}
 */
const unsaved = new WeakMap()

/** @type {import('../index.js').Section} */
export const layers = {
  name: 'layers',
  needs: 'writer',
  open (app, first) {
    const kept = unsaved.get(app) ?? new Map()
    unsaved.set(app, kept)
    const box = element('div')
    /** @type {LayerForm | LayerList} */
    let view
    let place = ''

    function leave () {
      if (view instanceof LayerForm && view.isTouched) kept.set(place, view)
      else {
        if (view instanceof LayerList) view.close()
        kept.delete(place)
      }
    }

    function show (next) {
      if (view) leave()
      place = isLayer(next) ? next : ''
      view = !place
        ? new LayerList(app, layer => kept.has(layer))
        : kept.get(place) ?? new LayerForm(app, place, () => app.go('layers'))
      view.update()
      box.replaceChildren(view.element)
      scrollTo(0, 0)
    }

    const warn = event => {
      if (kept.size || (view instanceof LayerForm && view.isTouched)) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    show(first)
    return {
      element: box,
      show,
      update (kinds) { if (kinds.has('layer') || kinds.has('edition')) view.update() },
      close () {
        leave()
        removeEventListener('beforeunload', warn)
      }
    }
  }
}
