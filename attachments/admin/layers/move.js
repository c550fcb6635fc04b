// Commands that rename or remove a layer, and a button that removes an empty layer.
import { RESERVED, isLayer, layerRange } from '../../../core/ids.js'
import { html, useState } from '../../html.js'
import { useApp, useShellLine } from '../app.js'
import { Copyable } from '../../copy.js'
import { Button, Hint } from '../../parts.js'
import { texts } from '../words.js'
import { inputField } from './fields.js'
import { record } from '../edit.js'
import { confirm } from '../parts.js'

const words = texts.layers.move
const { component: NameField } = inputField({ name: 'rename', label: words.newName, hint: words.newNameHint })

/** The fault of a name for a new layer, in words; empty if there is none. @param {any[]} layers documents */
export function nameFault (name, layers) {
  if (!isLayer(name)) return texts.layers.bad.name
  if (RESERVED.has(name)) return texts.layers.bad.reserved
  return layers.some(doc => doc.layer === name) ? texts.layers.bad.taken(name) : ''
}

export function Move ({ layer }) {
  const app = useApp()
  const lineOf = useShellLine()
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  const fault = name && nameFault(name, app.docs.all('layer'))
  const to = name && !fault ? name : 'NEW-NAME'
  const remove = () => removeEmpty(app, layer).catch(error => app.say(texts.failed(error.message), true))
  return html`<div>
    <${Hint}>${words.rename}<//>
    <${NameField} typed=${typed} onType=${setTyped} problem=${{ text: fault }} />
    <div><${Copyable} text=${lineOf('copy', layer, to, '--move')} label=${words.copyRename} /></div>
    <${Hint}>${words.removeLead}<//>
    <${Copyable} text=${lineOf('remove', layer, '--all', '--dry-run')} label=${words.copyDryRun} />
    <${Copyable} text=${lineOf('remove', layer, '--all')} label=${words.copyRemove} />
    <${Hint}>${words.emptyLead}<//>
    <${Button} kind="secondary danger" onClick=${remove}>${words.remove}<//>
  </div>`
}

/** Deletes the document of a layer without tiles, editions and styles. Asks the store right before. */
async function removeEmpty (app, layer) {
  const { couch, docs, say, go } = app
  const ofKind = kind => ({ startkey: `${kind}:${layer}@`, endkey: `${kind}:${layer}@~` })
  const ranges = [layerRange(layer), ofKind('edition'), ofKind('style')]
  const answers = await Promise.all(ranges.map(range => couch.rows('_all_docs', { ...range, limit: 1 })))
  if (answers.some(({ length }) => length)) return say(words.notEmpty(layer), true)
  const question = { head: words.ask(layer), text: words.askText, action: words.remove, isDanger: true, typed: layer }
  if (!await confirm(question)) return
  const doc = await couch.read(`layer:${layer}`)
  if (doc) await docs.remove(doc)
  await record(app, { what: 'layer', done: 'removed', layer })
  say(words.removed(layer))
  go('layers')
}
