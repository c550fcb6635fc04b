// The settings of a layer as fields, in the parts of the form.
import { formats } from '../../../core/formats.js'
import { encodings } from '../../../core/layers.js'
import { limitsOf } from '../../../core/record-values.js'
import { layerRules } from '../../../core/rules.js'
import { texts } from '../words.js'
import { boundsFormat, centerFormat, durationFormat, fieldsOf, wholeFormat } from './fields.js'
import { retentionField } from './retention.js'
import { upstreamField } from './upstream.js'

const words = texts.layers
const { labels, hints, choices } = words
const wholeOf = field => wholeFormat(...limitsOf(layerRules[field]))
const zoom = { format: wholeOf('minzoom') }
const aboutOf = name => ({ name, label: labels[name], hint: hints[name] })
const listOf = table => [...fieldsOf(table, aboutOf).values()]

/** @type {Record<string, import('./fields.js').Field[]>} */
export const parts = {
  about: listOf({
    name: {},
    group: { list: 'layer-groups' },
    order: { format: wholeOf('order') },
    version: {},
    attribution: { isWide: true, isLong: true },
    description: { isWide: true, isLong: true },
    legend: { isWide: true, isLong: true }
  }),
  area: listOf({
    bounds: { format: boundsFormat, placeholder: '5.9, 45.8, 10.5, 47.8' },
    center: { format: centerFormat, placeholder: '8.2, 46.8, 7' },
    minzoom: zoom,
    maxzoom: zoom,
    fillzoom: zoom
  }),
  tiles: listOf({
    ttl: { format: durationFormat, placeholder: '7d' },
    format: [[undefined, words.none], ...Object.values(formats).map(({ ext }) => [ext, ext])],
    tileSize: { format: wholeOf('tileSize'), placeholder: '256' },
    encoding: [[undefined, words.none], ...encodings.map(encoding => [encoding, encoding])],
    retina: { list: 'layer-names' },
    same: { placeholder: 'pixels:2' }
  }),
  upstream: [upstreamField],
  retention: [retentionField],
  offline: listOf({ offline: [[undefined, choices.offline.allowed], [false, choices.offline.forbidden]] })
}

export const allFields = Object.values(parts).flat()
