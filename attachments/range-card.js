// The card of a range of time: how much of the view changed between two times, and where. During a comparison it
// chooses the two times or layers, and how they are shown.
import { percent, time as written } from './format.js'
import { html, render, useEffect, useLayoutEffect, useState } from './html.js'
import { Button, Toggle } from './parts.js'
import { Sides } from './sides.js'
import { FeatureDifferences } from './vector/feature-list.js'
import { words } from './words.js'

const NAME = 'range'

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
  useEffect(() => setMarked(!comparing), [comparing]) // marks would cover what is compared
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
  const nothing = steps ? words.changed.alike : words.changed.nothing
  const share = percent(outlines.shareOf(tiles))
  return html`<p class="answer" role="status">
    ${tiles.length ? [words.changed.share(share), html`<small>${words.changed.steps(steps)}</small>`] : nothing}
  </p>`
}
