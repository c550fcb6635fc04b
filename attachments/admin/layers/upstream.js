// Where missing tiles come from: the settings of an upstream.
import { element } from '../../../client/timeline/dom.js'
import { gridOf } from '../../../core/grids/index.js'
import { checkUpstream, isOfType, upstreamDefaults } from '../../../core/upstream.js'
import { texts } from '../words.js'
import { boundsForm, choiceField, inputField, listForm, numberForm, pairsForm, wholeForm } from './fields.js'

const words = texts.layers.upstream
const TYPES = ['xyz', 'tms', 'wmts', 'wms']
const FIRST = ['type', 'url', 'subdomains', 'layers', 'styles', 'format', 'minzoom', 'maxzoom'] // the others are folded away

/** A text, or an object as JSON: names of the matrices of a WMTS. */
const matrixForm = {
  read (text) {
    if (!text.startsWith('{')) return text
    try {
      return JSON.parse(text)
    } catch {
      throw new Error(texts.layers.bad.json)
    }
  },
  show: value => typeof value === 'string' ? value : JSON.stringify(value)
}

/** Seconds, or one of two words. */
const expiresForm = { read: text => /^\d{1,10}$/.test(text) ? +text : text, show: String }

/** @returns {[any, string][]} */
const yesNo = field => [[undefined, words.byDefault], [true, words.yes[field]], [false, words.no[field]]]
/** @returns {[any, string][]} */
const textChoices = (...values) => [[undefined, words.byDefault], ...values.map(value => [value, value])]

/** Field -> how it is asked for: an input, or the options of a choice. @type {Record<string, any>} */
const inputs = {
  type: TYPES.map(type => [type, words.types[type]]),
  url: { isWide: true, placeholder: 'https://tiles.example.org/{z}/{x}/{y}.png' },
  subdomains: { form: listForm, placeholder: 'a, b, c' },
  layers: {},
  styles: {},
  format: textChoices('image/png', 'image/jpeg', 'image/webp'),
  minzoom: { form: wholeForm(0, 30) },
  maxzoom: { form: wholeForm(0, 30) },
  bounds: { form: boundsForm, placeholder: '5.9, 45.8, 10.5, 47.8' },
  matrixSet: {},
  matrix: { form: matrixForm },
  version: textChoices('1.3.0', '1.1.1'),
  srs: { placeholder: 'EPSG:3857' },
  transparent: yesNo('transparent'),
  metatile: { form: wholeForm(1, 8) },
  buffer: { form: wholeForm(0, 512) },
  params: { form: pairsForm, isLong: true },
  headers: { form: pairsForm, isLong: true, placeholder: 'Referer: https://example.org/' },
  expires: { form: expiresForm },
  time: textChoices('modified', 'fetched'),
  concurrency: { form: wholeForm(1, 64) },
  rate: { form: numberForm(0.01, 1000) },
  timeout: { form: numberForm(0.1, 600) },
  negative: { form: numberForm(0, 1e6) },
  seed: yesNo('seed')
}

/**
 * @param {() => Record<string, any>} layerNow the layer as the form has it
 * @param {string} prefix of the ids of inputs
 * @returns {import('./fields.js').Field}
 */
export function upstreamField (layerNow, prefix = 'upstream') {
  const fields = Object.entries(inputs).map(([name, input]) => {
    const about = { name: `${prefix}.${name}`, label: words.labels[name], hint: hintOf(name) }
    return Array.isArray(input) ? choiceField(about, input) : inputField({ ...about, ...input })
  })
  const byName = new Map(fields.map(field => [field.name.slice(prefix.length + 1), field]))
  const typeOf = () => byName.get('type')?.read()
  const isShown = name => isOfType(name, typeOf())
  const problem = element('p', { class: 'problem' })
  const noted = element('div', { class: 'noted', role: 'status' })
  const nodes = names => names.map(name => byName.get(name)?.element)
  const more = element('details', { class: 'more' }, element('summary', null, words.more),
    element('div', { class: 'fields' }, nodes(Object.keys(inputs).filter(name => !FIRST.includes(name)))))

  function arrange () {
    for (const [name, field] of byName) field.element.hidden = !isShown(name)
  }

  function read () {
    const found = {}
    for (const [name, field] of byName) {
      if (!isShown(name)) continue
      try {
        const value = field.read()
        if (value !== undefined) found[name] = value
      } catch (error) {
        throw Object.assign(error, { inner: name })
      }
    }
    if (found.url === undefined && Object.keys(found).length === 1) return undefined // only a type
    try {
      checkUpstream(found, gridOf(layerNow()))
    } catch (error) {
      const { field = '', why } = error.details ?? {}
      throw Object.assign(new Error(words.bad(why ?? error.message)), { inner: field.split('.')[0] })
    }
    return found
  }

  return {
    name: 'upstream',
    label: words.head,
    element: element('div', { class: 'upstream', on: { change: arrange } },
      element('div', { class: 'fields' }, nodes(FIRST)), more, noted, problem),
    read,
    show (value) {
      const all = { type: upstreamDefaults.type, ...value }
      for (const [name, each] of byName) each.show(all[name])
      arrange()
    },
    state: () => JSON.stringify(fields.map(each => each.state())),
    complain (text, inner) {
      for (const each of fields) each.complain('')
      const own = inner && isShown(inner) && byName.get(inner)
      problem.textContent = own ? '' : text
      if (own && text) {
        own.complain(text)
        if (!FIRST.includes(inner)) more.open = true
      }
    },
    note: node => noted.replaceChildren(...[node].flat().filter(Boolean)),
    focus: () => (fields.find(each => each.element.querySelector('[aria-invalid]')) ?? fields[1]).focus()
  }
}

/** What it means, and what holds if it is empty. */
function hintOf (name) {
  const standard = upstreamDefaults[name]
  const hint = words.hints[name] ?? ''
  return standard === undefined || typeof standard === 'boolean' || name === 'type' ? hint : `${hint} ${words.standard(standard)}`.trim()
}
