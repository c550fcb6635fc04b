// Editions: the layers, the editions of one, and one edition.
import { element } from '../../../client/timeline/dom.js'
import { isLayer } from '../../../core/ids.js'
import { isExactTime } from '../../../core/times.js'
import { soon } from '../../dom.js'
import { texts } from '../words.js'
import { editionList } from './edition-list.js'
import { editionPage } from './edition.js'
import { layerList } from './layer-list.js'

const KINDS = ['layer', 'edition', 'work'] // that the section shows

/** @type {import('../index.js').Section} */
export const editions = {
  name: 'editions',
  needs: 'writer',
  open (app, place) {
    const box = element('div', { class: 'editions-section' })
    /** @type {{element: HTMLElement, update: () => void} | undefined} */
    let shown
    let wanted = ''

    const isRead = () => app.docs.known.has('layer') && app.docs.known.has('edition')
    const draw = soon(() => {
      if (!box.isConnected && shown) return
      if (!isRead()) return
      shown ??= open(wanted)
      if (shown.element.parentElement !== box) {
        box.replaceChildren(shown.element)
        box.removeAttribute('aria-busy')
      }
      shown.update()
    })

    function open (next) {
      const [layer, when] = partsOf(next)
      if (!isLayer(layer)) return layerList(app)
      return isExactTime(when) ? editionPage(app, layer, when) : editionList(app, layer)
    }

    function show (next) {
      wanted = next
      shown = undefined
      box.setAttribute('aria-busy', 'true')
      if (!isRead()) {
        box.replaceChildren(element('h2', null, texts.sections.editions), element('p', { class: 'hint' }, texts.editions.reading))
      }
      draw()
    }

    show(place)
    return {
      element: box,
      update (kinds) { if (KINDS.some(kind => kinds.has(kind))) draw() },
      show (next) {
        show(next)
        scrollTo(0, 0)
      }
    }
  }
}

/** `osm/2024-03-01T00:00:00Z` -> layer and time @param {string} place */
function partsOf (place) {
  const at = place.indexOf('/')
  return at < 0 ? [place, ''] : [place.slice(0, at), place.slice(at + 1)]
}
