// The list of what was changed, by day. What is drawn already stays: only what is new is drawn.
import { element } from '../../../client/timeline/dom.js'
import { button } from '../../dom.js'
import { date, time } from '../../format.js'
import { texts } from '../words.js'
import { changeText, labelOf } from './values.js'

const ROWS = 40 // at once; a button shows as many more
const FIELDS = 12 // of one change; the others are counted

const words = texts.activity
const STATES = { created: 'good', changed: '', removed: 'bad' }

export class List {
  #docs = /** @type {any[]} */ ([])
  #shown = ROWS
  /** By id. @type {Map<string, HTMLElement>} */
  #rows = new Map()
  #days = element('div')
  #more = button(texts.more, () => {
    this.#shown += ROWS
    this.#draw()
  }, { class: 'secondary', hidden: true })

  element = element('div', { class: 'activity' }, this.#days, this.#more)

  /** @param {any[]} docs the newest first */
  set (docs) {
    this.#docs = docs
    this.#draw()
  }

  #draw () {
    const docs = this.#docs.slice(0, this.#shown)
    this.#more.hidden = this.#docs.length <= this.#shown
    const ids = docs.map(({ _id }) => _id)
    if ([...this.#rows.keys()].join() === ids.join()) return
    this.#rows = new Map(docs.map(doc => [doc._id, this.#rows.get(doc._id) ?? row(doc)]))
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)
    const days = new Map(docs.map(doc => [dayOf(doc), /** @type {HTMLElement[]} */ ([])]))
    for (const doc of docs) days.get(dayOf(doc))?.push(/** @type {HTMLElement} */ (this.#rows.get(doc._id)))
    this.#days.replaceChildren(...[...days].map(([day, rows]) =>
      element('section', { class: 'card' }, element('h3', null, day), element('ol', null, rows))))
    if (focused && this.#days.contains(focused)) focused.focus({ preventScroll: true })
  }
}

const dayOf = ({ at }) => date(`${String(at).slice(0, 10)}T00:00:00Z`)

function row (doc) {
  const { at, user, via, done, fields = {} } = doc
  const entries = Object.entries(fields ?? {}).filter(([, change]) => typeof change === 'object' && change)
  const more = entries.length - FIELDS
  const how = via === 'page' || !via ? words.page : element('code', null, via)
  return element('li', null,
    element('div', { class: 'what' },
      element('span', { class: `state ${STATES[done] ?? ''}` }, words.done[done] ?? String(done)), ' ', element('span', { class: 'subject' }, subject(doc))),
    element('p', { class: 'who' }, element('b', null, String(user)), ', ', element('time', { datetime: at }, clock(at)), ', ', how),
    entries.length > 0 && element('dl', null, entries.slice(0, FIELDS).map(([field, change]) =>
      element('div', null, element('dt', null, labelOf(field)), element('dd', null, changeText(field, change))))),
    more > 0 && element('p', { class: 'hint' }, words.moreFields(more)))
}

/** `14:05 UTC`; the day is above. */
const clock = at => /, (.*)$/.exec(time(at))?.[1] ?? '00:00 UTC'

/** What was changed, as a link to where it is. */
function subject ({ what, layer, edition, name }) {
  const kind = words.what[what] ?? String(what)
  const link = (place, text) => element('a', { href: `#${place}` }, text)
  const parts = [
    layer && link(`layers/${encodeURIComponent(layer)}`, layer),
    edition && (what === 'style' || !layer ? time(edition) : link(`editions/${encodeURIComponent(layer)}/${edition}`, time(edition))),
    name && (what === 'access' ? link('access', name) : name)
  ].filter(Boolean)
  return [what === 'access' && !parts.length ? link('access', kind) : kind, ...parts.flatMap(part => [' ', part])]
}
