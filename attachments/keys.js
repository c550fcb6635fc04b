// The keys of the viewer, while the map or nothing has the focus. Leaflet handles arrows, + and - while the map has it.
import { html, render } from './html.js'
import { Hint, Terms } from './parts.js'
import { isEmbedded } from './take/entry.js'
import { words } from './words.js'

const NAME = 'keys'
const PAN = 80 // pixels, as Leaflet's

const ARROWS = { ArrowLeft: [-PAN, 0], ArrowRight: [PAN, 0], ArrowUp: [0, -PAN], ArrowDown: [0, PAN] }

/** The keys as the list shows them. */
const SHOWN = [
  ['move', '← → ↑ ↓'], ['zoom', '+  −'], ['tile', 'Enter'],
  ['play', words.keys.space], ['previous', '[  J'], ['next', ']  K'], ['newest', 'N'],
  ['compare', 'C'], ['find', 'F'], ['close', 'Esc'], ['keys', '?']
]

/**
 * @param {import('./stage.js').Stage} stage @param {L.Map} map @param {import('./cards.js').Cards} cards
 * @param {{onFind: () => void, onCompare: () => void}} page
 */
export function listenToKeys (stage, map, cards, { onFind, onCompare }) {
  let isListed = false

  function toggleList () {
    const close = () => { isListed = false }
    if (isListed) {
      cards.close(NAME)
      return close()
    }
    isListed = true
    const { body, node } = cards.open(NAME, words.keys.title, close)
    body.tabIndex = 0 // where it is scrolled
    const rows = SHOWN.map(([name, keys]) =>
      [keys.split(/\s+/).map(key => html`<kbd>${key}</kbd>`), words.keys.does[name]])
    render(html`<${Hint}>${words.keys.when}<//><${Terms} class="keys" rows=${rows} />`, body)
    node.focus({ preventScroll: true })
  }

  const pageActs = { c: onCompare, f: onFind, '/': onFind, '?': toggleList }
  const acts = {
    ' ': () => stage.player?.toggle(),
    '[': () => stage.player?.step(-1),
    j: () => stage.player?.step(-1),
    ']': () => stage.player?.step(1),
    k: () => stage.player?.step(1),
    n: () => stage.clock.setTime(null),
    ...!isEmbedded && pageActs // a frame has no room for their cards
  }

  /** Moves the map by a key while nothing has the focus. The map then takes the focus. */
  function move (key) {
    if (ARROWS[key]) map.panBy(ARROWS[key])
    else if (key === '+' || key === '=') map.zoomIn()
    else if (key === '-') map.zoomOut()
    else return false
    map.getContainer().focus({ preventScroll: true })
    return true
  }

  document.addEventListener('keydown', event => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !stage.doc) return
    const isMap = target instanceof HTMLElement && target.matches('#map, .tilecouch-compare-other')
    if (!isMap && target !== document.body) return
    const act = acts[key.length === 1 ? key.toLowerCase() : key]
    if (act) act()
    else if (isMap || !move(key)) return
    event.preventDefault()
  })
}
