// The page of the layers, which the gateway serves at /layers: each layer with its addresses for every kind of program,
// now or as of a time.
import { STORE_ID } from '../../core/ids.js'
import { Copyable } from '../copy.js'
import { byName, date, zooms } from '../format.js'
import { html, render, useEffect, useState } from '../html.js'
import { showStore } from '../operator.js'
import { Attribution, Hint } from '../parts.js'
import { ask } from '../requests.js'
import { language, layersWords as texts, words } from '../words.js'
import { addressesOf, isTime, isVector } from './addresses.js'

const MANY = 12 // layers from which the page has a search field
const MOST_TIMES = 200 // times that the field of the time offers

/** @typedef {import('./addresses.js').Listed} Listed */

/** Shows the name, logo and colours of the operator, if the gateway shows the store. */
async function readOperator () {
  showStore(await ask(`db/${STORE_ID}`).catch(() => null), 'db', texts.title)
}

/** Times of each layer, oldest first. @returns {Promise<Map<string, string[]>>} empty if they cannot be read */
async function readTimes () {
  const { collections = [] } = await ask('ogc/collections').catch(() => ({}))
  return new Map(collections.map(({ id, extent }) => [id, extent?.temporal?.grid?.coordinates ?? []]))
}

/** @param {{layers: Listed[], times: Map<string, string[]>}} props */
function LayersPage ({ layers, times }) {
  const [query, setQuery] = useState('')
  const [typed, setTyped] = useState(new URLSearchParams(location.search).get('time') ?? '')
  const text = typed.trim()
  const isValid = text === '' || isTime(text)
  const [time, setTime] = useState(isValid ? text : '') // the last valid one
  const edit = ({ target }) => {
    const next = target.value.trim()
    setTyped(target.value)
    if (next === '' || isTime(next)) setTime(next)
  }
  useEffect(() => {
    const section = document.getElementById(decodeURIComponent(location.hash.slice(1)))
    section?.focus({ preventScroll: true })
    section?.scrollIntoView()
  }, [])
  const newest = [...new Set([...times.values()].flat())].sort().slice(-MOST_TIMES).reverse()
  const part = query.trim().toLowerCase()
  const matching = layers.filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(part))
  return html`
    <p>${texts.lead}</p>
    <div class="fields">
      <label>
        ${texts.time}
        <input type="search" list="times" value=${typed} placeholder=${words.newest} onInput=${edit}
          aria-describedby="time-hint problem" aria-invalid=${isValid ? null : 'true'} />
      </label>
      ${layers.length >= MANY && html`<label>
        ${words.panel.find}
        <input type="search" value=${query} onInput=${({ target }) => setQuery(target.value)} />
      </label>`}
    </div>
    <${Hint} id="time-hint">${texts.timeHint}<//>
    <p id="problem" role="status">${isValid ? '' : texts.badTime(text)}</p>
    <datalist id="times">${newest.map(value => html`<option key=${value} value=${value} />`)}</datalist>
    <${Hint} role="status">${matching.length ? '' : texts.none}<//>
    ${matching.map(layer => html`<${Layer} key=${layer.id} layer=${layer} time=${time}
      times=${times.get(layer.id)} />`)}`
}

/**
 * A layer with its addresses.
 * @param {{layer: Listed, times?: string[], time: string}} props time: empty for the newest
 */
function Layer ({ layer, times = [], time }) {
  const { id, name, description, attribution, minzoom, maxzoom } = layer
  const [first, last] = [times[0], times[times.length - 1]].map(text => text && date(text))
  const facts = [
    isVector(layer) ? texts.vector : texts.images,
    zooms(minzoom, maxzoom) && `${words.facts.terms.zooms} ${zooms(minzoom, maxzoom)}`,
    times.length > 1 && first !== last ? texts.times({ count: times.length, first, last }) : first
  ]
  return html`<section id=${id} aria-labelledby=${`${id}-head`} tabindex="-1">
    <div class="head">
      <h2 id=${`${id}-head`}>${name} <code>${id}</code></h2>
      <a href=${`./#${id}${time && `@${time}`}`}>${texts.open}</a>
    </div>
    ${description && html`<p>${description}</p>`}
    <${Hint}>${facts.filter(Boolean).join(' · ')}<//>
    <dl>${addressesOf(layer, time).map(({ kind, address }) => {
      const { head, use } = texts.kinds[kind]
      return html`<dt>${head}<small>${use}</small></dt>
        <dd><${Copyable} text=${address} label=${texts.copy({ what: head, layer: name })} /></dd>`
    })}</dl>
    ${attribution && html`<${Hint}><${Attribution} text=${attribution} /><//>`}
  </section>`
}

async function start () {
  const list = /** @type {HTMLElement} */ (document.getElementById('list'))
  const show = content => render(content, list)
  document.documentElement.lang = language
  Object.assign(document.getElementById('map') ?? {}, { textContent: texts.map })
  list.replaceChildren()
  show(html`<${Hint} role="status">${texts.reading}<//>`)
  readOperator()
  try {
    const [layers, times] = await Promise.all([ask('index.json'), readTimes()])
    const isEmpty = !Array.isArray(layers) || !layers.length
    if (isEmpty) return show(html`<p>${texts.empty}</p>`)
    show(html`<${LayersPage} layers=${layers.sort((a, b) => byName(a.name, b.name))} times=${times} />`)
  } catch (error) {
    show(html`<p role="alert">${texts.failed(error.message)}</p>`)
  }
}

start()
