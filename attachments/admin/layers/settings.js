// The settings of a layer as inputs, in the parts in which the form shows them.
import { element } from '../../../client/timeline/dom.js'
import { formats } from '../../../core/formats.js'
import { encodings } from '../../../core/layers.js'
import { texts } from '../words.js'
import { boundsForm, centerForm, choiceField, durationForm, inputField, wholeForm } from './fields.js'

const words = texts.layers
const { labels, hints, choices } = words
const zoom = { form: wholeForm(0, 30) }

/** The parts with their fields: what an input takes, or the options of a choice. @type {Record<string, any>} */
const parts = {
  about: {
    name: {},
    group: { list: 'layer-groups' },
    order: { form: wholeForm(0, 1_000_000) },
    version: {},
    attribution: { isWide: true, isLong: true },
    description: { isWide: true, isLong: true },
    legend: { isWide: true, isLong: true }
  },
  area: {
    bounds: { form: boundsForm, placeholder: '5.9, 45.8, 10.5, 47.8' },
    center: { form: centerForm, placeholder: '8.2, 46.8, 7' },
    minzoom: zoom,
    maxzoom: zoom,
    fillzoom: zoom
  },
  tiles: {
    ttl: { form: durationForm, placeholder: '7d' },
    format: [[undefined, words.none], ...Object.values(formats).map(({ ext }) => [ext, ext])],
    tileSize: { form: wholeForm(64, 4096), placeholder: '256' },
    encoding: [[undefined, words.none], ...encodings.map(each => [each, each])],
    retina: { list: 'layer-names' },
    same: { placeholder: 'pixels:2' }
  },
  offline: {
    offline: [[undefined, choices.offline.allowed], [false, choices.offline.forbidden]]
  }
}

/**
 * @returns {{fields: import('./fields.js').Field[], part: (name: string) => HTMLElement}} part: the inputs
 *   of a part
 */
export function layerSettings () {
  const fields = []
  const make = ([name, input]) => {
    const about = { name, label: labels[name], hint: hints[name] }
    const field = Array.isArray(input) ? choiceField(about, input) : inputField({ ...about, ...input })
    fields.push(field)
    return field
  }
  const partsMade = Object.entries(parts).map(([part, inputs]) => [part, Object.entries(inputs).map(make)])
  const made = Object.fromEntries(partsMade)
  return { fields, part: name => element('div', { class: 'fields' }, made[name].map(each => each.element)) }
}
