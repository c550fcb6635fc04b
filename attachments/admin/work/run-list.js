// Commands that run or were interrupted, each as an item that stays while its figures change.
import { element, write } from '../../../client/timeline/dom.js'
import { button } from '../../dom.js'
import { texts } from '../words.js'
import { fromNow } from '../overview/part.js'
import { failures, figures, origin, route } from './figures.js'
import { follows } from './runs.js'

const words = texts.work
const MOST = 60 // shown at once

/**
 * @param {{head: string, none: string, lead?: string}} own texts
 * @param {'running' | 'interrupted'} state
 * @param {{again: import('./again.js').Again, now: () => number, mayRemove: (doc: any) => boolean,
 *   remove: (doc: any) => void}} actions
 * @returns {{element: HTMLElement, set: (docs: any[], isKnown: boolean) => void}}
 */
export function runList ({ head, none, lead }, state, actions) {
  const empty = element('p', { class: 'hint' })
  const hint = lead && element('p', { class: 'hint', hidden: true }, lead)
  const list = element('ul', { class: 'runs' })
  const more = button(texts.more, () => { most += MOST; draw() }, { class: 'secondary', hidden: true })
  const heading = element('h3', null, head)
  /** @type {Map<string, ReturnType<typeof item>>} */
  const items = new Map()
  let most = MOST
  /** @type {any[]} */
  let docs = []

  function draw () {
    const shown = docs.slice(0, most)
    const wanted = new Set(shown.map(({ _id }) => _id))
    for (const [id, { element: node }] of items) {
      if (wanted.has(id)) continue
      node.remove()
      items.delete(id)
    }
    for (const [at, doc] of shown.entries()) {
      let found = items.get(doc._id)
      if (!found) items.set(doc._id, found = item(doc, state, actions))
      if (list.children[at] !== found.element) list.insertBefore(found.element, list.children[at] ?? null)
      found.set(doc)
    }
    more.hidden = docs.length <= most
  }

  return {
    element: element('section', { class: `card ${state}` }, heading, hint, empty, list, more),
    set (next, isKnown) {
      docs = next
      write(heading, { text: next.length ? `${head} (${next.length})` : head })
      write(empty, { text: isKnown && !next.length ? none : '', hidden: next.length > 0 })
      if (hint) hint.hidden = next.length === 0
      draw()
    }
  }
}

function item (doc, state, { again, now, mayRemove, remove }) {
  const { command: name, layer } = doc
  const title = [name, layer].filter(Boolean).join(' ')
  const bar = element('progress', { max: 1, 'aria-label': words.progress(title) })
  const far = element('p', { class: 'far' })
  const who = element('p', { class: 'hint' })
  const way = element('p', { class: 'far' })
  const failed = element('div')
  const isInterrupted = state === 'interrupted'
  let named = ''
  const node = element('li', { class: 'run' },
    element('div', { class: 'row' },
      element('strong', { class: 'grow' }, title),
      element('span', { class: `state ${isInterrupted ? 'bad' : 'good'}` }, words.states[state]),
      isInterrupted && mayRemove(doc) && button(words.remove.button, () => remove(latest), { class: 'secondary', 'aria-label': words.remove.label(title) })),
    bar, way, far, who, failed,
    isInterrupted && again(doc, line => [element('p', null, words.goOn), line]))
  let latest = doc

  return {
    element: node,
    set (next) {
      latest = next
      const { done, total, seen, failures: list } = next
      const hasBar = total > 0 && !follows(next)
      bar.hidden = !hasBar
      if (hasBar) write(bar, { value: Math.min(1, (done ?? 0) / total) })
      const when = isInterrupted && words.lastSeen(fromNow(Date.parse(seen) - now()))
      write(way, { text: route(next) })
      write(far, { text: figures(isInterrupted ? { ...next, rate: undefined, about: undefined } : next) })
      write(who, { text: [when, origin(next, now())].filter(Boolean).join(' · ') })
      const wanted = JSON.stringify(list ?? [])
      if (wanted === named) return
      named = wanted
      const isOpen = failed.querySelector('details')?.open ?? false
      failed.replaceChildren(...[failures(next)].filter(Boolean))
      if (isOpen) failed.querySelector('details')?.setAttribute('open', '')
    }
  }
}
