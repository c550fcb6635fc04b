// Activity: who changed what and when, the newest first, and how long that is kept.
import { element } from '../../../client/timeline/dom.js'
import { keptFrom } from '../../../core/activity.js'
import { STORE_ID, isLayer } from '../../../core/ids.js'
import { soon } from '../../dom.js'
import { texts } from '../words.js'
import { Filters } from './filters.js'
import { Keep } from './keep.js'
import { List } from './list.js'

const words = texts.activity

/** @type {import('../index.js').Section} */
export const activity = {
  name: 'activity',
  needs: 'admin',
  open (app, place) {
    const { couch, docs } = app
    const layerOf = where => isLayer(where) ? where : ''
    const filters = new Filters(() => draw())
    const keep = new Keep(app)
    const list = new List()
    const count = element('p', { class: 'hint', role: 'status' })
    const box = element('div', { class: 'activity-section', 'aria-busy': 'true' },
      element('h2', null, texts.sections.activity),
      element('p', { class: 'hint lead' }, words.lead),
      filters.element, count, list.element, keep.element)
    const isRead = () => docs.known.has('store') && docs.known.has('activity')

    const draw = soon(() => {
      if (!isRead()) return void (count.textContent = words.reading)
      const from = keptFrom(docs.get(STORE_ID), couch.now())
      const all = docs.all('activity').filter(({ at }) => at >= from).sort(newestFirst)
      filters.offer(all)
      const found = all.filter(filters.takes)
      count.textContent = !all.length ? words.none : !found.length ? words.noMatch : words.found(found.length)
      list.set(found)
      keep.update()
      box.removeAttribute('aria-busy')
    })

    filters.layer = layerOf(place)
    draw()
    return {
      element: box,
      update (kinds) { if (kinds.has('activity') || kinds.has('store')) draw() },
      show (next) {
        filters.layer = layerOf(next)
        draw()
      },
      close () { keep.close() }
    }
  }
}

const newestFirst = (one, other) => one.at < other.at ? 1 : one.at > other.at ? -1 : one._id < other._id ? 1 : -1
