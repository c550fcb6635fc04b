// The editions of a layer, the newest first.
import { element } from '../../../client/timeline/dom.js'
import { count, size, time } from '../../format.js'
import { texts } from '../words.js'
import { command, shellLine } from '../command.js'
import { table } from '../table.js'

const words = texts.editions
const ROWS = 50 // that are drawn at once

/** The editions of a layer, the newest first. @param {import('../documents.js').Documents} docs @returns {any[]} */
export const editionsOf = (docs, layer) => docs.all('edition').filter(({ _id: id }) => id.startsWith(`edition:${layer}@`))
  .sort((a, b) => a.time < b.time ? 1 : -1)

/** What an edition is: complete, a part, or not loaded to its end. @returns {HTMLElement} */
export function stateOf ({ finished, complete }) {
  if (!finished) return element('span', { class: 'state warn' }, words.states.unfinished)
  return element('span', { class: `state${complete ? ' good' : ''}` }, complete ? words.states.complete : words.states.part)
}

/** Versions of tiles that were there before, and still are. */
export const changedOf = ({ advanced = 0, backfilled = 0, gone = 0 }) => Math.max(0, advanced + backfilled - gone)

const number = value => Number.isFinite(value) ? count(value) : '–'

/** @param {import('../index.js').App} app @returns {{element: HTMLElement, update: () => void}} */
export function editionList ({ docs }, layer) {
  const title = element('h2', null, words.of(layer))
  const rows = table(words.of(layer), [
    { label: words.time, isHead: true, cell: doc => element('a', { href: `#editions/${layer}/${doc.time}` }, time(doc.time)) },
    { label: words.title, cell: doc => doc.title ?? '' },
    { label: words.state, cell: stateOf },
    { label: words.tiles, isNumber: true, cell: doc => number(doc.tiles) },
    { label: words.created, isNumber: true, cell: doc => number(doc.created) },
    { label: words.changed, isNumber: true, cell: doc => number(changedOf(doc)) },
    { label: words.gone, isNumber: true, cell: doc => number(doc.gone) },
    { label: words.bytes, isNumber: true, cell: doc => Number.isFinite(doc.bytes) ? size(doc.bytes) : '–' }
  ], { most: ROWS })
  const load = shellLine('load', 'FOLDER', '--layer', layer, '--time', '2024-03-01')
  const none = element('div', null, element('p', null, words.none), command(load))
  let drawn = ''
  return {
    element: element('div', { class: 'editions-of-layer' },
      element('p', { class: 'path' }, element('a', { href: '#editions' }, words.all)),
      element('div', { class: 'head' }, title, element('a', { href: `#layers/${layer}` }, words.settings)),
      element('div', { class: 'card' }, none, rows.element)),
    update () {
      const found = editionsOf(docs, layer)
      const text = found.map(({ _id: id, _rev: rev }) => `${id} ${rev}`).join()
      none.hidden = found.length > 0
      rows.element.hidden = !found.length
      if (text === drawn) return
      drawn = text
      rows.set(found)
    }
  }
}
