// The layers with their figures and a picture.
import { element } from '../../../client/timeline/dom.js'
import { button } from '../../dom.js'
import { byName, count, size, time } from '../../format.js'
import { texts } from '../words.js'
import { command } from '../command.js'
import { table } from '../table.js'

const words = texts.overview.layers
const SHOWN = 24 // layers, until all are asked for
const LOAD = 'tilecouch load FOLDER --layer NAME'

/**
 * @typedef {{layer: string, name?: string, format?: string, tiles?: number, versions?: number, bytes?: number, last?:
 *   string}} Row last: time of the newest edition
 * @param {import('./pictures.js').Pictures} pictures
 * @returns {{element: HTMLElement, set: (rows: Row[]) => void}}
 */
export function layerList (pictures) {
  const number = (label, field, format) =>
    ({ label, isNumber: true, cell: row => row[field] === undefined ? '–' : format(row[field]) })
  const rows = table(words.head, [
    { label: words.picture, cell: row => pictures.of(row) },
    { label: words.layer, isHead: true, cell: ({ layer, name }) => [element('a', { href: `#layers/${layer}` }, name ?? layer), name ? element('small', { class: 'id' }, layer) : ''] },
    number(words.tiles, 'tiles', count),
    number(words.versions, 'versions', count),
    number(words.bytes, 'bytes', size),
    { label: words.last, cell: ({ layer, last }) => last ? element('a', { href: `#editions/${layer}` }, time(last)) : '' }
  ], { most: Infinity })
  const none = element('div', null, element('p', null, words.none), command(LOAD, texts.overview.needs.copy(LOAD)))
  const all = button('', () => { isWhole = true; draw() }, { class: 'secondary' })
  let isWhole = false
  /** @type {Row[]} */
  let known = []
  let drawn = ''

  function draw () {
    const shown = isWhole ? known : known.slice(0, SHOWN)
    all.hidden = shown.length === known.length
    all.textContent = words.all(known.length)
    none.hidden = known.length > 0
    rows.element.hidden = !known.length
    const wanted = JSON.stringify(shown)
    if (wanted === drawn) return
    drawn = wanted
    rows.set(shown)
  }

  return {
    element: element('section', { class: 'card layers' }, element('h3', null, words.head), none, rows.element, all),
    set (next) {
      known = next
      draw()
    }
  }
}

/** @param {any[]} layers documents @param {Map<string, any> | undefined} figures @param {Map<string, string>} last */
export function rowsOf (layers, figures, last) {
  const docs = new Map(layers.map(doc => [doc.layer, doc]))
  const nothing = figures ? { tiles: 0, versions: 0, bytes: 0 } : {}
  return [...new Set([...docs.keys(), ...figures?.keys() ?? []])].map(layer => {
    const { name, format } = docs.get(layer) ?? {}
    const { currentBytes, ...own } = figures?.get(layer) ?? { currentBytes: 0, ...nothing }
    return { layer, ...(typeof name === 'string' && { name }), format, ...own, last: last.get(layer) }
  }).sort((a, b) => byName(a.name ?? a.layer, b.name ?? b.layer))
}
