// The page "Activity": who changed what and when, the newest first, and for how many days activity is kept.
import { activityDays, activityDefaults, keptFrom } from '../../../core/activity.js'
import { STORE_ID, isLayer } from '../../../core/ids.js'
import { limitsOf, recordFields } from '../../../core/record-values.js'
import { isExactTime } from '../../../core/times.js'
import { breathe } from '../../dom.js'
import { count, date, time, timeOfDay } from '../../format.js'
import { html, useEffect, useRef, useState, useSubmit } from '../../html.js'
import { Button, Hint } from '../../parts.js'
import { useApp, useDocs } from '../app.js'
import { Clash, record, save } from '../edit.js'
import { Card, Filters, State, hasChoices, valuesOf } from '../parts.js'
import { texts } from '../words.js'

const ROWS = 40 // entries at once; a button shows as many more
const FIELDS = 12 // fields of one change that are shown; the others are counted
const MOST = 160 // characters of a value that are shown
const SECONDS = /^(ttl|expires)$/ // fields whose numbers are seconds
const BATCHES = 20 // batches of old activity to remove while the section is open
const [LEAST_DAYS, MOST_DAYS] = limitsOf(recordFields.store.activityDays)

const words = texts.activity
const { keep: keepWords } = words
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
  const keptDocs = docs.all('activity').filter(({ at }) => at >= from).sort(newestFirst)
  const shownDocs = keptDocs.filter(doc => hasChoices(doc, choices))
  const matchText = shownDocs.length ? words.found(shownDocs.length) : words.noMatch
  const shownText = keptDocs.length ? matchText : words.none
  return html`<div class="activity-section" aria-busy=${isRead ? null : 'true'}>
    <p class="path"><a href="#access">${texts.sections.access}</a></p>
    <h2>${texts.sections.activity}</h2>
    <p class="hint lead">${words.lead}</p>
    <${Filters} label=${words.filter} selects=${selectsOf(keptDocs, choices)}
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

const newestFirst = (a, b) => {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1
  return a._id < b._id ? 1 : -1
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
      <b>${String(user)}</b>, <time datetime=${at}>${timeOfDay(at)}</time>,${' '}
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

/** The changed thing, with links to it. */
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

/** The label of a field, or its name if it has no label. @param {string} field */
function labelOf (field) {
  const labels = [words.fields, texts.layers.labels].find(fieldLabels => Object.hasOwn(fieldLabels, field))
  return labels ? labels[field] : field
}

/** `Streets → Roads`; the new value alone if there was none before. @param {{before?: any, after?: any}} change */
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
  if (value === '') return '""'
  if (typeof value === 'string') return isExactTime(value) ? time(value) : value
  if (Array.isArray(value)) return value.length ? value.map(item => wordsOf('', item)).join(', ') : words.nobody
  const { names, roles, ...otherFields } = value
  // users and roles: `anna, the role staff`
  if (Array.isArray(names) && Array.isArray(roles) && !Object.keys(otherFields).length) {
    return [...names, ...roles.map(words.role)].join(', ') || words.nobody
  }
  const textIn = (name, part) => typeof part === 'object' && part !== null ? JSON.stringify(part) : wordsOf(name, part)
  const parts = Object.entries(value).map(([name, part]) => `${labelOf(name)}: ${textIn(name, part)}`)
  return parts.join('; ') || words.nothing
}

/** The form for the days that activity is kept. Removes older activity while an admin has the page open. */
function Keep ({ isRead }) {
  const app = useApp()
  const docs = useDocs('activity', 'store')
  const store = docs.get(STORE_ID)
  const days = activityDays(store)
  const [typed, setTyped] = useState(/** @type {string | null} */ (null))
  const removal = useRef({ left: BATCHES, isRunning: false, isClosed: false }).current

  useEffect(() => () => { removal.isClosed = true }, [])
  useEffect(() => { if (isRead) removeOld(app, removal) })

  const { submit, busy } = useSubmit(async () => {
    const after = Number(typed ?? days)
    try {
      const before = store ?? { _id: STORE_ID, type: 'store' }
      const activityDaysAfter = after === activityDefaults.days ? undefined : after
      docs.put((await save(app.couch, before, { activityDays: activityDaysAfter })).after)
      setTyped(latest => latest === typed ? null : latest) // the user may have typed another number meanwhile
      app.say(keepWords.saved(after))
      if (after !== days) {
        const fields = { activityDays: { before: days, after } }
        await record(app, { what: 'store', done: 'changed', fields })
      }
    } catch (error) {
      if (error instanceof Clash && error.newest) docs.put(error.newest)
      app.say(error instanceof Clash ? keepWords.clash : texts.failed(error.message), true)
    }
  })

  return html`<form class="card keep" onSubmit=${submit}>
    <h3>${keepWords.head}</h3>
    <${Hint}>${keepWords.now(days)}<//>
    <div class="row">
      <label>
        ${keepWords.days}
        <input type="number" min=${LEAST_DAYS} max=${MOST_DAYS} step="1" required value=${typed ?? String(days)}
          onInput=${({ target }) => setTyped(target.value)} />
      </label>
      <${Button} type="submit" busy=${busy}>${keepWords.save}<//>
    </div>
  </form>`
}

/**
 * Removes old activity batch by batch, the oldest first, so that the page stays responsive.
 * @param {import('../app.js').App} app
 * @param {{left: number, isRunning: boolean, isClosed: boolean}} removal left: batches
 */
async function removeOld ({ couch, docs }, removal) {
  if (removal.isRunning) return
  removal.isRunning = true
  try {
    while (removal.left > 0 && !removal.isClosed) {
      const from = keptFrom(docs.get(STORE_ID), couch.now())
      const old = docs.all('activity').filter(({ at }) => at < from).sort((a, b) => a.at < b.at ? -1 : 1)
      if (!old.length) return
      removal.left--
      const tombstones = old.slice(0, activityDefaults.batch).map(({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
      const answers = await couch.ask('_bulk_docs', { body: { docs: tombstones } })
      if (answers.some(({ error }) => error && error !== 'conflict')) return // refused: the next command removes it
      for (const { _id } of tombstones) docs.drop(_id)
      await breathe()
    }
  } catch {
    removal.left = 0 // the next visit continues
  } finally {
    removal.isRunning = false
  }
}
