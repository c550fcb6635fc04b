// Another name for a layer, and its end: commands, except for a layer without anything in it.
import { element } from '../../../client/timeline/dom.js'
import { isLayer, checkNewLayer, layerRange } from '../../../core/ids.js'
import { button } from '../../dom.js'
import { texts } from '../words.js'
import { command, shellLine } from '../command.js'
import { confirm } from '../confirm.js'
import { record } from '../record.js'
import { inputField } from './fields.js'

const words = texts.layers.move

/** What is wrong with a name for a new layer, in words; nothing: it is good. @param {any[]} layers documents */
export function nameFault (name, layers) {
  if (!isLayer(name)) return texts.layers.bad.name
  try {
    checkNewLayer(name)
  } catch {
    return texts.layers.bad.reserved
  }
  return layers.some(doc => doc.layer === name) ? texts.layers.bad.taken(name) : ''
}

/**
 * @param {import('../index.js').App} app @param {string} layer @param {() => void} onRemoved
 */
export function movePart (app, layer, onRemoved) {
  let doc = /** @type {any} */ (null)
  const place = element('div')
  const name = inputField({ name: 'rename', label: words.newName, hint: words.newNameHint })
  const remove = button(words.remove, removeEmpty, { class: 'secondary danger' })
  name.element.addEventListener('input', fill)

  function fill () {
    const wanted = name.read()
    const fault = wanted === undefined ? '' : nameFault(wanted, app.docs.all('layer'))
    name.complain(fault)
    const to = wanted === undefined || fault ? 'NEW-NAME' : wanted
    place.replaceChildren(command(shellLine('copy', layer, to, '--move'), words.copyRename))
  }

  /** Deletes the document of a layer that has nothing: it asks the store again right before. */
  async function removeEmpty () {
    try {
      const first = await app.couch.ask('_all_docs', { query: allDocs(layerRange(layer)) })
      const ofKind = kind => allDocs({ startkey: `${kind}:${layer}@`, endkey: `${kind}:${layer}@~` })
      const ask = kind => app.couch.ask('_all_docs', { query: ofKind(kind) })
      const others = await Promise.all(['edition', 'style'].map(ask))
      if ([first, ...others].some(({ rows }) => rows.length)) return app.say(words.notEmpty(layer), true)
      const content = element('p', null, words.askText)
      const head = words.ask(layer)
      if (!await confirm({ head, content, action: words.remove, isDanger: true, typed: layer })) return
      const { _id, _rev } = await app.couch.read(doc._id) ?? {}
      if (_id) await app.couch.write({ _id, _rev, _deleted: true })
      await record(app, { what: 'layer', done: 'removed', layer })
      app.say(words.removed(layer))
      onRemoved()
    } catch (error) {
      app.say(texts.failed(error.message), true)
    }
  }

  fill()
  return {
    update (next) { doc = next },
    element: element('div', null,
      element('p', { class: 'hint' }, words.rename), name.element, place,
      element('p', { class: 'hint' }, words.removeLead),
      command(shellLine('remove', layer, '--all', '--dry-run'), words.copyDryRun),
      command(shellLine('remove', layer, '--all'), words.copyRemove),
      element('p', { class: 'hint' }, words.emptyLead), remove)
  }
}

const allDocs = ({ startkey, endkey }) =>
  ({ startkey: JSON.stringify(startkey), endkey: JSON.stringify(endkey), limit: 1 })
