// The form with all settings of a layer. Only fields that the user has touched are written. The other fields follow the
// changes in the store.
import { cached } from '../../../core/cache.js'
import { faultIn } from '../../../core/documents.js'
import { layerId } from '../../../core/ids.js'
import { isLayerField } from '../../../core/layers.js'
import { isSameJson } from '../../../core/values.js'
import { date } from '../../format.js'
import { html, useEffect, useRef, useState, useSubmit } from '../../html.js'
import { useApp, useDocs, useShellLine } from '../app.js'
import { askClash, valueText } from '../clash.js'
import { Copyable } from '../../copy.js'
import { Clash, fieldsBetween, record, save } from '../edit.js'
import { Button, Hint } from '../../parts.js'
import { Card, WithCode } from '../parts.js'
import { texts } from '../words.js'
import { Move } from './move.js'
import { Privacy } from './privacy.js'
import { retentionField, ruleOptions } from './retention.js'
import { allFields, parts } from './settings.js'

const words = texts.layers

/**
 * The typed values, and the values of the document on which they are based.
 * @typedef {Record<string, {typed: any, base: any}>} Edits by field
 */

/**
 * Edits that are not saved, by layer. They stay while another page is shown.
 * @type {WeakMap<import('../documents.js').Documents, Map<string, Edits>>}
 */
const unsaved = new WeakMap()

/** @param {import('../documents.js').Documents} docs */
export function unsavedOf (docs) {
  return cached(unsaved, docs, () => new Map())
}

/** The edits of a layer, and a function that changes them. */
function useEdits (docs, layer) {
  const editsByLayer = unsavedOf(docs)
  const [, draw] = useState(0)
  const edits = /** @type {Edits} */ (editsByLayer.get(layer) ?? {})
  /** @param {(latest: Edits) => Edits} toNext */
  const change = toNext => {
    const next = toNext(editsByLayer.get(layer) ?? {})
    if (Object.keys(next).length) editsByLayer.set(layer, next)
    else editsByLayer.delete(layer)
    draw(turn => turn + 1)
  }
  return /** @type {const} */ ([edits, change])
}

/**
 * The edits that were typed while a form was being saved.
 * @param {Edits} latest @param {Edits} saved @param {any} doc that was saved
 * @returns {Edits}
 */
function unsavedIn (latest, saved, doc) {
  const isUnsaved = ([name, { typed }]) => !saved[name] || !isSameJson(typed, saved[name].typed)
  const entries = Object.entries(latest).filter(isUnsaved)
  return Object.fromEntries(entries.map(([name, edit]) => [name, saved[name] ? { ...edit, base: doc[name] } : edit]))
}

/**
 * The edits after the user has chosen whose values stay.
 * @param {Edits} edits @param {{field: string, theirs: any}[]} fields @param {Record<string, string>} answer by field
 * @returns {Edits}
 */
function settle (edits, fields, answer) {
  const settled = { ...edits }
  for (const { field, theirs } of fields) {
    if (answer[field] === 'theirs') delete settled[field]
    else if (settled[field]) settled[field] = { ...settled[field], base: theirs }
  }
  return settled
}

/** The value of a field, or NaN if it cannot be read. */
function valueOf (field, typed, doc) {
  try {
    return field.read(typed, doc)
  } catch {
    return NaN // equal to no value
  }
}

/** The layer with the values of the form, without those that have a fault. */
function layerIn (doc, edits) {
  const values = Object.entries(edits).filter(([name]) => name !== 'upstream')
    .map(([name, { typed }]) => [name, valueOf(allFields.find(field => field.name === name), typed, doc)])
    .filter(([name, value]) => value === undefined || isLayerField(name, value))
  return { ...doc, ...Object.fromEntries(values) }
}

/**
 * Checks the touched fields.
 * @typedef {{text: string, inner?: string}} Problem
 * @returns {{changes: Record<string, any>, problems: Record<string, Problem>}} problems: by field
 */
function changesIn (doc, edits) {
  const touched = allFields.filter(({ name }) => edits[name])
  const changes = {}
  const problems = {}
  for (const field of touched) {
    const { name } = field
    try {
      const value = field.read(edits[name].typed, layerIn(doc, edits))
      if (value === undefined || isLayerField(name, value)) changes[name] = value
      else problems[name] = { text: words.bad.fields[name] ?? words.bad.other }
    } catch (error) {
      problems[name] = { text: error.message, inner: error.inner }
    }
  }
  const next = { ...doc, ...changes }
  const fault = !Object.keys(problems).length && faultIn(next)
  if (fault) {
    const field = touched.find(({ name }) => fault.includes(name)) ?? touched[0]
    problems[field.name] = { text: faultText(next, fault) }
  }
  return { changes, problems }
}

function faultText ({ minzoom, maxzoom, retina, layer }, fault) {
  if (minzoom > maxzoom) return words.bad.zooms
  return retina === layer ? words.bad.fields.retina : words.bad.because(fault)
}

export function LayerForm ({ layer }) {
  const app = useApp()
  const docs = useDocs('layer')
  const doc = docs.get(layerId(layer))
  const isKnown = docs.known.has('layer')
  const hadDoc = useRef(false)
  hadDoc.current ||= Boolean(doc)
  const [edits, setEdits] = useEdits(docs, layer)
  const [problems, setProblems] = useState(/** @type {Record<string, any>} */ ({}))
  const form = useRef(/** @type {HTMLElement | null} */ (null))
  useEffect(() => form.current?.querySelector('[aria-invalid]')?.focus(), [problems])

  const shown = doc ?? {}
  const touched = allFields.filter(({ name }) => edits[name])

  function type (field, typed) {
    const { name } = field
    const { [name]: before, ...otherEdits } = edits
    const base = before ? before.base : shown[name]
    const isUnchanged = isSameJson(typed, field.show(shown[name]))
    setEdits(() => isUnchanged ? otherEdits : { ...otherEdits, [name]: { typed, base } })
  }

  /** The note under a field that another user has changed meanwhile. */
  function noteOf (field) {
    const edit = edits[field.name]
    const value = shown[field.name]
    if (!doc || !edit || isSameJson(edit.base, value) || isSameJson(valueOf(field, edit.typed, doc), value)) return null
    return html`<p class="problem">${words.changedMeanwhile(valueText(value))}</p>`
  }

  const { submit, busy: isSaving } = useSubmit(async () => {
    if (doc && touched.length) await saveEdits(edits).catch(error => app.say(texts.failed(error.message), true))
  })

  /** @param {Edits} current */
  async function saveEdits (current) {
    const { changes, problems: newProblems } = changesIn(doc, current)
    setProblems(newProblems)
    if (Object.keys(newProblems).length) return
    const bases = Object.fromEntries(Object.entries(current).map(([name, { base }]) => [name, base]))
    try {
      const { before, after } = await save(app.couch, { ...doc, ...bases }, changes)
      docs.put(after)
      setEdits(latest => unsavedIn(latest, current, after))
      app.say(words.saved)
      await record(app, { what: 'layer', done: 'changed', layer, fields: fieldsBetween(before, changes) })
    } catch (error) {
      if (!(error instanceof Clash)) throw error
      if (!error.fields.length) return app.say(words.removed, true)
      const answer = await askClash(error.fields, name => allFields.find(field => field.name === name)?.label ?? name)
      if (!answer) return
      const settleEdits = latest => settle(latest, error.fields, answer)
      docs.put(error.newest)
      setEdits(settleEdits)
      const next = settleEdits(current)
      if (Object.keys(next).length) await saveEdits(next)
    }
  }

  const labels = touched.map(({ label }) => label).join(', ')
  const state = touched.length ? words.unsaved({ count: touched.length, labels }) : words.allSaved
  const goneText = hadDoc.current ? words.removed : words.notFound(layer)
  const boxOf = field => html`<${field.component} key=${field.name} problem=${problems[field.name]}
    typed=${edits[field.name]?.typed ?? field.show(shown[field.name])} note=${noteOf(field)}
    onType=${typed => type(field, typed)} />`
  return html`<div class="layer" aria-busy=${isKnown ? null : 'true'}>
    <div class="head">
      <h2>${typeof shown.name === 'string' && shown.name ? shown.name : layer}</h2>
      <nav class="row" aria-label=${words.links}>
        <a href="#layers">${words.back}</a><a href="#editions/${layer}">${texts.sections.editions}</a>
      </nav>
    </div>
    <${Hint}>${factsOf(layer, shown)}<//>
    <p class="problem" role="status">${isKnown && !doc && goneText}</p>
    <form novalidate ref=${form} onSubmit=${submit}>
      ${['about', 'area', 'tiles'].map(part => html`<${Card} name=${part} head=${words.parts[part]}>
        <div class="fields">${parts[part].map(boxOf)}</div>
      <//>`)}
      <${Card} name="upstream" head=${words.parts.upstream}>
        <${Hint}>${words.upstream.lead}<//>
        ${parts.upstream.map(boxOf)}
      <//>
      <${Card} name="retention" head=${words.parts.retention}>
        <${Hint}><${WithCode} text=${words.retention.lead} /><//>
        ${parts.retention.map(boxOf)}
        <${Prune} layer=${layer} saved=${shown.retention} typed=${edits.retention?.typed} />
      <//>
      <${Card} name="offline" head=${words.parts.offline}>
        <div class="fields">${parts.offline.map(boxOf)}</div>
      <//>
      <div class="save row">
        <p class="grow" role="status">${isSaving ? words.saving : state}</p>
        ${touched.length > 0 && html`
          <${Button} onClick=${() => { setProblems({}); setEdits(() => ({})) }}>${words.discard}<//>`}
        <${Button} type="submit" kind="primary" busy=${isSaving || !doc || !touched.length}>${words.save}<//>
      </div>
    </form>
    <${Card} name="privacy" head=${words.parts.privacy}><${Privacy} layer=${layer} /><//>
    <${Card} name="move" head=${words.parts.move}><${Move} layer=${layer} /><//>
    <${Offers} layer=${layer} docs=${docs} />
  </div>`
}

function factsOf (layer, { grid, pruned }) {
  const gridName = grid && words.grid(String(grid.id ?? grid))
  return [layer, gridName, pruned && words.pruned(date(String(pruned)))].filter(Boolean).join(' · ')
}

/** The command for a dry run of a prune by the rules of the form, saved or not. */
function Prune ({ layer, saved, typed }) {
  const lineOf = useShellLine()
  const policy = typed === undefined ? saved : valueOf(retentionField, typed, {})
  if (!policy) return null
  const line = lineOf('prune', layer, ...(typed === undefined ? [] : ruleOptions(policy)), '--dry-run')
  return html`<div>
    <${Hint}>${words.retention.command}<//>
    <${Copyable} text=${line} label=${words.retention.copy} />
  </div>`
}

/** The lists of groups and names for the inputs. */
function Offers ({ layer, docs }) {
  const layers = docs.all('layer')
  const groups = [
    ...new Set(layers.map(({ group }) => group).filter(group => typeof group === 'string' && group))
  ].sort()
  const names = layers.map(doc => doc.layer).filter(name => name !== layer)
  const options = values => values.map(value => html`<option key=${value} value=${value} />`)
  return html`
    <datalist id="layer-groups">${options(groups)}</datalist>
    <datalist id="layer-names">${options(names)}</datalist>`
}
