// The field for the upstream of a layer, from which missing tiles come.
import { gridOf } from '../../../core/grids/index.js'
import { checkUpstream, isOfType, upstreamDefaults } from '../../../core/upstream.js'
import { jsonOf } from '../../../core/values.js'
import { html } from '../../html.js'
import { texts } from '../words.js'
import {
  FieldGroup, boundsFormat, fieldsOf, listFormat, numberFormat, pairsFormat, readGroup, refuse, showGroup, textFormat,
  wholeFormat
} from './fields.js'

const words = texts.layers.upstream
const TYPES = ['xyz', 'tms', 'wmts', 'wms']
const FIRST = [
  'type', 'url', 'subdomains', 'layers', 'styles', 'format', 'minzoom', 'maxzoom'
] // others are folded away

/** A text, or an object as JSON: names of the matrices of a WMTS. */
const matrixFormat = {
  ...textFormat,
  read: text => text.startsWith('{') ? jsonOf(text) ?? refuse(texts.layers.bad.json) : text
}

/** Seconds, or one of two words. */
const expiresFormat = { read: text => /^\d{1,10}$/.test(text) ? +text : text, show: String }

/** @returns {[any, string][]} */
const yesNo = field => [[undefined, words.byDefault], [true, words.yes[field]], [false, words.no[field]]]
/** @returns {[any, string][]} */
const textChoices = (...values) => [[undefined, words.byDefault], ...values.map(value => [value, value])]

const inputs = {
  type: TYPES.map(type => [type, words.types[type]]),
  url: { isWide: true, placeholder: 'https://tiles.example.org/{z}/{x}/{y}.png' },
  subdomains: { format: listFormat, placeholder: 'a, b, c' },
  layers: {},
  styles: {},
  format: textChoices('image/png', 'image/jpeg', 'image/webp'),
  minzoom: { format: wholeFormat(0, 30) },
  maxzoom: { format: wholeFormat(0, 30) },
  bounds: { format: boundsFormat, placeholder: '5.9, 45.8, 10.5, 47.8' },
  matrixSet: {},
  matrix: { format: matrixFormat },
  version: textChoices('1.3.0', '1.1.1'),
  srs: { placeholder: 'EPSG:3857' },
  transparent: yesNo('transparent'),
  metatile: { format: wholeFormat(1, 8) },
  buffer: { format: wholeFormat(0, 512) },
  params: { format: pairsFormat, isLong: true },
  headers: { format: pairsFormat, isLong: true, placeholder: 'Referer: https://example.org/' },
  expires: { format: expiresFormat },
  time: textChoices('modified', 'fetched'),
  concurrency: { format: wholeFormat(1, 64) },
  rate: { format: numberFormat(0.01, 1000) },
  timeout: { format: numberFormat(0.1, 600) },
  negative: { format: numberFormat(0, 1e6) },
  seed: yesNo('seed')
}

/** The hint of a field, with the default. */
function hintOf (name) {
  const standard = upstreamDefaults[name]
  const hint = words.hints[name] ?? ''
  const hasDefault = standard !== undefined && typeof standard !== 'boolean' && name !== 'type'
  return hasDefault ? `${hint} ${words.standard(standard)}`.trim() : hint
}

const fields = fieldsOf(inputs, name => ({ name: `upstream.${name}`, label: words.labels[name], hint: hintOf(name) }))

const typeOf = typed => fields.get('type')?.read(typed.type)

/** The value is read with the layer in the form, whose grid it must fit. */
export const upstreamField = {
  name: 'upstream',
  label: words.head,
  show (value) {
    const values = { type: upstreamDefaults.type, ...value }
    return showGroup(fields, values)
  },
  read: readUpstream,
  component: Upstream
}

function readUpstream (typed, layer = {}) {
  const type = typeOf(typed)
  const upstream = readGroup(new Map([...fields].filter(([name]) => isOfType(name, type))), typed)
  if (upstream.url === undefined && Object.keys(upstream).length === 1) return undefined // only a type
  try {
    checkUpstream(upstream, gridOf(layer))
  } catch (error) {
    const { field = '', why } = error.details ?? {}
    throw Object.assign(new Error(words.bad(why ?? error.message)), { inner: field.split('.')[0] })
  }
  return upstream
}

/** @param {import('./fields.js').FieldProps} props */
function Upstream (props) {
  const type = typeOf(props.typed)
  return html`<${FieldGroup} class="upstream" fields=${fields} first=${FIRST} more=${words.more}
    isHidden=${name => !isOfType(name, type)} ...${props} />`
}
