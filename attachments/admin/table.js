// A table of the control room. On a phone each row is a card, whose cells say their column (admin.css).
import { element } from '../../client/timeline/dom.js'
import { button } from '../dom.js'
import { texts } from './words.js'

const ROWS = 50 // of a table at once; a button shows as many more

/**
 * @template T
 * @typedef {object} Column
 * @property {string} label
 * @property {(row: T) => any} cell a text, a node, or a list of both
 * @property {boolean} [isHead] the cell names its row
 * @property {boolean} [isNumber]
 */

/**
 * @template T
 * @param {string} title for those who hear it
 * @param {Column<T>[]} columns
 * @returns {{element: HTMLElement, set: (rows: T[], none?: string) => void}} none: what to say when there are none
 */
export function table (title, columns, { most = ROWS } = {}) {
  const body = element('tbody')
  const empty = element('p', { class: 'hint', hidden: true })
  const more = button(texts.more, () => { shown += most; draw() }, { class: 'secondary', hidden: true })
  const head = element('tr', null, columns.map(each => element('th', { scope: 'col', class: each.isNumber && 'number' }, each.label)))
  const scroller = element('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': title },
    element('table', null, element('thead', null, head), body))
  /** @type {T[]} */
  let rows = []
  let shown = most

  const line = row => element('tr', null, columns.map(({ label, cell, isHead, isNumber }) =>
    element(isHead ? 'th' : 'td', { ...(isHead ? { scope: 'row' } : { 'data-label': label }), class: isNumber && 'number' }, cell(row))))

  function draw () {
    body.replaceChildren(...rows.slice(0, shown).map(line))
    more.hidden = rows.length <= shown
  }

  return {
    element: element('div', { class: 'table-box' }, empty, scroller, more),
    set (next, none = '') {
      rows = next
      empty.textContent = rows.length ? '' : none
      empty.hidden = rows.length > 0 || !none
      scroller.hidden = rows.length === 0
      draw()
    }
  }
}
