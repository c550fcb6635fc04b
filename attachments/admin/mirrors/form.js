// A command that makes a mirror: filled in, ready to copy.
import { element } from '../../../client/timeline/dom.js'
import { scrub } from '../../../core/errors.js'
import { fillSelect, toggle } from '../../dom.js'
import { byName } from '../../format.js'
import { texts } from '../../words/admin/index.js'
import { command, shellLine } from '../command.js'
import { storeAddress } from '../work/address.js'

const words = texts.mirrors.make

/** @param {import('../index.js').App} app @returns {{element: HTMLElement, update: () => void}} */
export function mirrorForm (app) {
  let own = 'STORE'
  let shown = ''
  const onInput = { input: () => draw(), change: () => draw() }
  const other = element('input', { type: 'url', autocomplete: 'off', placeholder: 'https://maps.example.org/tiles', on: onInput })
  const direction = element('select', { on: onInput })
  const layer = element('select', { on: onInput })
  const live = toggle(words.live, () => draw(), { checked: true })
  const result = element('div', { 'aria-live': 'polite' })

  function draw () {
    const there = scrub(other.value.trim()) || 'OTHER'
    const sides = direction.value === 'from' ? [there, own] : [own, there]
    const line = shellLine('mirror', ...sides, ...layer.value ? ['--layer', layer.value] : [], live.input.checked && '--live')
    if (line === shown) return
    shown = line
    result.replaceChildren(command(line, texts.work.copy(line)))
  }

  function update () {
    const ids = app.docs.all('layer').map(doc => doc.layer).sort(byName)
    fillSelect(layer, [['', words.all], ...ids.map(id => /** @type {[string, string]} */ ([id, id]))], layer.value)
    draw()
  }

  fillSelect(direction, [['to', words.to], ['from', words.from]], 'to')
  update()
  storeAddress(app).then(({ isEmbedded, url }) => {
    own = isEmbedded ? 'embedded' : url ?? 'STORE'
    draw()
  })
  return {
    element: element('section', { class: 'card make' },
      element('h3', null, words.head), element('p', { class: 'hint' }, words.lead),
      element('form', { class: 'fields', on: { submit: event => event.preventDefault() } },
        element('label', null, words.other, other), element('label', null, words.direction, direction),
        element('label', null, words.layer, layer), live.element),
      result),
    update
  }
}
