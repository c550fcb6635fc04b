// The figures of the store as a whole.
import { element } from '../../../client/timeline/dom.js'
import { count, size } from '../../format.js'
import { texts } from '../words.js'

const { figures } = texts.overview

/** @param {import('./figures.js').Count} given */
export const atLeast = ({ tiles, isMore }) => isMore ? figures.atLeast(count(tiles)) : count(tiles)

const noteOf = ({ file, active, index }) =>
  index ? figures.withIndex(size(index)) : active < file ? figures.inUse(size(active)) : ''

/** @returns {{element: HTMLElement, set: (data: any) => void}} */
export function cards () {
  const list = element('dl', { class: 'figures', 'aria-label': figures.head })
  const known = new Map()

  /** A figure that is already there only changes its texts. */
  function show (name, value, note = '') {
    const one = known.get(name) ?? { value: element('span', { class: 'value' }), note: element('small') }
    if (!known.has(name)) {
      known.set(name, one)
      list.append(element('div', { 'data-figure': name },
        element('dt', null, figures[name]), element('dd', null, one.value, one.note)))
    }
    one.value.textContent = value
    one.note.textContent = note
  }

  return {
    element: list,
    set ({ layers, editions, total, disk, expired, failed }) {
      show('layers', count(layers))
      show('tiles', total ? count(total.tiles) : '–', figures.ofNow)
      show('versions', total ? count(total.versions) : '–', figures.ofAll)
      show('images', total ? size(total.bytes) : '–', total ? figures.imagesNow(size(total.currentBytes)) : '')
      show('disk', size(disk.file), noteOf(disk))
      show('editions', count(editions.number), editions.newest ? figures.newest(editions.newest) : '')
      show('expired', expired ? atLeast(expired) : '–')
      show('failed', count(failed))
    }
  }
}
