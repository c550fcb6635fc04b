// Lists of features of a vector layer: the features at a place, and the features that differ between two times.
import { download } from '../dom.js'
import { count } from '../format.js'
import { html, useAnswer, useEffect } from '../html.js'
import { Button, Fold, Hint, Terms } from '../parts.js'
import { words as pageWords } from '../words.js'
import { nameOf } from './pointer.js'

const words = pageWords.features
const LONGEST = 200 // characters of a value
const KINDS = /** @type {const} */ (['added', 'changed', 'removed'])

/** @param {{features: {sourceLayer: string, properties: Record<string, any>}[]}} props the first one is open */
export const FeatureList = ({ features }) => features.length > 0 && html`<section class="features">
  <h3>${words.here}</h3>
  ${features.map((feature, index) => html`<${Feature} feature=${feature} isOpen=${index === 0} />`)}
</section>`

function Feature ({ feature, isOpen }) {
  const { sourceLayer, properties } = feature
  const name = nameOf(feature)
  const head = html`<strong>${name ?? sourceLayer}</strong>${name && ` · ${sourceLayer}`}`
  return html`<${Fold} open=${isOpen} head=${head}>
    <${Terms} rows=${Object.entries(properties).map(([key, value]) => [key, String(value).slice(0, LONGEST)])} />
  <//>`
}

/**
 * Counts the features that differ between two times, marks them on the map and saves them.
 * changes: of the view; the features are compared again when they change
 */
export function FeatureDifferences ({ layer, from, to, changes, isMarked }) {
  const compare = signal => layer.differences(from, to, signal).catch(error => ({ error }))
  const { features, counts, error } = useAnswer(compare, [changes]) ?? {}
  useEffect(() => layer.mark(isMarked && features ? features : []), [isMarked, features])
  useEffect(() => () => layer.mark([]), [])
  if (error) return html`<${Hint}>${words.failed(error.message)}<//>`
  if (!features) return html`<${Hint}>${words.looking}<//>`
  if (!features.length) return html`<${Hint}>${words.alike}<//>`
  const kinds = KINDS.filter(kind => [...counts.values()].some(numbers => numbers[kind]))
  const name = `${layer.options.layer}-${from}-${to ?? 'newest'}`.replace(/:/g, '')
  const collection = { type: 'FeatureCollection', features }
  const save = () => download(JSON.stringify(collection), `${name}.geojson`, 'application/geo+json')
  return html`<section class="features">
    <table>
      <caption class="unseen">${words.caption}</caption>
      <thead><tr>
        <th scope="col">${words.layer}</th>
        ${kinds.map(kind => html`<th scope="col" class=${kind}>${words.kinds[kind]}</th>`)}
      </tr></thead>
      <tbody>
        ${[...counts].map(([sourceLayer, numbers]) => html`<tr>
          <th scope="row">${sourceLayer}</th>
          ${kinds.map(kind => html`<td>${count(numbers[kind])}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    <${Button} data-does="save-features" onClick=${save}>${words.save}<//>
  </section>`
}
