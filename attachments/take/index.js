// The dialog "Save or share the map": the map as an image, as a time-lapse or as a link. It is a separate bundle,
// which the page loads when its button is pressed (entry.js).
import { soon } from '../dom.js'
import { html, render, useEffect, useReducer, useState } from '../html.js'
import { Choices } from '../parts.js'
import { takeWords as words } from '../words.js'
import { ImageTab } from './image-tab.js'
import { LinkTab } from './link-tab.js'
import { TimelapseTab } from './timelapse-tab.js'

const NAME = 'take' // of the card and of its notices
const SETTLE = 300 // milliseconds after a change of the map until it is drawn again
const STAGE_EVENTS = 'time range compare split stack layerload changes'
const TABS = { image: ImageTab, timelapse: TimelapseTab, link: LinkTab }

/**
 * The parts of the page that the dialog uses.
 * @typedef {object} Page
 * @property {HTMLElement} button opens and closes it
 * @property {import('../stage.js').Stage} stage
 * @property {import('../map.js').MapView} view
 * @property {import('../notices.js').Notices} notices
 * @property {import('../cards.js').Cards} cards
 * @property {() => string} address of the page with all that is shown
 * @property {(time: string | null) => string} written a time as the page writes it
 * @property {(value: number) => string} count a number as the page writes it
 * @property {(bytes: number) => string} size a number of bytes as the page writes it
 *
 * @typedef {{page: Page, change: number}} TabProps change: a number that is different after each change of
 *   the map
 */

/** @param {Page} page */
export function mountTake (page) {
  const { button, cards } = page
  /** @type {import('../cards.js').Card | null} */
  let card = null
  let tab = 'image'

  function open () {
    card = cards.open(NAME, words.title, end)
    button.setAttribute('aria-expanded', 'true')
    render(html`<${Take} page=${page} first=${tab} onTab=${name => { tab = name }} />`, card.body)
    card.node.focus({ preventScroll: true })
  }

  function end () {
    card = null
    button.setAttribute('aria-expanded', 'false')
  }

  return { toggle: () => card ? card.close() : open() }
}

/** first: the tab that is open at the beginning */
function Take ({ page, first, onTab }) {
  const [tab, setTab] = useState(first)
  const change = useChanges(page)
  const choose = name => {
    onTab(name)
    setTab(name)
  }
  const options = Object.keys(TABS).map(name => [name, words.tabs[name]])
  return html`
    <${Choices} label=${words.title} options=${options} value=${tab} onChoose=${choose} />
    <${TABS[tab]} page=${page} change=${change} />`
}

/** Counts the changes of the map, each after a pause. @param {Page} page */
function useChanges ({ stage, view: { map } }) {
  const [change, count] = useReducer(number => number + 1, 0)
  useEffect(() => {
    const follow = soon(count, SETTLE)
    map.on('moveend resize', follow)
    stage.on(STAGE_EVENTS, follow)
    return () => {
      map.off('moveend resize', follow)
      stage.off(STAGE_EVENTS, follow)
    }
  }, [])
  return change
}
