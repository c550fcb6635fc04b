// A layer of the list: its picture, its title and its times. The chosen layer is open: its details are the children.
import { fromSeconds } from '../core/index.js'
import { date } from './format.js'
import { html, useAnswer, useRef, useSeen, useState } from './html.js'
import { isInOtherGrid } from './other-grid.js'
import { Icon, IconButton } from './parts.js'
import { words } from './words.js'

const NO_ANSWER = Promise.resolve(undefined)

export function LayerCard ({ page, layer, stats, isChosen, isOver, children }) {
  const { layer: id, name = id } = layer
  const label = words.stack.over(name)
  const isOverlay = !isChosen && !isInOtherGrid(layer)
  return html`<li class=${isChosen ? 'selected' : ''}>
    <div class="row">
      <button type="button" class="layer" data-layer=${id} aria-pressed=${String(isChosen)}
        onClick=${() => page.onLayer(id)}>
        <${Thumbnail} page=${page} layer=${layer} last=${stats?.last} />
        <span class="title">${name}</span>
        <span class="brief">${times(stats)}</span>
      </button>
      ${isOverlay && html`<${IconButton} kind="icon over" name="over" label=${label} aria-pressed=${String(isOver)}
        onClick=${() => page.stage.stack.toggle(id)} />`}
    </div>
    ${children}
  </li>`
}

/** A picture of the layer, loaded when the card is in view. last: time of the newest version; it needs an index. */
function Thumbnail ({ page, layer: { layer, format }, last }) {
  const box = useRef(null)
  const [isSeen, setSeen] = useState(false)
  useSeen(box, () => setSeen(true), [])
  const isVector = format === 'pbf' // a map of its own would have to draw it
  const isReady = isSeen && last !== undefined && !isVector
  const address = useAnswer(() => isReady ? page.thumbnailUrl(layer) : NO_ANSWER, [isReady, last])
  const hide = ({ target }) => { target.hidden = true }
  return html`<span ref=${box} class="thumbnail">
    ${isVector && html`<${Icon} name="vector" />`}
    ${address && html`<img key=${last} src=${address} alt="" width="44" height="44" onError=${hide} />`}
  </span>`
}

/** `2019 – 2023` as dates. @param {import('./store.js').Stats} [stats] */
function times (stats) {
  if (!stats?.versions) return ''
  const [first, last] = [stats.first, stats.last].map(seconds => date(fromSeconds(seconds)))
  return first === last ? last : `${first} – ${last}`
}
