// Growth by month: two plots, and the table with their numbers.
import { element } from '../../../client/timeline/dom.js'
import { count, size } from '../../format.js'
import { locale } from '../../words.js'
import { texts } from '../words.js'
import { plot } from '../plot.js'
import { table } from '../table.js'

const words = texts.overview.growth
const MOST = 60 // months that the plots may show; the table has all

const monthFormat = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' })

/** `Mar 2024` @param {string} month 2024-03 */
export const monthName = month => monthFormat.format(Date.parse(`${month}-01T00:00:00Z`))

/** @returns {{element: HTMLElement, set: (months: import('./growth.js').Month[]) => void}} */
export function growth () {
  const plots = /** @type {const} */ (['bytes', 'versions']).map(field => {
    const format = field === 'bytes' ? size : count
    return { field, format, ...plot(field, format) }
  })
  const rows = table(words.table, [
    { label: words.month, cell: ({ month }) => monthName(month), isHead: true },
    { label: words.bytesColumn, cell: ({ bytes }) => size(bytes), isNumber: true },
    { label: words.versionsColumn, cell: ({ versions }) => count(versions), isNumber: true },
    { label: words.editionsColumn, cell: ({ editions }) => count(editions), isNumber: true }
  ], { most: 24 })
  const none = element('p', null, words.none)
  const content = element('div', { class: 'content' },
    element('p', { class: 'hint' }, words.lead),
    element('div', { class: 'plots' }, plots.map(each => element('figure', null, element('figcaption', null, words[each.field]), each.element))),
    element('details', null, element('summary', null, words.table), rows.element))
  let known = ''
  return {
    element: element('section', { class: 'card growth' }, element('h3', null, words.head), none, content),
    set (months) {
      const wanted = JSON.stringify(months)
      if (wanted === known) return
      known = wanted
      none.hidden = months.length > 0
      content.hidden = !months.length
      if (!months.length) return
      const shown = months.slice(-MOST)
      for (const { field, format, set } of plots) {
        const most = shown.reduce((a, b) => b[field] > a[field] ? b : a)
        const [first, last, best] = [shown[0], shown[shown.length - 1], most].map(({ month }) => monthName(month))
        set(shown.map(each => ({ label: monthName(each.month), value: each[field], text: format(each[field]) })),
          words.summary({ what: words[field], first, last, most: format(most[field]), when: best }))
      }
      rows.set([...months].reverse())
    }
  }
}
