// Which activity is shown: of a layer, of a user, of a kind.
import { element } from '../../../client/timeline/dom.js'
import { fillSelect } from '../../dom.js'
import { byName } from '../../format.js'
import { texts } from '../words.js'

const words = texts.activity

export class Filters {
  /** @param {() => void} onChange */
  constructor (onChange) {
    const select = () => element('select', { on: { change: onChange } })
    this.selects = { layer: select(), user: select(), what: select() }
    this.element = element('form', { class: 'fields filters', 'aria-label': words.filter, on: { submit: event => event.preventDefault() } },
      Object.entries(this.selects).map(([name, node]) => element('label', null, words.by[name], node)))
    this.wanted = '' // a layer that the address names, until it is known
  }

  /** @param {string} layer empty: all */
  set layer (layer) {
    this.wanted = layer
    if (!layer) this.selects.layer.value = ''
  }

  /** @param {any[]} docs whose layers and users can be chosen */
  offer (docs) {
    const named = field => [...new Set(docs.map(doc => doc[field]).filter(Boolean))].sort(byName)
    const { layer, user, what } = this.selects
    const chosen = this.wanted || layer.value
    this.wanted = ''
    const layers = named('layer')
    const all = /** @type {[string, string]} */ (['', words.all])
    const plain = names => names.map(name => [name, name])
    fillSelect(layer, [all, ...plain(chosen && !layers.includes(chosen) ? [chosen, ...layers] : layers)], chosen)
    fillSelect(user, [all, ...plain(named('user'))], user.value)
    fillSelect(what, [all, ...Object.entries(words.what)], what.value)
  }

  takes = doc => Object.entries(this.selects).every(([field, { value }]) => !value || doc[field] === value)
}
