// All settings of a layer. Only fields that somebody has touched here are written; the others follow what changes in
// the store, while one looks at them.
import { element, write } from '../../../client/timeline/dom.js'
import { faultIn } from '../../../core/documents.js'
import { layerId } from '../../../core/ids.js'
import { isLayerField } from '../../../core/layers.js'
import { button, soon } from '../../dom.js'
import { date } from '../../format.js'
import { texts } from '../words.js'
import { command, shellLine } from '../command.js'
import { Clash, save } from '../edit.js'
import { withCode } from '../overview/part.js'
import { fieldsBetween, record } from '../record.js'
import { askClash, valueText } from './clash.js'
import { same } from './fields.js'
import { privacyPart } from './privacy.js'
import { movePart } from './move.js'
import { retentionField, ruleOptions } from './retention.js'
import { layerSettings } from './settings.js'
import { upstreamField } from './upstream.js'

const words = texts.layers

export class LayerForm {
  #app
  #layer
  /** The values from which the fields were filled. @type {any} */
  #base = null
  /** Field -> the state of its inputs when it was filled. @type {Map<string, string>} */
  #clean = new Map()
  /** @type {import('./fields.js').Field[]} */
  #fields = []
  #prune = element('div')
  #isGone = false
  #isSaving = false
  #look = soon(() => this.#arrange())
  element

  /** @param {import('../index.js').App} app @param {string} layer @param {() => void} onRemoved */
  constructor (app, layer, onRemoved) {
    this.#app = app
    this.#layer = layer
    const settings = layerSettings()
    const upstream = upstreamField(() => this.#now())
    const retention = retentionField()
    this.#fields = [...settings.fields, upstream, retention]
    for (const field of this.#fields) this.#fill(field, undefined)
    this.#base = null
    this.head = element('h2', null, layer)
    this.facts = element('p', { class: 'hint' })
    this.privacy = privacyPart(app, layer)
    this.move = movePart(app, layer, onRemoved)
    this.gone = element('p', { class: 'problem', role: 'status' })
    this.state = element('p', { class: 'grow', role: 'status' })
    this.saving = element('button', { type: 'submit', class: 'primary' }, words.save)
    this.discarding = button(words.discard, () => this.#discard(), { class: 'secondary' })
    this.groups = element('datalist', { id: 'layer-groups' })
    this.names = element('datalist', { id: 'layer-names' })
    const card = (name, ...content) => element('section', { class: `card ${name}` }, element('h3', null, words.parts[name]), content)
    this.element = element('div', { class: 'layer' },
      element('div', { class: 'head' }, this.head, element('nav', { class: 'row', 'aria-label': words.links }, element('a', { href: '#layers' }, words.back), element('a', { href: `#editions/${layer}` }, texts.sections.editions))),
      this.facts, this.gone,
      element('form', {
        novalidate: true,
        on: {
          input: this.#look,
          change: this.#look,
          submit: event => {
            event.preventDefault()
            this.#save()
          }
        }
      },
      card('about', settings.part('about')),
      card('area', settings.part('area')),
      card('tiles', settings.part('tiles')),
      card('upstream', element('p', { class: 'hint' }, words.upstream.lead), upstream.element),
      card('retention', element('p', { class: 'hint' }, withCode(words.retention.lead)), retention.element, this.#prune),
      card('offline', settings.part('offline')),
      element('div', { class: 'save row' }, this.state, this.discarding, this.saving)),
      card('privacy', this.privacy.element),
      card('move', this.move.element),
      this.groups, this.names)
    this.update()
  }

  /** Whether something stands here that is not saved. */
  get isTouched () {
    return !this.#isGone && this.#touched().length > 0
  }

  #touched () {
    return this.#fields.filter(field => this.#isTouched(field))
  }

  #isTouched (field) {
    return field.state() !== this.#clean.get(field.name)
  }

  #fill (field, value) {
    field.show(value)
    field.complain('')
    field.note(null)
    this.#base = { ...this.#base, [field.name]: value }
    this.#clean.set(field.name, field.state())
  }

  /** The store has changed: fields that nobody has touched follow it. */
  update () {
    const { docs } = this.#app
    const doc = docs.get(layerId(this.#layer))
    const isKnown = docs.known.has('layer')
    this.#isGone = isKnown && !doc
    write(this.element, { 'aria-busy': isKnown ? null : 'true' })
    if (doc) this.#follow(doc)
    else if (isKnown) this.gone.textContent = this.#base ? words.removed : words.notFound(this.#layer)
    const layers = docs.all('layer')
    const options = (list, values) => {
      const wanted = JSON.stringify(values)
      if (list.dataset.values === wanted) return
      list.dataset.values = wanted
      list.replaceChildren(...values.map(value => element('option', { value })))
    }
    options(this.groups, [...new Set(layers.map(({ group }) => group).filter(group => typeof group === 'string' && group))].sort())
    options(this.names, layers.map(({ layer }) => layer).filter(layer => layer !== this.#layer))
    this.privacy.update()
    this.#arrange()
  }

  #follow (doc) {
    this.gone.textContent = ''
    const base = this.#base
    this.#base = { ...base, _id: doc._id, _rev: doc._rev, type: 'layer', layer: this.#layer }
    for (const field of this.#fields) {
      const { name } = field
      const isNew = !base || !same(base[name], doc[name])
      if (!isNew) continue
      if (!base || !this.#isTouched(field) || same(this.#valueOf(field), doc[name])) this.#fill(field, doc[name])
      else field.note(element('p', { class: 'problem' }, words.changedMeanwhile(valueText(doc[name]))))
    }
    write(this.head, { text: typeof doc.name === 'string' && doc.name ? doc.name : this.#layer })
    const grid = doc.grid && words.grid(String(doc.grid.id ?? doc.grid))
    const pruned = doc.pruned && words.pruned(date(String(doc.pruned)))
    write(this.facts, { text: [this.#layer, grid, pruned].filter(Boolean).join(' · ') })
    this.move.update(doc)
  }

  #valueOf (field) {
    try {
      return field.read()
    } catch {
      return NaN // equal to nothing
    }
  }

  /** The layer as it stands here; a field with a fault is left out. */
  #now () {
    const doc = this.#app.docs.get(layerId(this.#layer)) ?? {}
    const own = this.#fields.filter(({ name }) => name !== 'upstream')
      .map(field => [field.name, this.#valueOf(field)])
      .filter(([name, value]) => value === undefined || isLayerField(name, value))
    return { ...doc, ...Object.fromEntries(own) }
  }

  #arrange () {
    const touched = this.#touched()
    const labels = touched.map(({ label }) => label).join(', ')
    const state = touched.length ? words.unsaved({ count: touched.length, labels }) : words.allSaved
    write(this.state, { text: this.#isSaving ? words.saving : state })
    this.saving.disabled = this.#isSaving || this.#isGone || !touched.length
    this.discarding.hidden = !touched.length
    const retention = this.#fields.find(({ name }) => name === 'retention')
    try {
      this.#showPrune(retention?.read(), !touched.some(({ name }) => name === 'retention'))
    } catch {
      // said when it is saved
    }
  }

  /** The command that shows what a prune would remove by the rules of the form, saved or not. */
  #showPrune (policy, isSaved) {
    this.#prune.hidden = !policy
    if (!policy) return
    const line = shellLine('prune', this.#layer, ...(isSaved ? [] : ruleOptions(policy)), '--dry-run')
    if (line === this.#prune.dataset.line) return
    this.#prune.dataset.line = line
    const hint = element('p', { class: 'hint' }, words.retention.command)
    this.#prune.replaceChildren(hint, command(line, words.retention.copy))
  }

  #discard () {
    const doc = this.#app.docs.get(layerId(this.#layer)) ?? {}
    for (const field of this.#touched()) this.#fill(field, doc[field.name])
    this.#arrange()
  }

  /** What was touched, checked; nothing if some of it is wrong. @returns {Record<string, any> | undefined} */
  #changes () {
    const touched = this.#touched()
    const bad = /** @type {import('./fields.js').Field[]} */ ([])
    const refuse = (field, text, inner) => {
      field.complain(text, inner)
      bad.push(field)
    }
    const changes = {}
    for (const field of this.#fields) field.complain('')
    for (const field of touched) {
      try {
        const value = field.read()
        const isGood = value === undefined || isLayerField(field.name, value)
        if (isGood) changes[field.name] = value
        else refuse(field, words.bad.fields[field.name] ?? words.bad.other)
      } catch (error) {
        refuse(field, error.message, error.inner)
      }
    }
    if (!bad.length) {
      const doc = this.#app.docs.get(layerId(this.#layer))
      const next = { ...doc, ...changes }
      const fault = faultIn(next)
      const field = fault && (this.#fields.find(({ name }) => name in changes && fault.includes(name)) ?? touched[0])
      if (field && next.minzoom > next.maxzoom) refuse(field, words.bad.zooms)
      else if (field && next.retina === this.#layer) refuse(field, words.bad.fields.retina)
      else if (field) refuse(field, words.bad.because(fault))
    }
    bad[0]?.focus()
    return bad.length ? undefined : changes
  }

  async #save () {
    if (this.#isSaving || this.#isGone) return
    for (;;) {
      const changes = this.#changes()
      if (!changes || !Object.keys(changes).length) return
      this.#isSaving = true
      this.#arrange()
      try {
        return await this.#write(changes)
      } catch (error) {
        if (!(error instanceof Clash)) return void this.#app.say(texts.failed(error.message), true)
        if (!error.fields.length) return void this.#app.say(words.removed, true)
        if (!await this.#settle(error)) return
      } finally {
        this.#isSaving = false
        this.#arrange()
      }
    }
  }

  async #write (changes) {
    const { before, after } = await save(this.#app.couch, this.#base, changes)
    for (const field of this.#fields) if (field.name in changes) this.#fill(field, after[field.name])
    this.#app.docs.put(after)
    this.#app.say(words.saved)
    await record(this.#app, { what: 'layer', done: 'changed', layer: this.#layer, fields: fieldsBetween(before, changes) })
  }

  /** Somebody else has changed a field: asks which value stays. @param {Clash} clash @returns {Promise<boolean>} */
  async #settle ({ fields, newest }) {
    const find = name => /** @type {import('./fields.js').Field} */ (this.#fields.find(field => field.name === name))
    const answer = await askClash(fields, name => find(name).label)
    if (!answer) return false
    for (const { field: name, theirs } of fields) {
      const field = find(name)
      if (answer[name] === 'theirs') this.#fill(field, theirs)
      else {
        this.#base = { ...this.#base, [name]: theirs }
        field.note(null)
      }
    }
    this.#app.docs.put(newest)
    return true
  }
}
