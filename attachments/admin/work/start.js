// Commands to start something: filled in, ready to copy. What needs Node is not done by this page.
import { element } from '../../../client/timeline/dom.js'
import { scrub } from '../../../core/errors.js'
import { fillSelect } from '../../dom.js'
import { byName } from '../../format.js'
import { texts } from '../words.js'
import { command, shellLine } from '../command.js'
import { storeAddress } from './address.js'

const words = texts.work.start
const COMMANDS = ['load', 'export', 'seed', 'prune', 'check', 'backup', 'mirror']
const WITH_ALL = ['prune', 'check'] // work without a layer, too
const FILES = { load: 'tiles/', export: 'tiles.pmtiles', backup: 'store.tcb', mirror: 'https://maps.example.org/tiles' }

/** @param {import('../index.js').App} app @returns {{element: HTMLElement, update: () => void}} */
export function starter (app) {
  let database = /** @type {string | null} */ (null)
  let layer = ''
  let name = COMMANDS[0]
  const onInput = () => draw()
  const what = element('select', { on: { change: ({ target }) => { name = target.value; change() } } })
  const select = element('select', { on: { change: ({ target }) => { layer = target.value; draw() } } })
  const text = attributes => element('input', { type: 'text', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', ...attributes, on: { input: onInput } })
  const other = text()
  const file = text()
  const fields = {
    layer: element('label', null, words.layer, select),
    other: element('label', null, words.newLayer, other),
    file: element('label', null, words.file, file)
  }
  const purpose = element('p', { class: 'hint' })
  const result = element('div', { 'aria-live': 'polite' })
  let shown = ''

  function change () {
    purpose.textContent = words.commands[name]
    fields.other.hidden = name !== 'load'
    fields.layer.hidden = ['load', 'backup', 'mirror'].includes(name)
    fields.file.hidden = !(name in FILES)
    file.value = FILES[name] ?? ''
    update()
  }

  function update () {
    const ids = app.docs.all('layer').map(doc => doc.layer).sort(byName)
    if (!layer && !WITH_ALL.includes(name)) layer = ids[0] ?? ''
    const options = /** @type {[string, string][]} */ (ids.map(id => [id, id]))
    fillSelect(select, WITH_ALL.includes(name) ? [['', words.all], ...options] : options, layer)
    draw()
  }

  function draw () {
    const wanted = lineOf()
    if (wanted === shown) return
    shown = wanted
    result.replaceChildren(command(wanted, texts.work.copy(wanted)))
  }

  function lineOf () {
    const doc = app.docs.get(`layer:${layer}`)
    const db = database && name !== 'mirror' ? ['--db', database] : []
    const of = layer || 'LAYER'
    const target = scrub(file.value.trim()) || FILES[name]
    const given = {
      load: () => ['load', target, '--layer', other.value.trim() || 'LAYER'],
      export: () => ['export', of, target],
      seed: () => ['seed', of, '--bbox', doc?.bounds?.join(',') ?? 'W,S,E,N', '--zoom', `${doc?.minzoom ?? 0}-${doc?.maxzoom ?? 10}`],
      prune: () => layer ? ['prune', layer] : ['prune', '--all'],
      check: () => layer ? ['check', layer] : ['check'],
      backup: () => ['backup', target],
      mirror: () => ['mirror', database ?? 'embedded', target, '--live']
    }
    return shellLine(...given[name](), ...db)
  }

  fillSelect(what, COMMANDS.map(each => /** @type {[string, string]} */ ([each, each])), name)
  change()
  storeAddress(app).then(({ url }) => { database = url; draw() })
  return {
    element: element('section', { class: 'card start' },
      element('h3', null, words.head), element('p', { class: 'hint' }, words.lead),
      element('form', { class: 'fields', on: { submit: event => event.preventDefault() } },
        element('label', null, words.command, what), fields.layer, fields.other, fields.file),
      purpose, result),
    update
  }
}
