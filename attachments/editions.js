// The editions of a layer by title, newest first; choosing one shows the map as of then.
import { element } from './dom.js'
import { date, plural, time as written } from './format.js'

export const LIMIT = 200 // editions in the list: a layer loaded every hour has thousands

/**
 * @param {import('./api.js').Edition[]} editions newest first
 * @param {{time?: string, onSelect: (time?: string) => void}} options time: undefined is "the newest of every tile"
 */
export function editionList (editions, { time, onSelect }) {
  if (!editions.length) return element('div', { class: 'editions' })
  const isListed = !time || editions.some(edition => edition.time === time)
  const item = (value, title, note) => element('li', null, element('button', {
    type: 'button', 'data-time': value ?? '', 'aria-pressed': String(value === time), on: { click: () => onSelect(value) }
  }, element('span', null, title), element('span', { class: 'note' }, note)))
  return element('div', { class: 'editions' },
    element('h3', { id: 'editions' }, editions.length < LIMIT ? plural(editions.length, 'edition') : `The last ${LIMIT} editions`),
    element('ul', { 'aria-labelledby': 'editions' },
      item(undefined, 'Newest', 'of every tile'),
      !isListed && item(time, 'As of', written(/** @type {string} */ (time))),
      ...editions.map(edition => item(edition.time, edition.title ?? written(edition.time),
        !edition.finished ? 'not finished' : edition.title ? date(edition.time) : ''))))
}
