// Growth by month: two bar plots, and a table with their numbers. A plot is drawn in the width of its place, so that
// its texts stay readable.
import { count, size } from '../../format.js'
import { html, useLayoutEffect, useMemo, useRef, useState } from '../../html.js'
import { locale } from '../../words.js'
import { Fold, Hint } from '../../parts.js'
import { Card, Table } from '../parts.js'
import { texts } from '../words.js'

const words = texts.overview.growth
const MOST = 60 // maximum months of the plots; the table has all
const HEIGHT = 150 // pixels
const [TOP, BOTTOM] = [10, 22] // pixels above and below the bars
const LETTER = 6.6 // pixels of a letter of the scale
const LEAST = 15 // minimum pixels from one bar to the next
const LABEL = 66 // minimum pixels from one label to the next
const WIDEST = 36 // maximum pixels of a bar

const monthFormat = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' })

/** `Mar 2024` @param {string} month 2024-03 */
const monthName = month => monthFormat.format(Date.parse(`${month}-01T00:00:00Z`))

const formats = { bytes: size, versions: count }

const columns = [
  { label: words.month, cell: ({ month }) => monthName(month), isHead: true },
  { label: words.bytesColumn, cell: ({ bytes }) => size(bytes), isNumber: true },
  { label: words.versionsColumn, cell: ({ versions }) => count(versions), isNumber: true },
  { label: words.editionsColumn, cell: ({ editions }) => count(editions), isNumber: true }
]

/** months: see growth.js */
export function Growth ({ months }) {
  const latest = useMemo(() => [...months].reverse(), [months])
  if (!months.length) return html`<${Card} name="growth" head=${words.head}><p>${words.none}</p><//>`
  return html`<${Card} name="growth" head=${words.head}>
    <div class="content">
      <${Hint}>${words.lead}<//>
      <div class="plots">
        ${Object.keys(formats).map(field => html`<figure>
          <figcaption>${words[field]}</figcaption>
          <${Plot} field=${field} months=${months.slice(-MOST)} />
        </figure>`)}
      </div>
      <${Fold} head=${words.table}>
        <${Table} title=${words.table} rows=${latest} columns=${columns} most=${24} keyOf=${({ month }) => month} />
      <//>
    </div>
  <//>`
}

function useWidth () {
  const node = useRef(/** @type {HTMLElement | null} */ (null))
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.floor(node.current?.clientWidth ?? 0))
    const observer = new ResizeObserver(measure)
    if (node.current) observer.observe(node.current)
    measure()
    return () => observer.disconnect()
  }, [])
  return /** @type {const} */ ([node, width])
}

/** A plot as an image. The table has the same numbers for screen readers. */
function Plot ({ field, months }) {
  const [node, width] = useWidth()
  const format = formats[field]
  const best = months.reduce((a, b) => b[field] > a[field] ? b : a)
  const [first, last, when] = [months[0], months[months.length - 1], best].map(({ month }) => monthName(month))
  const summary = words.summary({ what: words[field], first, last, most: format(best[field]), when })
  return html`<div class="plot ${field}" ref=${node}>
    <svg role="img" height=${HEIGHT} width=${width} viewBox="0 0 ${width} ${HEIGHT}" aria-label=${summary}>
      ${width > 0 && html`<${Bars} ...${{ months, field, format, width }} />`}
    </svg>
  </div>`
}

function Bars ({ months, field, format, width }) {
  const top = scaleOf(Math.max(...months.map(row => row[field])))
  const marks = [top / 2, top].map(value => ({ value, text: format(value) }))
  const left = Math.ceil(Math.max(...marks.map(({ text }) => text.length)) * LETTER) + 10
  const rows = months.slice(-Math.max(1, Math.floor((width - left) / LEAST)))
  const step = (width - left) / Math.max(rows.length, 6)
  const thick = Math.min(WIDEST, step * 0.7)
  const every = Math.ceil(LABEL / step) // bars from one with a label to the next
  const yOf = value => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)
  const xOf = slot => left + step * slot + (step - thick) / 2
  const isLabelled = slot => (rows.length - 1 - slot) % every === 0 && xOf(slot) + thick / 2 > left + 24
  return html`
    ${marks.map(({ value, text }) => html`
      <line class="mark" x1=${left} x2=${width} y1=${yOf(value)} y2=${yOf(value)} />
      <text x=${left - 8} y=${yOf(value) + 4} text-anchor="end">${text}</text>`)}
    ${rows.map((row, slot) => html`<rect key=${row.month} class="bar" x=${xOf(slot)} y=${yOf(row[field])} width=${thick}
      height=${Math.max(row[field] > 0 ? 1 : 0, yOf(0) - yOf(row[field]))} rx="2">
      <title>${monthName(row.month)}: ${format(row[field])}</title>
    </rect>`)}
    ${rows.map((row, slot) => isLabelled(slot) && html`<text y=${HEIGHT - 6} text-anchor="middle"
      x=${Math.min(xOf(slot) + thick / 2, width - LABEL / 2 + 4)}>${monthName(row.month)}</text>`)}
    <line class="ground" x1=${left} x2=${width} y1=${yOf(0)} y2=${yOf(0)} />`
}

/** A round number that is not less than another one: 1, 2 or 5 with zeros. @param {number} min */
function scaleOf (min) {
  if (!(min > 0)) return 2
  const power = 10 ** Math.floor(Math.log10(min))
  return Math.max(2, [1, 2, 5, 10].map(factor => factor * power).find(number => number >= min) ?? min)
}
