// The layers of a store, with how many editions each has.
import { element } from '../../../client/timeline/dom.js'
import { byName, count, time } from '../../format.js'
import { texts } from '../words.js'
import { command, shellLine } from '../command.js'
import { table } from '../table.js'

const words = texts.editions
const ROWS = 50 // that are drawn at once: more would keep a slow machine busy for too long
const MANY = 12 // layers from which on there is a search

/** @param {import('../index.js').App} app @returns {{element: HTMLElement, update: () => void}} */
export function layerList ({ docs }) {
  const rows = table(words.layers, [
    {
      label: words.layer,
      isHead: true,
      cell: ({ layer, name }) => [
        element('a', { href: `#editions/${layer}` }, name || layer), name && name !== layer ? element('small', { class: 'id' }, layer) : ''
      ]
    },
    { label: words.number, isNumber: true, cell: row => count(row.editions) },
    { label: words.newest, cell: ({ layer, last }) => last ? element('a', { href: `#editions/${layer}/${last}` }, time(last)) : '–' },
    { label: words.title, cell: ({ title }) => title }
  ], { most: ROWS })
  const search = element('input', { type: 'search', placeholder: words.find, 'aria-label': words.find, on: { input: draw } })
  const load = shellLine('load', 'FOLDER', '--layer', 'NAME', '--time', '2024-03-01')
  const none = element('div', null, element('p', null, words.noLayers), command(load))
  let known = /** @type {ReturnType<typeof rowsOf>} */ ([])
  let drawn = ''

  function draw () {
    const wanted = search.value.toLowerCase().trim()
    const found = known.filter(({ layer, name }) => `${layer} ${name}`.toLowerCase().includes(wanted))
    const text = JSON.stringify(found)
    if (text === drawn) return
    drawn = text
    rows.set(found, words.noMatch)
  }

  return {
    element: element('div', null,
      element('div', { class: 'head' }, element('h2', null, texts.sections.editions), search),
      element('p', { class: 'hint lead' }, words.lead), element('div', { class: 'card' }, none, rows.element)),
    update () {
      known = rowsOf(docs)
      none.hidden = known.length > 0
      rows.element.hidden = !known.length
      search.hidden = known.length <= MANY
      draw()
    }
  }
}

/** @param {import('../documents.js').Documents} docs */
function rowsOf (docs) {
  const layers = new Map(docs.all('layer').map(doc => [doc.layer, doc]))
  const found = new Map([...layers.keys()].map(layer => [layer, { editions: 0, last: '', title: '' }]))
  for (const { _id: id, title } of docs.all('edition')) {
    const at = id.indexOf('@')
    const [layer, last] = [id.slice(8, at), id.slice(at + 1)]
    let row = found.get(layer)
    if (!row) found.set(layer, row = { editions: 0, last: '', title: '' })
    row.editions++
    if (last > row.last) Object.assign(row, { last, title: typeof title === 'string' ? title : '' })
  }
  return [...found].map(([layer, row]) => ({ layer, name: layers.get(layer)?.name ?? '', ...row }))
    .sort((a, b) => byName(a.name || a.layer, b.name || b.layer))
}
