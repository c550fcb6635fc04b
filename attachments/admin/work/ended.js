// What ended, and how: a table with filters. It is drawn again only when one of its own documents changes.
import { element, write } from '../../../client/timeline/dom.js'
import { button, fillSelect } from '../../dom.js'
import { byName, count, time } from '../../format.js'
import { texts } from '../words.js'
import { table } from '../table.js'
import { amount, failures, route } from './figures.js'
import { lasted } from './runs.js'
import { span, speed } from './spans.js'

const words = texts.work

const shownWords = (shown, all) => shown === all
  ? words.ended.allShown(count(all))
  : words.ended.shown({ shown: count(shown), all: count(all) })

const { columns } = words
const CLASSES = { done: 'good', failed: 'bad', stopped: '' }
const ALL = ''

/**
 * @param {{again: import('./again.js').Again, mayRemove: (doc: any) => boolean, remove: (doc: any) => void}} actions
 * @returns {{element: HTMLElement, set: (docs: any[], isKnown: boolean) => void}} docs: the same list while nothing has
 *   changed
 */
export function ended ({ again, mayRemove, remove }) {
  /** @type {any[]} */
  let docs = []
  let known = /** @type {any} */ (undefined)
  const wanted = { command: ALL, layer: ALL, state: ALL }
  const selects = Object.fromEntries(Object.keys(wanted).map(field => [field,
    element('select', { on: { change: ({ target }) => { wanted[field] = target.value; draw() } } })]))
  const summary = element('p', { class: 'hint', role: 'status' })
  const removal = doc => button(words.remove.button, () => remove(doc),
    { class: 'secondary', 'aria-label': words.remove.label(name(doc)) })
  const rows = table(words.ended.head, [
    { label: columns.command, isHead: true, cell: title },
    { label: columns.result, cell: doc => outcome(doc, again) },
    { label: columns.ended, cell: doc => time(doc.finished ?? doc.seen) },
    { label: columns.lasted, cell: doc => span(lasted(doc, 0)) },
    { label: columns.amount, cell: figures },
    { label: columns.who, cell: person },
    { label: columns.actions, cell: doc => mayRemove(doc) && removal(doc) }
  ])

  function draw () {
    const { command: of, layer, state } = wanted
    const isLike = (value, mine) => !value || value === mine
    const shown = docs.filter(doc =>
      isLike(of, doc.command) && isLike(layer, doc.layer) && isLike(state, doc.state))
    write(summary, { text: docs.length ? shownWords(shown.length, docs.length) : '' })
    rows.set(shown, docs.length ? words.ended.noneLike : known ? words.ended.none : '')
  }

  function fill () {
    const valuesOf = field => [...new Set(docs.map(doc => doc[field]).filter(Boolean))].sort(byName)
    const options = { command: valuesOf('command'), layer: valuesOf('layer'), state: valuesOf('state') }
    for (const [field, values] of Object.entries(options)) {
      if (wanted[field] && !values.includes(wanted[field])) values.push(wanted[field])
      fillSelect(selects[field], [[ALL, words.filters.all], ...values.map(value =>
        /** @type {[string, string]} */ ([value, field === 'state' ? words.states[value] ?? value : value]))], wanted[field])
    }
  }

  return {
    element: element('section', { class: 'card ended' },
      element('h3', null, words.ended.head), element('p', { class: 'hint' }, words.ended.lead),
      element('form', { class: 'filters', on: { submit: event => event.preventDefault() } },
        Object.entries(selects).map(([field, select]) => element('label', null, words.filters[field], select))),
      summary, rows.element),
    set (next, isKnown) {
      if (next === docs && isKnown === known) return
      docs = next
      known = isKnown
      fill()
      draw()
    }
  }
}

const name = ({ command: of, layer }) => [of, layer].filter(Boolean).join(' ')

const title = doc => [
  doc.command,
  ...[doc.layer, route(doc)].filter(Boolean).map(text => element('small', { class: 'layer' }, text))
]

const person = ({ user, host }) => [user, host && element('small', { class: 'layer' }, host)]

/** How it ended; of a failure why, and what to do. */
function outcome (doc, again) {
  const { state, error } = doc
  return [
    element('span', { class: `state ${CLASSES[state] ?? ''}` }, words.states[state] ?? state),
    error && element('p', { class: 'why' }, `${error.message ?? ''}`, error.code && element('small', null, ` [${error.code}]`)),
    error?.advice && element('p', { class: 'hint' }, `${error.advice}`),
    failures(doc),
    again(doc, line => element('details', null, element('summary', null, state === 'done' ? words.again : words.goOn), line))
  ]
}

const figures = doc => [
  amount(doc),
  doc.rate > 0 && element('small', { class: 'layer' }, speed(doc.rate)),
  doc.failed > 0 && element('small', { class: 'layer failed' }, words.failures(doc.failed))
]
