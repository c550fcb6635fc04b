// Tokens for private layers: a list, a form, and the new token, which is shown once. The store keeps only its hash.
import { isRecordValue } from '../../../core/record-values.js'
import { hashOf, newToken, tokenId, tokenState, tokenText } from '../../../core/tokens.js'
import { fromMilliseconds } from '../../../core/times.js'
import { isSameJson } from '../../../core/values.js'
import { time } from '../../format.js'
import { html, useRef, useState, useSubmit } from '../../html.js'
import { useApp, useDocs } from '../app.js'
import { Copyable } from '../../copy.js'
import { Button, Fold, Hint, plainInput } from '../../parts.js'
import { Card, State, Table, confirm } from '../parts.js'
import { texts } from '../words.js'
import { record } from '../edit.js'

const words = texts.access.tokens
const DAY = 86_400_000 // milliseconds
const GATEWAY = 'https://maps.example.org/' // in the addresses of an example
const LASTS = [
  ['1', words.day], ['7', words.days(7)], ['30', words.days(30)], ['365', words.days(365)], ['0', words.always]
]
const CLASSES = { valid: 'good', expired: '', revoked: 'bad' }

/** @typedef {{text: string, layers: string[]}} Made a token that was made just now */

export function Tokens () {
  const { couch } = useApp()
  const docs = useDocs('token')
  const [made, setMade] = useState(/** @type {Made | null} */ (null))
  const tokens = docs.all('token').sort((a, b) => `${b.created}`.localeCompare(`${a.created}`))
  const stateOf = doc => tokenState(doc, couch.now())
  return html`<${Card} name="tokens" head=${words.head}>
    <${Hint}>${words.lead}<//>
    <${Table} title=${words.head} rows=${tokens} none=${words.none} keyOf=${({ _id }) => _id} columns=${[
      { label: words.name, isHead: true, cell: ({ title, _id }) => title || _id.slice('token:'.length) },
      { label: words.layers, cell: ({ layers }) => Array.isArray(layers) ? layers.join(', ') : '' },
      { label: words.until, cell: ({ until }) => until ? time(until) : words.always },
      { label: words.madeBy, cell: ({ user, created }) => words.by({ user, when: time(created) }) },
      {
        label: words.state,
        cell: doc => html`<${State} kind=${CLASSES[stateOf(doc)]}>${words.states[stateOf(doc)]}<//>`
      },
      { label: words.change, cell: doc => html`<${End} doc=${doc} isValid=${stateOf(doc) === 'valid'} />` }
    ]} />
    <div class="made" role="status">${made && html`<${NewToken} ...${made} hide=${() => setMade(null)} />`}</div>
    <${Fold} class="new" head=${words.new}>
      ${globalThis.isSecureContext ? html`<${Form} onMade=${setMade} />` : html`<p>${words.insecure}</p>`}
    <//>
  <//>`
}

function Form ({ onMade }) {
  const app = useApp()
  const form = useRef(/** @type {any} */ (null))

  const { submit, busy } = useSubmit(async () => {
    const { title, layers, lasts } = form.current.elements
    const patterns = layers.value.split(/[\s,]+/).filter(Boolean)
    if (!isRecordValue(patterns, 'patterns')) {
      layers.setCustomValidity(words.badLayers)
      return layers.reportValidity()
    }
    const sent = [title, layers, lasts].map(({ value }) => value)
    try {
      onMade(await makeToken(app, title.value.trim(), patterns, Number(lasts.value)))
      // the user may have typed the next one meanwhile
      if (isSameJson([title, layers, lasts].map(({ value }) => value), sent)) form.current.reset()
    } catch (error) {
      app.say(texts.failed(error.message), true)
    }
  })

  return html`<form ref=${form} onSubmit=${submit}>
    <div class="fields">
      <label>${words.forWhom}<input type="text" name="title" required maxlength="200" autocomplete="off" /></label>
      <label>
        ${words.layers}
        <input name="layers" ...${plainInput} required placeholder="survey, draft-*"
          onInput=${({ target }) => target.setCustomValidity('')} />
        <small class="hint">${words.layersHint}</small>
      </label>
      <label>
        ${words.lasts}
        <select name="lasts">
          ${LASTS.map(([days, text]) => html`<option value=${days} selected=${days === '30'}>${text}</option>`)}
        </select>
      </label>
    </div>
    <div class="row"><${Button} type="submit" kind="primary" busy=${busy}>${words.make}<//></div>
  </form>`
}

/** @param {import('../app.js').App} app @returns {Promise<Made>} */
async function makeToken (app, title, layers, days) {
  const { couch, docs, user } = app
  const { id, secret } = newToken()
  const now = couch.now()
  const until = days > 0 ? fromMilliseconds(now + days * DAY) : undefined
  const doc = {
    _id: tokenId(id),
    type: 'token',
    title,
    hash: await hashOf(secret),
    layers,
    ...(until && { until }),
    created: fromMilliseconds(now),
    user: user.name
  }
  docs.put(await couch.write(doc))
  const fields = { layers: { after: layers }, ...(until && { until: { after: until } }) }
  await record(app, { what: 'token', done: 'created', name: title, fields })
  return { text: tokenText(id, secret), layers }
}

/** Shows a new token. It cannot be read again. */
function NewToken ({ text, layers, hide }) {
  const layer = layers.find(pattern => !/[!*]/.test(pattern)) ?? 'LAYER'
  const lines = [
    [words.token, text],
    [words.tiles, `${GATEWAY}${layer}/{z}/{x}/{y}.png?token=${text}`],
    [words.viewer, `${GATEWAY}?token=${text}`]
  ]
  return html`<div class="done">
    <p>${words.once}</p>
    ${lines.map(([label, value]) => html`<div>
      <${Hint}>${label}<//>
      <${Copyable} text=${value} label=${words.copy(label)} />
    </div>`)}
    <${Hint}>${words.replace}<//>
    <${Button} onClick=${hide}>${words.hide}<//>
  </div>`
}

/** A button that revokes a valid token, or removes another one. */
function End ({ doc: { _id: id, title }, isValid }) {
  const app = useApp()
  const { couch, docs, say } = app
  const name = title || id.slice('token:'.length)

  async function revoke () {
    const { head, lead: text, action } = words.revoke
    if (!await confirm({ head: head(name), text, action, isDanger: true })) return
    const newest = await couch.read(id)
    if (!newest || newest.revoked) return
    const revoked = fromMilliseconds(couch.now())
    docs.put(await couch.write({ ...newest, revoked }))
    await record(app, { what: 'token', done: 'changed', name, fields: { revoked: { after: revoked } } })
  }

  async function remove () {
    const newest = await couch.read(id)
    if (newest) await docs.remove(newest)
    else docs.drop(id)
    await record(app, { what: 'token', done: 'removed', name: newest?.title || name })
  }

  const { action, of } = isValid ? words.revoke : words.remove
  const act = () => (isValid ? revoke() : remove()).catch(error => say(texts.failed(error.message), true))
  return html`<${Button} aria-label=${of(name)} onClick=${act}>${action}<//>`
}
