// Tokens for private layers: a list, a form, and the new one, which is shown once. The store keeps its hash only.
import { element } from '../../../client/timeline/dom.js'
import { hashOf, isPattern, newToken, tokenDefaults, tokenId, tokenState, tokenText } from '../../../core/tokens.js'
import { button } from '../../dom.js'
import { copyable } from '../../copy.js'
import { time } from '../../format.js'
import { databaseUrl } from '../../store.js'
import { texts } from '../words.js'
import { confirm } from '../confirm.js'
import { record } from '../record.js'
import { table } from '../table.js'

const words = texts.access.tokens
const DAY = 86_400_000 // milliseconds
const LASTS = { 1: words.day, 7: words.days(7), 30: words.days(30), 365: words.days(365), 0: words.always }
const CLASSES = { valid: 'good', expired: '', revoked: 'bad' }

const timeOf = ms => new Date(ms).toISOString().slice(0, 19) + 'Z'

/** @param {import('../index.js').App} app */
export function tokensCard (app) {
  const { couch, docs, say } = app
  const list = table(words.head, [
    { label: words.name, isHead: true, cell: ({ title, _id }) => title || _id.slice('token:'.length) },
    { label: words.layers, cell: ({ layers }) => Array.isArray(layers) ? layers.join(', ') : '' },
    { label: words.until, cell: ({ until }) => until ? time(until) : words.always },
    { label: words.madeBy, cell: ({ user, created }) => words.by({ user, when: time(created) }) },
    { label: words.state, cell: doc => stateOf(doc) },
    { label: words.change, cell: doc => actionsOf(doc) }
  ])
  const made = element('div', { class: 'made', role: 'status' })
  const name = element('input', { type: 'text', required: true, maxlength: 200, autocomplete: 'off' })
  const layers = element('input', { type: 'text', required: true, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', placeholder: 'survey, draft-*', on: { input: () => layers.setCustomValidity('') } })
  const lasts = element('select', null, Object.entries(LASTS).map(([days, label]) => element('option', { value: days, selected: days === '30' }, label)))
  const submit = element('button', { type: 'submit', class: 'primary' }, words.make)
  const form = element('form', { on: { submit: make } },
    element('div', { class: 'fields' },
      element('label', null, words.forWhom, name),
      element('label', null, words.layers, layers, element('small', { class: 'hint' }, words.layersHint)),
      element('label', null, words.lasts, lasts)),
    element('div', { class: 'row' }, submit))
  let known = ''

  async function make (event) {
    event.preventDefault()
    if (submit.disabled) return
    const wanted = layers.value.split(/[\s,]+/).filter(Boolean)
    if (!wanted.length || wanted.length > tokenDefaults.layers || !wanted.every(isPattern)) {
      layers.setCustomValidity(words.badLayers)
      layers.reportValidity()
      return
    }
    submit.disabled = true
    try {
      const { id, secret } = newToken()
      const days = Number(lasts.value)
      const now = couch.now()
      const doc = {
        _id: tokenId(id),
        type: 'token',
        title: name.value.trim(),
        hash: await hashOf(secret),
        layers: wanted,
        ...(days > 0 && { until: timeOf(now + days * DAY) }),
        created: timeOf(now),
        user: app.user.name
      }
      docs.put(await couch.write(doc))
      show(tokenText(id, secret), wanted)
      name.value = layers.value = ''
      const fields = { layers: { after: wanted }, ...(doc.until && { until: { after: doc.until } }) }
      await record(app, { what: 'token', done: 'created', name: doc.title, fields })
    } catch (error) {
      say(texts.failed(error.message), true)
    }
    submit.disabled = false
  }

  /** Once: nobody can read it again. */
  function show (text, wanted) {
    const plain = wanted.find(each => !/[!*]/.test(each)) ?? 'LAYER'
    const base = databaseUrl() ? 'https://maps.example.org/' : new URL('.', document.baseURI).href
    const line = (label, value) => {
      const { nodes, set } = copyable(words.copy(label))
      set(value)
      return element('div', null, element('p', { class: 'hint' }, label), element('div', { class: 'command' }, ...nodes))
    }
    made.replaceChildren(element('div', { class: 'done' },
      element('p', null, words.once),
      line(words.token, text),
      line(words.tiles, `${base}${plain}/{z}/{x}/{y}.png?token=${text}`),
      line(words.viewer, `${base}?token=${text}`),
      databaseUrl() && element('p', { class: 'hint' }, words.replace),
      button(words.hide, () => { made.replaceChildren() }, { class: 'secondary' })))
  }

  const stateOf = doc => {
    const state = tokenState(doc, couch.now())
    return element('span', { class: `state ${CLASSES[state]}` }, words.states[state])
  }

  function actionsOf (doc) {
    const title = doc.title || doc._id
    return tokenState(doc, couch.now()) === 'valid'
      ? button(words.revoke.action, () => revoke(doc._id), { class: 'secondary danger', 'aria-label': words.revoke.of(title) })
      : button(words.remove.action, () => remove(doc._id), { class: 'secondary', 'aria-label': words.remove.of(title) })
  }

  async function revoke (id) {
    const { title } = docs.get(id) ?? {}
    const isMeant = await confirm({
      head: words.revoke.head(title || id), content: element('p', null, words.revoke.lead), action: words.revoke.action, isDanger: true
    })
    if (!isMeant) return
    try {
      const newest = await couch.read(id)
      if (!newest || newest.revoked) return
      const revoked = timeOf(couch.now())
      docs.put(await couch.write({ ...newest, revoked }))
      await record(app, { what: 'token', done: 'changed', name: title || id, fields: { revoked: { after: revoked } } })
    } catch (error) {
      say(texts.failed(error.message), true)
    }
  }

  /** Of those that are valid no more: nothing is lost but the line. */
  async function remove (id) {
    try {
      const newest = await couch.read(id)
      if (newest) await couch.ask(encodeURIComponent(id), { method: 'DELETE', query: { rev: newest._rev } })
      await record(app, { what: 'token', done: 'removed', name: newest?.title || id })
    } catch (error) {
      say(texts.failed(error.message), true)
    }
  }

  return {
    element: element('section', { class: 'card tokens' }, element('h3', null, words.head),
      element('p', { class: 'hint' }, words.lead), list.element, made,
      element('details', { class: 'new' }, element('summary', null, words.new),
        globalThis.isSecureContext ? form : element('p', null, words.insecure))),
    update () {
      const now = couch.now()
      const all = docs.all('token').sort((a, b) => `${b.created}`.localeCompare(`${a.created}`))
      const wanted = JSON.stringify(all.map(doc => [doc._id, doc._rev, tokenState(doc, now)]))
      if (wanted === known) return
      known = wanted
      list.set(all, words.none)
    }
  }
}
