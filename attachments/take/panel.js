// The card: an image, a time-lapse, or the link. One of them at a time; closing it ends what is under way.
import { element } from '../../client/timeline/dom.js'
import { button, soon } from '../dom.js'
import { ImageTab } from './image-tab.js'
import { LinkTab } from './link-tab.js'
import { TimelapseTab } from './timelapse-tab.js'

const NAME = 'take'
const SETTLE = 300 // milliseconds after a change of the map until it is drawn again
const STAGE_EVENTS = 'time range compare split stack layerload changes'
const tabs = { image: ImageTab, timelapse: TimelapseTab, link: LinkTab }

export class TakePanel {
  #page
  /** @type {keyof typeof tabs} */
  #name = 'image'
  /** @type {ImageTab | TimelapseTab | LinkTab | null} */
  #tab = null
  #follow = soon(() => this.#tab?.update(), SETTLE)

  /** @param {import('./index.js').Page} page */
  constructor (page) {
    this.#page = page
  }

  toggle () {
    if (this.#tab) {
      this.#page.cards.close(NAME)
      this.#close()
    } else this.#open()
  }

  #open () {
    const { cards, button: entry, stage, view, words } = this.#page
    const card = cards.open(NAME, words.title, () => this.#close())
    const chosen = element('div')
    const choices = Object.keys(tabs).map(name => button(words.tabs[name], () => choose(name), { 'data-tab': name }))
    const choose = name => {
      if (this.#tab) this.#end()
      this.#name = name
      this.#tab = new tabs[name](this.#page)
      chosen.replaceChildren(this.#tab.node)
      for (const choice of choices) choice.setAttribute('aria-pressed', String(choice.dataset.tab === name))
    }
    card.body.replaceChildren(
      element('div', { class: 'choice', role: 'group', 'aria-label': words.title }, ...choices), chosen
    )
    choose(this.#name)
    view.map.on('moveend resize', this.#follow)
    stage.on(STAGE_EVENTS, this.#follow)
    entry.setAttribute('aria-expanded', 'true')
    card.node.focus({ preventScroll: true })
  }

  #close () {
    const { button: entry, stage, view } = this.#page
    view.map.off('moveend resize', this.#follow)
    stage.off(STAGE_EVENTS, this.#follow)
    this.#end()
    this.#tab = null
    entry.setAttribute('aria-expanded', 'false')
  }

  #end () {
    const { notices, words } = this.#page
    if (this.#tab?.close()) notices.show(NAME, { text: words.cancelled, onClose: () => {} })
  }
}
