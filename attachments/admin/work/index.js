// The section "Work": running, interrupted and ended commands of this store. A killed command says "running" for ever
// and changes no document, so the page checks the times again every few seconds.
import { typedAgain } from '../../../core/work.js'
import { count, fromNow, time } from '../../format.js'
import { html, useInterval, useMemo, useState } from '../../html.js'
import { useApp, useDocs, useStoreAddress } from '../app.js'
import { Copyable, shellLine } from '../../copy.js'
import { Button, Fold, Hint } from '../../parts.js'
import { Card, Filters, State, Table, confirm, hasChoices, valuesOf } from '../parts.js'
import { texts } from '../words.js'
import { Copies } from './copies.js'
import { amount, figures, follows, lasted, nameOf, origin, route, sortRuns, span, speed } from './runs.js'
import { Start } from './start.js'

const words = texts.work
const { columns } = words
const LOOK = 3000 // milliseconds between two checks for interrupted commands
const MOST = 60 // runs of a list that are shown at first
const CLASSES = { done: 'good', failed: 'bad', stopped: '' }

export function Work () {
  const { couch } = useApp()
  const docs = useDocs('work')
  const [now, setNow] = useState(() => couch.now())
  useInterval(() => setNow(couch.now()), LOOK)
  const isKnown = docs.known.has('work')
  const { running, interrupted, ended } = sortRuns(docs.all('work'), now)
  return html`<div class="work" aria-busy=${isKnown ? null : 'true'}>
    <h2>${texts.sections.work}</h2>
    <${Runs} kind="running" texts=${words.running} ...${{ docs: running, isKnown, now }} />
    <${Runs} kind="interrupted" texts=${words.interrupted} ...${{ docs: interrupted, isKnown, now }} />
    <${Copies} />
    <${Ended} docs=${isKnown ? ended : []} isKnown=${isKnown} />
    <${Start} />
  </div>`
}

/** kind: 'running' or 'interrupted' */
function Runs ({ kind, texts: { head, none, lead }, docs, isKnown, now }) {
  const [most, setMost] = useState(MOST)
  const isInterrupted = kind === 'interrupted'
  return html`<${Card} name=${kind} head=${docs.length ? `${head} (${docs.length})` : head}>
    ${docs.length > 0 && lead && html`<${Hint}>${lead}<//>`}
    ${isKnown && !docs.length && html`<${Hint}>${none}<//>`}
    <ul class="runs">
      ${docs.slice(0, most).map(doc => html`<${Run} key=${doc._id} ...${{ doc, isInterrupted, now }} />`)}
    </ul>
    ${docs.length > most && html`<${Button} onClick=${() => setMost(most + MOST)}>${texts.more}<//>`}
  <//>`
}

function Run ({ doc, isInterrupted, now }) {
  const { done = 0, total, seen } = doc
  const title = nameOf(doc)
  const when = isInterrupted && words.lastSeen(fromNow(Date.parse(seen) - now))
  const progressText = figures(isInterrupted ? { ...doc, rate: undefined, about: undefined } : doc)
  return html`<li class="run">
    <div class="row">
      <strong class="grow">${title}</strong>
      <${State} kind=${isInterrupted ? 'bad' : 'good'}>${words.states[isInterrupted ? 'interrupted' : 'running']}<//>
      ${isInterrupted && html`<${Remove} doc=${doc} />`}
    </div>
    ${total > 0 && !follows(doc) &&
      html`<progress max="1" value=${Math.min(1, done / total)} aria-label=${words.progress(title)} />`}
    <p class="far">${route(doc)}</p>
    <p class="far">${progressText}</p>
    <${Hint}>${[when, origin(doc, now)].filter(Boolean).join(' · ')}<//>
    <${Failures} doc=${doc} />
    ${isInterrupted && html`<${Again} doc=${doc} show=${line => html`<p>${words.goOn}</p>${line}`} />`}
  </li>`
}

/** Some of the failed items. */
function Failures ({ doc: { failures = [], failed = failures.length } }) {
  return failures.length > 0 && html`<${Fold} head=${words.failures(Math.max(failed, failures.length))}>
    <ul class="hint">${failures.map(failure => html`<li>${String(failure)}</li>`)}</ul>
  <//>`
}

/**
 * The command that continues work or repeats it, if the document has one. It is built from checked arguments, because
 * any writer may have written the document, and it names the store of this page.
 */
function Again ({ doc, show }) {
  const store = useStoreAddress()
  const args = store && typedAgain(doc, store)
  if (!args) return null
  const line = shellLine(...args)
  return show(html`<${Copyable} text=${line} label=${words.copy(line)} />`)
}

/** Removes the entry of a command. Admins may remove every entry, other users only their own. */
function Remove ({ doc }) {
  const { docs, user, say } = useApp()
  if (!user.isAdmin && (user.name === null || doc.user !== user.name)) return null
  const { head, text, action, button, label } = words.remove

  async function remove () {
    if (!await confirm({ head: head(doc.command), text, action, isDanger: true })) return
    await docs.remove(doc).catch(error => say(texts.failed(error.message), true))
  }

  return html`<${Button} aria-label=${label(nameOf(doc))} onClick=${remove}>${button}<//>`
}

/** The ended commands: a table with filters. */
function Ended ({ docs, isKnown }) {
  const [choices, setChoices] = useState({ command: '', layer: '', state: '' })
  const shown = docs.filter(doc => hasChoices(doc, choices))
  const selects = useMemo(() => Object.entries(choices).map(([field, value]) => {
    const options = valuesOf(docs, field, value)
      .map(option => [option, field === 'state' ? words.states[option] ?? option : option])
    return [field, words.filters[field], [['', words.filters.all], ...options], value]
  }), [docs, choices])
  const none = isKnown ? words.ended.none : ''
  return html`<${Card} name="ended" head=${words.ended.head}>
    <${Hint}>${words.ended.lead}<//>
    <${Filters} selects=${selects} onChoose=${(field, value) => setChoices({ ...choices, [field]: value })} />
    <p class="hint" role="status">${docs.length > 0 && shownWords(shown.length, docs.length)}</p>
    <${Table} title=${words.ended.head} rows=${shown} keyOf=${({ _id }) => _id} columns=${endedColumns}
      none=${docs.length ? words.ended.noneLike : none} />
  <//>`
}

const shownWords = (shown, all) => shown === all
  ? words.ended.allShown(count(all))
  : words.ended.shown({ shown: count(shown), all: count(all) })

const below = text => text && html`<small class="layer">${text}</small>`

const endedColumns = [
  { label: columns.command, isHead: true, cell: doc => [doc.command, below(doc.layer), below(route(doc))] },
  { label: columns.result, cell: doc => html`<${Outcome} doc=${doc} />` },
  { label: columns.ended, cell: doc => time(doc.finished ?? doc.seen) },
  { label: columns.lasted, cell: doc => span(lasted(doc)) },
  {
    label: columns.amount,
    cell: doc => [
      amount(doc),
      below(doc.rate > 0 && speed(doc.rate)),
      doc.failed > 0 && html`<small class="layer failed">${words.failures(doc.failed)}</small>`
    ]
  },
  { label: columns.who, cell: ({ user, host }) => [user, below(host)] },
  { label: columns.actions, cell: doc => html`<${Remove} doc=${doc} />` }
]

/** The result of a command; for a failure, the reason and advice. */
function Outcome ({ doc }) {
  const { state, error } = doc
  const head = state === 'done' ? words.again : words.goOn
  return html`
    <${State} kind=${CLASSES[state] ?? ''}>${words.states[state] ?? state}<//>
    ${error && html`<p class="why">
      ${`${error.message ?? ''}`}${error.code && html`<small> [${error.code}]</small>`}
    </p>`}
    ${error?.advice && html`<${Hint}>${`${error.advice}`}<//>`}
    <${Failures} doc=${doc} />
    <${Again} doc=${doc} show=${line => html`<${Fold} head=${head}>${line}<//>`} />`
}
