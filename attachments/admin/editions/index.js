// The section "Editions": a list of layers, the editions of one layer, or one edition.
import { isLayer } from '../../../core/ids.js'
import { isExactTime } from '../../../core/times.js'
import { byName, count, size, time } from '../../format.js'
import { html, useEffect, useState } from '../../html.js'
import { useDocs, useShellLine } from '../app.js'
import { Copyable } from '../../copy.js'
import { Hint } from '../../parts.js'
import { Table } from '../parts.js'
import { texts } from '../words.js'
import { Edition, EditionState, changedOf } from './edition.js'

const words = texts.editions
const MANY = 12 // layers above which a search field is shown

/** place: `osm` or `osm/2024-03-01T00:00:00Z` */
export function Editions ({ place }) {
  const docs = useDocs('layer', 'edition')
  const isRead = docs.known.has('layer') && docs.known.has('edition')
  const [layer, when = ''] = place.split(/\/(.*)/s)
  useEffect(() => scrollTo(0, 0), [place])
  return html`<div class="editions-section" aria-busy=${isRead ? null : 'true'}>
    ${isRead
      ? html`<${Shown} key=${place} ...${{ docs, layer, when }} />`
      : html`<h2>${texts.sections.editions}</h2><${Hint}>${words.reading}<//>`}
  </div>`
}

function Shown ({ docs, layer, when }) {
  if (!isLayer(layer)) return html`<${LayerTable} docs=${docs} />`
  const editions = editionsOf(docs, layer)
  return isExactTime(when)
    ? html`<${Edition} ...${{ layer, when, editions }} />`
    : html`<${EditionTable} ...${{ layer, editions }} />`
}

/** The editions of a layer, the newest first. @returns {any[]} */
const editionsOf = (docs, layer) => docs.all('edition')
  .filter(({ _id: id }) => id.startsWith(`edition:${layer}@`))
  .sort((a, b) => a.time < b.time ? 1 : -1)

/** The layers of a store, with the number of editions of each. */
function LayerTable ({ docs }) {
  const lineOf = useShellLine()
  const [searchText, setSearchText] = useState('')
  const rows = rowsOf(docs)
  const text = searchText.toLowerCase().trim()
  const matchingLayers = rows.filter(({ layer, name }) => `${layer} ${name}`.toLowerCase().includes(text))
  return html`<div>
    <p class="path"><a href="#layers">${texts.sections.layers}</a></p>
    <div class="head">
      <h2>${texts.sections.editions}</h2>
      ${rows.length > MANY && html`<input type="search" placeholder=${words.find} aria-label=${words.find}
        onInput=${({ target }) => setSearchText(target.value)} />`}
    </div>
    <p class="hint lead">${words.lead}</p>
    <div class="card">
      ${rows.length
        ? html`<${Table} title=${words.layers} rows=${matchingLayers} none=${words.noMatch}
            keyOf=${({ layer }) => layer} columns=${layerColumns} />`
        : html`<p>${words.noLayers}</p>
            <${Copyable} text=${lineOf('load', 'FOLDER', '--layer', 'NAME', '--time', '2024-03-01')} />`}
    </div>
  </div>`
}

const layerColumns = [
  {
    label: words.layer,
    isHead: true,
    cell: ({ layer, name }) => html`
      <a href="#editions/${layer}">${name || layer}</a>
      ${name && name !== layer && html`<small class="id">${layer}</small>`}`
  },
  { label: words.number, isNumber: true, cell: row => count(row.editions) },
  {
    label: words.newest,
    cell: ({ layer, last }) => last ? html`<a href="#editions/${layer}/${last}">${time(last)}</a>` : '–'
  },
  { label: words.title, cell: ({ title }) => title }
]

/** @param {import('../documents.js').Documents} docs */
function rowsOf (docs) {
  const layers = new Map(docs.all('layer').map(doc => [doc.layer, doc]))
  const rows = new Map([...layers.keys()].map(layer => [layer, { editions: 0, last: '', title: '' }]))
  for (const { _id: id, title } of docs.all('edition')) {
    const separator = id.indexOf('@')
    const [layer, last] = [id.slice('edition:'.length, separator), id.slice(separator + 1)]
    const row = rows.get(layer) ?? { editions: 0, last: '', title: '' }
    rows.set(layer, row)
    row.editions++
    if (last > row.last) Object.assign(row, { last, title: typeof title === 'string' ? title : '' })
  }
  return [...rows].map(([layer, row]) => ({ layer, name: layers.get(layer)?.name ?? '', ...row }))
    .sort((a, b) => byName(a.name || a.layer, b.name || b.layer))
}

/** The editions of a layer. */
function EditionTable ({ layer, editions }) {
  const lineOf = useShellLine()
  return html`<div class="editions-of-layer">
    <p class="path"><a href="#editions">${words.all}</a></p>
    <div class="head"><h2>${words.of(layer)}</h2><a href="#layers/${layer}">${words.settings}</a></div>
    <div class="card">
      ${editions.length
        ? html`<${Table} title=${words.of(layer)} rows=${editions} columns=${editionColumns(layer)}
            keyOf=${({ _id }) => _id} />`
        : html`<p>${words.none}</p>
            <${Copyable} text=${lineOf('load', 'FOLDER', '--layer', layer, '--time', '2024-03-01')} />`}
    </div>
  </div>`
}

const editionColumns = layer => [
  {
    label: words.time,
    isHead: true,
    cell: ({ time: at }) => html`<a href="#editions/${layer}/${at}">${time(at)}</a>`
  },
  { label: words.title, cell: doc => doc.title ?? '' },
  { label: words.state, cell: doc => html`<${EditionState} ...${doc} />` },
  { label: words.tiles, isNumber: true, cell: doc => number(doc.tiles) },
  { label: words.created, isNumber: true, cell: doc => number(doc.created) },
  { label: words.changed, isNumber: true, cell: doc => number(changedOf(doc)) },
  { label: words.gone, isNumber: true, cell: doc => number(doc.gone) },
  { label: words.bytes, isNumber: true, cell: doc => Number.isFinite(doc.bytes) ? size(doc.bytes) : '–' }
]

const number = value => Number.isFinite(value) ? count(value) : '–'
