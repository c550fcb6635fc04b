// The list of the editions of a layer, newest first, or of the changes in view. Choosing one sets the clock to it.
import { cached } from '../core/cache.js'
import { PAGE } from './edition-reader.js'
import { clock, date, percent, time as written } from './format.js'
import { html, useEvents, useLayoutEffect, useRef, useSeen, useState } from './html.js'
import { Hint, Toggle } from './parts.js'
import { words } from './words.js'

const MANY = 12 // editions above which the list has a search field
const [WIDTH, HEIGHT] = [60, 40] // pixels of a small picture of the view
const NEWEST = { time: null, title: words.newest, note: '' }

/** @param {import('./panel.js').PanelState & {page: import('./panel.js').Page, hasPictures: boolean}} props */
export function EditionList ({ page, editions, hasOlder, searched, changes, tilesInView, hasPictures }) {
  const [query, setQuery] = useState('')
  const [isOfView, setOfView] = useState(false)
  const [isHeated, setHeated] = useState(false)
  const [isOutlined, setOutlined] = useState(false)
  const [limit, setLimit] = useState(PAGE)
  const list = useRef(/** @type {HTMLElement | null} */ (null))
  useEvents(page.stage, 'time')
  const { time } = page.stage
  const edition = rowAt(editions, time)?.time ?? null
  const text = query.trim()
  const matching = isOfView ? changesNewestFirst(changes) : search(editions, text)
  const listed = matching.slice(0, limit + 1)
  const current = rowAt(listed, time)
  const isHistory = editions.length > 1 || (changes?.length ?? 0) > 1
  const showsHeat = isHeated && isHistory

  useLayoutEffect(() => page.onHeat(showsHeat), [showsHeat])
  useLayoutEffect(() => page.onFootprint(isOutlined ? edition : null), [isOutlined, edition])
  useLayoutEffect(() => () => { // a search for layers hides the list
    page.onHeat(false)
    page.onFootprint(null)
  }, [])
  useLayoutEffect(() => scrollToRow(list.current), [current?.time, listed.length > 0])

  const find = ({ target }) => {
    if (hasOlder && target.value.trim()) page.onSearch()
    if (list.current) list.current.scrollTop = 0
    setQuery(target.value)
  }
  const showOlder = () => {
    setLimit(limit + PAGE)
    if (hasOlder && !isOfView) page.onOlder()
  }
  const isMore = matching.length > listed.length || (hasOlder && !isOfView)
  const message = messageOf({ isOfView, changes, searched, text, isEmpty: !matching.length })
  if (!editions.length && !isHistory) return null
  return html`<div class="editions">
    <div class="row">
      <${Head} ...${{ editions, hasOlder, isOfView, query }} onFind=${find} />
      ${isHistory && html`<${Toggle} isOn=${isOfView} onChange=${setOfView}>${words.editions.onlyHere}<//>`}
    </div>
    <${Hint} role="status" hidden=${!message}>${message}<//>
    ${listed.length > 0 && html`<ul ref=${list} aria-labelledby="editions" class=${isOfView ? 'of-view' : ''}>
      <${Rows} ...${{ page, rows: listed, current, editions, isOfView, changes, tilesInView, hasPictures }} />
      ${isMore && html`<li>
        <button type="button" class="more" onClick=${showOlder}>${words.editions.older}</button>
      </li>`}
    </ul>`}
    ${editions.length > 0 && html`<button type="button" class="more" disabled=${edition === null}
      aria-pressed=${String(isOutlined && edition !== null)} onClick=${() => setOutlined(!isOutlined)}>
      ${words.editions.footprint}
    </button>`}
    ${isHistory && html`<${Toggle} isOn=${isHeated} onChange=${setHeated}>${words.editions.heat}<//>`}
    ${showsHeat && html`<${HeatLegend} />`}
  </div>`
}

/** The heading, and a field to search in many editions. */
function Head ({ editions, hasOlder, isOfView, query, onFind }) {
  const { length } = editions
  return html`
    ${length > 0 && html`<h3 id="editions">
      ${hasOlder ? words.editions.last(length) : words.editions.count(length)}
    </h3>`}
    ${!isOfView && (length > MANY || hasOlder) && html`<input type="search" value=${query} onInput=${onFind}
      placeholder=${words.editions.find} aria-label=${words.editions.find} />`}`
}

const HeatLegend = () => html`<p class="heat-legend" aria-hidden="true">
  ${words.editions.seldom}
  ${[1, 2, 3, 4, 5].map(level => html`<span key=${level} class=${`heat heat-${level}`} />`)}
  ${words.editions.often}
</p>`

function Rows ({ page, rows, current, editions, isOfView, changes, tilesInView, hasPictures }) {
  const rowOf = isOfView ? changeRow(editions, tilesInView) : editionRow
  return rows.map(row => html`<${Row} key=${row.time ?? ''} ...${rowOf(row)} isCurrent=${row === current}
    onSelect=${() => page.stage.clock.setTime(row.time)}>
    ${isOfView && hasPictures && row.time !== null && html`<${Picture} time=${row.time} view=${changes}
      draw=${page.drawView} />`}
  <//>`)
}

/** One row of the list, which sets the time. children: its picture */
function Row ({ time, title, note, share, isCurrent, onSelect, children }) {
  return html`<li><button type="button" data-time=${time ?? ''} aria-pressed=${String(isCurrent)} onClick=${onSelect}>
    ${children}
    <span class="name">${title}</span>
    ${share && html`<span class="share">${share}</span>`}
    <span class="note">${note}</span>
  </button></li>`
}

/** A small picture of the view at a time. view: a value that changes with the view */
function Picture ({ time, view, draw }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null))
  useSeen(canvas, () => draw(canvas.current, time), [time, view])
  return html`<canvas ref=${canvas} width=${2 * WIDTH} height=${2 * HEIGHT} aria-hidden="true" />`
}

/** The row that shows a time. rows: newest first; time: null for the newest */
const rowAt = (rows, time) =>
  rows.find(row => row.time === time || (row.time !== null && time !== null && row.time <= time))

const changesNewestFirst = changes => changes?.length ? [NEWEST, ...[...changes].reverse()] : []

/** @param {import('./store.js').Edition[]} editions @param {string} text */
function search (editions, text) {
  if (!editions.length) return []
  if (!text) return [NEWEST, ...editions]
  const parts = text.toLowerCase().split(/\s+/)
  return editions.filter(edition => parts.every(part => searchTextOf(edition).includes(part)))
}

/** @type {WeakMap<import('./store.js').Edition, string>} */
const searchTexts = new WeakMap()

const searchTextOf = edition => cached(searchTexts, edition, () => {
  const { title = '', source = '', time } = edition
  return `${title} ${written(time)} ${source} ${time}`.toLowerCase()
})

/** An edition without a title is called by its time. */
function editionRow ({ time, title = '', finished = '' }) {
  if (time === null) return NEWEST
  const timeNote = title.includes(clock(time)) ? date(time) : written(time)
  return { time, title: title || written(time), note: finished ? title && timeNote : words.editions.loading }
}

/** The row of a change in view: its edition, with the share of the view that changed. */
function changeRow (editions, tilesInView) {
  const editionsByTime = new Map(editions.map(edition => [edition.time, edition]))
  return ({ time, tiles }) => {
    if (time === null) return NEWEST
    const row = editionRow(editionsByTime.get(time) ?? { time, finished: time })
    return {
      ...row,
      note: [row.note, words.tiles(tiles)].filter(Boolean).join(' · '),
      share: tilesInView ? percent(Math.min(tiles / tilesInView, 1)) : ''
    }
  }
}

function messageOf ({ isOfView, changes, searched, text, isEmpty }) {
  if (isOfView && !changes) return words.editions.looking
  if (isOfView) return isEmpty ? words.editions.noneHere : ''
  if (searched !== null) return words.editions.searching(searched)
  return text && isEmpty ? words.editions.noMatch(text) : ''
}

/** Scrolls the list, and not the panel, so that its current row is in the middle. A row in view stays where it is. */
function scrollToRow (list) {
  const row = list?.querySelector('[aria-pressed="true"]')?.parentElement
  if (!row) return
  const { offsetTop, offsetHeight } = row
  const isInView = offsetTop >= list.scrollTop && offsetTop + offsetHeight <= list.scrollTop + list.clientHeight
  if (!isInView) list.scrollTop = offsetTop - (list.clientHeight - offsetHeight) / 2
}
