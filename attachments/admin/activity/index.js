// Activity: who changed what and when, the newest first, and how long that is kept.
import { keptFrom } from '../../../core/activity.js'
import { STORE_ID, isLayer } from '../../../core/ids.js'
import { isExactTime } from '../../../core/times.js'
import { count, date, time } from '../../format.js'
import { html, useEffect, useState } from '../../html.js'
import { Button, Hint } from '../../parts.js'
import { useApp, useDocs } from '../app.js'
import { Card, Filters, State, hasChoices, valuesOf } from '../parts.js'
import { texts } from '../words.js'
import { Keep } from './keep.js'

const ROWS = 40 // at once; a button shows as many more
const FIELDS = 12 // of one change; the others are counted
const MOST = 160 // characters of a value that are shown
const SECONDS = /^(ttl|expires)$/ // fields whose numbers are seconds

const words = texts.activity
const STATES = { created: 'good', changed: '', removed: 'bad' }

/** place: a layer whose activity is shown */
export function Activity ({ place }) {
  const { couch } = useApp()
  const docs = useDocs('activity', 'store')
  const isRead = docs.known.has('store') && docs.known.has('activity')
  const ofPlace = isLayer(place) ? place : ''
  const [choices, setChoices] = useState({ layer: ofPlace, user: '', what: '' })
  const [most, setMost] = useState(ROWS)
  useEffect(() => setChoices(before => ({ ...before, layer: ofPlace })), [ofPlace])

  const from = keptFrom(docs.get(STORE_ID), couch.now())
  const all = docs.all('activity').filter(({ at }) => at >= from).sort(newestFirst)
  const shownDocs = all.filter(doc => hasChoices(doc, choices))
  const shownText = !all.length ? words.none : !shownDocs.length ? words.noMatch : words.found(shownDocs.length)
  return html`<div class="activity-section" aria-busy=${isRead ? null : 'true'}>
    <p class="path"><a href="#access">${texts.sections.access}</a></p>
    <h2>${texts.sections.activity}</h2>
    <p class="hint lead">${words.lead}</p>
    <${Filters} label=${words.filter} selects=${selectsOf(all, choices)}
      onChoose=${(field, value) => setChoices({ ...choices, [field]: value })} />
    <p class="hint" role="status">${isRead ? shownText : words.reading}</p>
    <div class="activity">
      ${isRead && daysOf(shownDocs.slice(0, most)).map(([day, rows]) => html`<${Card} key=${day} head=${day}>
        <ol>${rows.map(doc => html`<${Row} key=${doc._id} doc=${doc} />`)}</ol>
      <//>`)}
      ${shownDocs.length > most && html`<${Button} onClick=${() => setMost(most + ROWS)}>${texts.more}<//>`}
    </div>
    <${Keep} isRead=${isRead} />
  </div>`
}

const newestFirst = (one, other) => {
  if (one.at !== other.at) return one.at < other.at ? 1 : -1
  return one._id < other._id ? 1 : -1
}

function selectsOf (docs, choices) {
  const plain = field => valuesOf(docs, field, choices[field]).map(value => [value, value])
  const options = { layer: plain('layer'), user: plain('user'), what: Object.entries(words.what) }
  return Object.entries(options).map(([field, values]) => [
    field, words.by[field], [['', words.all], ...values], choices[field]
  ])
}

/** @returns {[string, any[]][]} */
function daysOf (docs) {
  const days = new Map()
  for (const doc of docs) {
    const day = date(`${String(doc.at).slice(0, 10)}T00:00:00Z`)
    days.set(day, [...days.get(day) ?? [], doc])
  }
  return [...days]
}

function Row ({ doc }) {
  const { at, user, via, done, fields } = doc
  const entries = Object.entries(fields ?? {}).filter(([, change]) => typeof change === 'object' && change)
  const more = entries.length - FIELDS
  return html`<li>
    <div class="what">
      <${State} kind=${STATES[done] ?? ''}>${words.done[done] ?? String(done)}<//>${' '}
      <span class="subject"><${Subject} doc=${doc} /></span>
    </div>
    <p class="who">
      <b>${String(user)}</b>, <time datetime=${at}>${clock(at)}</time>,${' '}
      ${via === 'page' || !via ? words.page : html`<code>${via}</code>`}
    </p>
    ${entries.length > 0 && html`<dl>
      ${entries.slice(0, FIELDS).map(([field, change]) => html`<div>
        <dt>${labelOf(field)}</dt>
        <dd>${changeText(field, change)}</dd>
      </div>`)}
    </dl>`}
    ${more > 0 && html`<${Hint}>${words.moreFields(more)}<//>`}
  </li>`
}

/** `14:05 UTC`; the day is above. */
const clock = at => /, (.*)$/.exec(time(at))?.[1] ?? '00:00 UTC'

/** What was changed, as links to where it is. */
function Subject ({ doc: { what, layer, edition, name } }) {
  const kind = words.what[what] ?? String(what)
  if (what === 'access' && !name) return html`<a href="#access">${kind}</a>`
  const isPage = edition && layer && what !== 'style'
  const editionPlace = `#editions/${encodeURIComponent(layer)}/${edition}`
  return html`
    ${kind}
    ${layer && html`${' '}<a href="#layers/${encodeURIComponent(layer)}">${layer}</a>`}
    ${edition && html`${' '}${isPage ? html`<a href=${editionPlace}>${time(edition)}</a>` : time(edition)}`}
    ${name && html`${' '}${what === 'access' ? html`<a href="#access">${name}</a>` : name}`}`
}

/** The name of a field; one that has no name here is told as it is. @param {string} field */
const labelOf = field => Object.hasOwn(words.fields, field)
  ? words.fields[field]
  : Object.hasOwn(texts.layers.labels, field) ? texts.layers.labels[field] : field

/** `Streets → Roads`; a value alone where there was none before. @param {{before?: any, after?: any}} change */
function changeText (field, { before, after }) {
  const [old, now] = [before, after].map(value => textOf(field, value))
  if (before === undefined || before === null) return now
  const isGone = after === undefined || after === null
  return html`<del>${old}</del> → ${isGone ? html`<i>${words.nothing}</i>` : html`<ins>${now}</ins>`}`
}

function textOf (field, value) {
  const text = wordsOf(field, value)
  return text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text
}

function wordsOf (field, value) {
  if (value === undefined || value === null) return words.nothing
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value === 'number') return SECONDS.test(field) ? words.seconds(value) : count(value)
  if (typeof value === 'string') return isExactTime(value) ? time(value) : value === '' ? '""' : value
  if (Array.isArray(value)) return value.length ? value.map(each => wordsOf('', each)).join(', ') : words.nobody
  const { names, roles, ...others } = value
  // who may do something: `anna, the role staff`
  if (Array.isArray(names) && Array.isArray(roles) && !Object.keys(others).length) {
    return [...names, ...roles.map(words.role)].join(', ') || words.nobody
  }
  const textIn = (name, each) => typeof each === 'object' && each !== null ? JSON.stringify(each) : wordsOf(name, each)
  const parts = Object.entries(value).map(([name, each]) => `${labelOf(name)}: ${textIn(name, each)}`)
  return parts.join('; ') || words.nothing
}
