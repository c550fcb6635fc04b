// The chosen layer in the panel: its editions, its description, and behind "Details" its figures and its address.
import { fromSeconds } from '../core/index.js'
import { Copyable } from './copy.js'
import { EditionList } from './editions.js'
import { count, size, time as written, zooms } from './format.js'
import { html, useEffect, useEvents, useRef } from './html.js'
import { Attribution, Button, Fold, Terms } from './parts.js'
import { databaseUrl } from './requests.js'
import { template } from './store.js'
import { words } from './words.js'

export function LayerDetails ({ page, layer, stats, ...editionState }) {
  const node = useRef(/** @type {HTMLElement | null} */ (null))
  const hasEditions = editionState.editions.length > 0
  useEffect(() => scrollToTop(node.current?.parentElement), [hasEditions])
  return html`<div ref=${node} class="details">
    <${EditionList} page=${page} hasPictures=${page.stage.draws(layer)} ...${editionState} />
    <${Button} data-does="compare" onClick=${page.onCompare}>${words.panel.compare}<//>
    <div class="facts">
      ${layer.description && html`<p>${layer.description}</p>`}
      ${stats?.conflicts && html`<p class="conflicts">
        ${words.facts.disagree(stats.conflicts)} <code>tilecouch check --fix</code> ${words.facts.repairs}
      </p>`}
      <${Fold} head=${words.facts.details}>
        <${Terms} rows=${factsOf(layer, stats)} />
        <${Address} layer=${layer} stage=${page.stage} />
      <//>
    </div>
  </div>`
}

/** Scrolls the panel so that the card of a layer begins at its top: the heading and the editions are in view. */
function scrollToTop (card) {
  const panel = card?.closest('#content')
  if (!panel) return
  const [box, view] = [card, panel].map(element => element.getBoundingClientRect())
  const isInView = box.top >= view.top && box.bottom <= view.bottom
  if (!isInView) panel.scrollTop += box.top - view.top - parseFloat(getComputedStyle(card).scrollMarginTop)
}

/** Terms and values. @param {import('./store.js').Stats} [stats] */
function factsOf ({ layer, minzoom, maxzoom, attribution }, stats) {
  const { terms } = words.facts
  return [
    [terms.layer, html`<code>${layer}</code>`],
    [terms.tiles, stats?.tiles !== undefined && count(stats.tiles)],
    [terms.versions, stats && count(stats.versions)],
    [terms.size, stats && size(stats.bytes)],
    [terms.zooms, zooms(minzoom, maxzoom)],
    [terms.first, stats?.versions && written(fromSeconds(stats.first))],
    [terms.last, stats?.versions && written(fromSeconds(stats.last))],
    [terms.conflicts, stats?.conflicts && count(stats.conflicts)],
    [terms.source, attribution && html`<${Attribution} text=${attribution} />`]
  ]
}

/** The address of a layer's tiles, as of the time of the clock. */
export function Address ({ layer, stage }) {
  useEvents(stage, 'time')
  const { time } = stage
  const more = `layers${time ? `?time=${time}` : ''}#${layer.layer}`
  return html`<div class="address">
    <h3>${words.address.head}</h3>
    <${Copyable} text=${new URL('.', document.baseURI).href + template(layer, time)} />
    ${databaseUrl() === null && html`<a href=${more}>${words.address.more}</a>`}
  </div>` // CouchDB has no page of the layers
}
