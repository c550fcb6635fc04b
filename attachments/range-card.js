// The card of a range of time: how much of the view changed between two times, and where. During a comparison it
// chooses the two times or layers, and how they are shown.
import { byName, date, percent, time as written, zoneId } from './format.js'
import { html, render, useAnswer, useEffect, useLayoutEffect, useMemo, useState } from './html.js'
import { isInOtherGrid } from './other-grid.js'
import { Button, Choices, Select, Toggle } from './parts.js'
import { MODES } from './permalink.js'
import { FeatureDifferences } from './vector/feature-list.js'
import { words } from './words.js'

const NAME = 'range'
const NEWEST = '' // as the value of an option
const MOST = 500 // newest times of a list: older ones are chosen on the timeline
/** @type {any[]} */
const NONE = []

/**
 * @typedef {object} Page
 * @property {() => import('./store.js').Layer[]} layers
 * @property {(layer: string) => Promise<import('./store.js').Edition[]>} editions
 * @property {(layer: string) => void} onLayer
 * @property {() => void} onCompare begins the comparison, or ends it
 */

export class RangeCard {
  #stage
  #cards
  #outlines
  #page

  /**
   * @param {import('./stage.js').Stage} stage @param {import('./cards.js').Cards} cards
   * @param {import('./outlines.js').Outlines} outlines @param {Page} page
   */
  constructor (stage, cards, outlines, page) {
    this.#stage = stage
    this.#cards = cards
    this.#outlines = outlines
    this.#page = page
  }

  /** Opens, draws or closes the card. */
  update () {
    const { range, layer, comparing } = this.#stage
    if (!layer || (!range && !comparing)) return this.#cards.close(NAME)
    const { body } = this.#cards.open(NAME, words.changed.title, () => {
      this.#stage.compare(null)
      this.#stage.range = null
    })
    render(html`<${Changes} stage=${this.#stage} outlines=${this.#outlines} page=${this.#page} />`, body)
  }
}

/** Two times, the earlier one first; null is the newest. */
function ordered (time, other) {
  const isLater = time === null || (other !== null && time > other)
  return isLater ? { from: other, to: time } : { from: time, to: other }
}

function Changes ({ stage, outlines, page }) {
  const { range, layer, comparing, comparison, doc, time } = stage
  const [isMarked, setMarked] = useState(!comparing)
  useEffect(() => setMarked(!comparing), [comparing]) // marks would cover the compared layers
  const isOneLayer = !comparing || comparison.isOfOne
  const { from, to } = comparing ? ordered(comparison.left.time, time) : range
  const changes = isOneLayer ? layer.changes() : null
  const tiles = changes && layer.changedTiles(from, to)
  const hasFeatures = Boolean(layer.differences)
  useLayoutEffect(() => outlines.changed(tiles && isMarked && !hasFeatures ? tiles : []))
  useLayoutEffect(() => () => outlines.changed([]), [])
  return html`
    ${comparing
      ? html`<${Sides} stage=${stage} page=${page} />`
      : html`<${Between} stage=${stage} range=${range} />`}
    ${isOneLayer && (hasFeatures && tiles?.length
      ? html`<${FeatureDifferences}
          key=${[doc.layer, from, to].join()} ...${{ layer, from, to, changes, isMarked }} />`
      : html`<${Answer} ...${{ outlines, from, to, changes, tiles }} />`)}
    ${stage.draws(doc) && html`<${Button}
      kind="primary" data-does="side" aria-pressed=${String(comparing)} onClick=${page.onCompare}
    >${comparing ? words.compare.stop : words.compare.start}<//>`}
    ${isOneLayer && html`<${Toggle} isOn=${isMarked} onChange=${setMarked}>
      ${hasFeatures ? words.features.mark : words.changed.outline}
    <//>`}`
}

function Between ({ stage, range }) {
  const [before, middle, after] = words.changed.between
  const end = name => html`<button
    type="button" data-end=${name} title=${words.changed.showTime} aria-pressed=${String(stage.time === range[name])}
    onClick=${() => stage.clock.setTime(range[name])}
  >${written(range[name])}</button>`
  return html`<p class="between">${before}${end('from')}${middle}${end('to')}${after}</p>`
}

/** How much of the view changed, and in how many steps. */
function Answer ({ outlines, from, to, changes, tiles }) {
  if (!tiles) return html`<p class="answer waiting" role="status">${words.changed.looking}</p>`
  const steps = changes.filter(({ time }) => time > from && (to === null || time <= to)).length
  const noChanges = steps ? words.changed.alike : words.changed.nothing
  const share = percent(outlines.shareOf(tiles))
  return html`<p class="answer" role="status">
    ${tiles.length ? [words.changed.share(share), html`<small>${words.changed.steps(steps)}</small>`] : noChanges}
  </p>`
}

/**
 * The two sides of a comparison: the layer and the time of each side, and how both are shown.
 * @param {{stage: import('./stage.js').Stage, page: Page}} props
 */
function Sides ({ stage, page }) {
  const { comparison, clock } = stage
  const doc = /** @type {import('./store.js').Layer} */ (stage.doc)
  const left = /** @type {import('./comparison.js').Left} */ (comparison.left)

  function chooseLeft (name) {
    const otherLayer = page.layers().find(({ layer }) => layer === name)
    const isSame = name === doc.layer
    // another layer is shown at the time of the right side
    stage.compare({ doc: isSame ? null : otherLayer, time: isSame ? comparison.left?.time ?? stage.time : stage.time })
  }

  return html`<div class="sides">
    <${Choices} label=${words.compare.mode} value=${comparison.mode}
      options=${MODES.map(mode => [mode, words.compare.modes[mode]])} onChoose=${mode => comparison.setMode(mode)} />
    <${Side} name="left" page=${page} doc=${left.doc ?? doc} time=${left.time} layer=${comparison.layer}
      onLayer=${chooseLeft} onTime=${time => stage.compare({ ...comparison.left, time })} />
    <${Side} name="right" page=${page} doc=${doc} time=${stage.time} layer=${stage.layer}
      onLayer=${page.onLayer} onTime=${time => clock.setTime(time)} />
  </div>`
}

function Side ({ name, page, doc, time, layer, onLayer, onTime }) {
  const label = words.compare.sides[name]
  const layers = page.layers().filter(other => !isInOtherGrid(other))
    .map(other => [other.layer, other.name ?? other.layer])
    .sort(([, a], [, b]) => byName(a, b))
  return html`<div class=${`side ${name}`}>
    <span aria-hidden="true">${label.name}</span>
    ${layers.length > 1 && html`<${Select}
      aria-label=${label.layer} options=${layers} value=${doc.layer} onChange=${onLayer} />`}
    <${Times} key=${doc.layer} label=${label.time} changes=${layer?.changes?.() ?? NONE}
      ...${{ page, doc, time, onTime }} />
  </div>`
}

/** The times of a side, the newest first: editions, and changes in view. */
function Times ({ label, page, doc, time, changes, onTime }) {
  const editions = useAnswer(() => page.editions(doc.layer), [doc.layer]) ?? NONE
  const options = useMemo(() => timesOf(editions, changes), [editions, changes, zoneId()])
  const isListed = time === null || options.some(([value]) => value === time)
  const [newest, ...olderOptions] = options
  return html`<${Select} aria-label=${label} value=${time ?? NEWEST} onChange=${value => onTime(value || null)}
    options=${isListed ? options : [newest, [time, written(time)], ...olderOptions]} />`
}

function timesOf (editions, changes) {
  const titles = new Map(changes.map(({ time }) => [time, undefined]))
  for (const { time, title } of editions) titles.set(time, title)
  const times = [...titles].sort(([time], [other]) => time < other ? 1 : -1).slice(0, MOST)
  const textOf = (time, title) => title ? `${date(time)} · ${title}` : written(time)
  return [[NEWEST, words.newest], ...times.map(([time, title]) => [time, textOf(time, title)])]
}
