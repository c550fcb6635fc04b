// One edition: its title and source, what it counted, how to compare it with the one before, how to remove it.
import { element, write } from '../../../client/timeline/dom.js'
import { count, size, time } from '../../format.js'
import { texts } from '../words.js'
import { changedOf, editionsOf, stateOf } from './edition-list.js'
import { editionForm } from './form.js'
import { comparison, removal, viewerLink } from './parts.js'

const words = texts.editions

/** @param {import('../index.js').App} app @returns {{element: HTMLElement, update: () => void}} */
export function editionPage (app, layer, when) {
  const { docs } = app
  const title = element('h2')
  const links = element('span', { class: 'row' }, viewerLink(words.view, layer, when))
  const facts = element('dl', { class: 'facts' })
  const gone = element('p', { class: 'problem', role: 'status' })
  const compare = element('div', { class: 'body' })
  const remove = element('div', { class: 'body' })
  const details = element('section', { class: 'card' }, element('h3', null, words.form.head))
  const cards = element('div', { class: 'edition', hidden: true },
    details,
    element('section', { class: 'card' }, element('h3', null, words.counts), facts),
    element('section', { class: 'card compare' }, element('h3', null, words.compare.head), compare),
    element('section', { class: 'card remove' }, element('h3', null, words.remove.head), remove))
  /** @type {ReturnType<typeof editionForm> | undefined} */
  let form
  let drawn = ''

  return {
    element: element('div', null,
      element('p', { class: 'path' },
        element('a', { href: '#editions' }, words.all), ' › ', element('a', { href: `#editions/${layer}` }, layer)),
      element('div', { class: 'head' }, title, links), gone, cards),
    update () {
      const all = editionsOf(docs, layer)
      const at = all.findIndex(doc => doc.time === when)
      const doc = all[at]
      gone.textContent = doc ? '' : form ? words.removed : words.unknown(`${layer}@${when}`)
      if (!doc) {
        title.textContent = when
        cards.hidden = true
        return
      }
      cards.hidden = false
      write(title, { text: doc.title || time(when) })
      if (form) form.set(doc)
      else details.append((form = editionForm(app, doc)).element)
      const [before, after] = [all[at + 1], all[at - 1]]
      const work = workOf(docs, layer, when)
      const text = JSON.stringify([doc, before, after, work?._rev])
      if (text !== drawn) {
        drawn = text
        facts.replaceChildren(...factsOf(doc, work))
        compare.replaceChildren(...comparison(layer, doc, before))
        remove.replaceChildren(...removal(layer, doc, before, after))
      }
    }
  }
}

/** The last command that loaded an edition, while the store remembers it. */
const workOf = (docs, layer, when) => docs.all('work')
  .filter(doc => doc.edition === when && doc.layer === layer)
  .reduce((last, doc) => !last || doc._id > last._id ? doc : last, undefined)

function factsOf (doc, work) {
  const fact = (name, value) => value === undefined || value === '' || value === false
    ? []
    : [element('div', null, element('dt', null, name), element('dd', null, value))]
  const number = field => Number.isFinite(doc[field]) ? count(doc[field]) : undefined
  const who = work && [work.user, work.host].filter(Boolean).join(', ')
  const loaded = work && [element('a', { href: '#work' }, work.command), who ? ` · ${who}` : '']
  return [
    fact(words.state, stateOf(doc)),
    fact(words.tiles, number('tiles')),
    fact(words.created, number('created')),
    fact(words.changed, count(changedOf(doc))),
    fact(words.unchanged, number('unchanged')),
    fact(words.gone, number('gone')),
    fact(words.failed, doc.failed > 0 && number('failed')),
    fact(words.bytes, Number.isFinite(doc.bytes) ? size(doc.bytes) : undefined),
    fact(words.time, time(doc.time)),
    fact(words.started, doc.started && time(doc.started)),
    fact(words.finished, doc.finished && time(doc.finished)),
    fact(words.by, loaded),
    fact(words.run, doc.run && element('code', null, doc.run))
  ].flat()
}
