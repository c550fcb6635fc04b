// One area in the list: what it is, how fresh, how far its download is, and what can be done with it. Made once and
// then only rewritten, so that the focus stays where it is while figures run.
import { element } from '../../client/timeline/dom.js'
import { capital } from '../../client/timeline/words.js'
import { button } from '../dom.js'
import { count, size, zooms } from '../format.js'
import { offlineWords as texts, words } from '../words.js'
import { amount, changedWords, freshness, isStopped, lasting, pastWords, problem } from './words.js'

const own = texts.area

let number = 0

export class AreaItem {
  #area
  #list
  #isOpen = false
  #message = ''
  #id = `area-${++number}`
  /** @type {{name: string, act: string} | null} what is being asked: a new name, or whether it may go */
  #asking = null
  #parts

  /**
   * @param {{layerTitle: (layer: string) => string, show: (area: any) => void, announce: (text: string) => void,
   *   onRemoved: (item: AreaItem) => void}} list
   */
  constructor (area, list) {
    this.#area = area
    this.#list = list
    const part = (tag, name, attributes) => element(tag, { class: name, ...attributes })
    this.#parts = {
      head: element('button', {
        type: 'button', class: 'head', 'aria-controls': this.#id, on: { click: () => { this.isOpen = !this.#isOpen } }
      }),
      title: part('span', 'title'), what: part('span', 'what'), state: part('span', 'state'),
      bar: part('div', 'bar', { role: 'progressbar', 'aria-valuemin': '0', 'aria-valuemax': '100' }),
      fill: part('span', 'fill'), figures: part('p', 'figures'), problem: part('p', 'problem'),
      main: button('', () => this.#act(), { class: 'primary main' }),
      cancel: button(words.cancel, () => this.#ask('cancel'), { class: 'secondary' }),
      live: element('input', { type: 'checkbox', on: { change: ({ target }) => this.#follow(target.checked) } }),
      refresh: button(own.refresh, () => this.#refresh(), { class: 'secondary' }),
      remove: button(own.remove, () => this.#ask('remove'), { class: 'secondary danger' }),
      more: element('div', { class: 'more', id: this.#id }), ask: part('div', 'ask')
    }
    this.node = element('li', { class: 'area', 'data-area': area.id })
    this.#build()
    this.update()
  }

  get area () {
    return this.#area
  }

  /** Whether what can be done is to be seen. */
  set isOpen (open) {
    this.#isOpen = open
    this.#parts.head.setAttribute('aria-expanded', String(open))
    this.#parts.more.hidden = !open
    if (!open && this.#asking) this.#ask(null)
  }

  get isOpen () {
    return this.#isOpen
  }

  focus () {
    this.#parts.head.focus({ preventScroll: true })
    this.node.scrollIntoView({ block: 'nearest' })
  }

  /** Goes on where the download is. */
  async download () {
    await this.#run('download')
    if (this.#area.isComplete) this.#list.announce(own.done(this.#area.name))
  }

  async #refresh () {
    const done = await this.#run('refresh')
    if (done) this.#announce(changedWords(done.changed))
  }

  /** What went wrong by itself. */
  fail (error) {
    this.#announce(problem(error))
  }

  #build () {
    const { head, title, what, state, bar, fill, main, cancel, more, live, refresh, remove } = this.#parts
    head.append(title, what, state)
    bar.append(fill)
    more.append(
      button(own.show, () => this.#list.show(this.#area), { class: 'secondary' }), refresh,
      button(own.rename, () => this.#ask('rename'), { class: 'secondary' }),
      remove, element('label', null, live, own.keepUp))
    this.node.append(
      head,
      bar,
      this.#parts.figures,
      this.#parts.problem,
      element('div', { class: 'acts' }, main, cancel),
      more,
      this.#parts.ask
    )
    this.#parts.ask.hidden = true
    this.isOpen = false
  }

  /** Writes what is known now. */
  update () {
    const { title, what, state, bar, fill, figures, main, cancel, live, refresh, remove } = this.#parts
    const area = this.#area
    const status = area.status()
    const { min, max } = area.spec.zooms ?? {}
    const titled = this.#list.layerTitle(area.layer)
    write(title, area.name)
    const facts = [
      titled !== area.name && titled,
      min !== undefined && words.panel.zoom(zooms(min, max)),
      pastWords(area.hasHistory),
      status.bytes && size(status.bytes)
    ]
    write(what, capital(facts.filter(Boolean).join(' · ')))
    write(state, stateWords(status))
    this.node.dataset.state = status.state
    const share = shareOf(status)
    bar.hidden = share === undefined
    if (share !== undefined) {
      fill.style.width = `${100 * share}%`
      bar.setAttribute('aria-valuenow', String(Math.floor(100 * share)))
      bar.setAttribute('aria-label', own.downloadOf(area.name))
    }
    write(figures, figuresOf(status))
    figures.hidden = !figures.textContent
    const [word, act] = actionOf(status)
    main.hidden = !word
    write(main, word ?? '')
    main.classList.toggle('quiet', act === 'pause')
    cancel.hidden = !word || Boolean(status.updated)
    remove.hidden = !cancel.hidden // it does the same
    live.checked = Boolean(status.live)
    refresh.hidden = status.state !== 'complete'
    this.#showProblem(status)
  }

  /** The error in the status, unless there is a newer message. */
  #showProblem (status) {
    const { problem: note } = this.#parts
    const isBroken = ['incomplete', 'paused', 'new'].includes(status.state)
    const text = this.#message || (
      isBroken && status.error ? problem({ code: status.error, message: status.reason ?? status.error }) : ''
    )
    write(note, text)
    note.hidden = !text
  }

  #announce (text) {
    this.#message = text
    this.#showProblem(this.#area.status())
    if (text) this.#list.announce(text)
  }

  #act () {
    const [, act] = actionOf(this.#area.status())
    if (act === 'pause') this.#pause()
    else this.download()
  }

  async #pause () {
    await Promise.resolve(this.#area.pause()).catch(error => this.fail(error))
    this.update()
  }

  /** @param {'download' | 'refresh'} call @returns {Promise<any>} nothing when it failed, or was stopped */
  async #run (call) {
    this.#message = ''
    try {
      const doing = this.#area[call]()
      this.update()
      return await doing
    } catch (error) {
      if (!isStopped(error)) this.fail(error)
    } finally {
      this.update()
    }
  }

  async #follow (on) {
    try {
      await this.#area.live(on)
    } catch (error) {
      this.fail(error)
    }
    this.update()
  }

  /** @param {'rename' | 'remove' | 'cancel' | null} act */
  #ask (act) {
    const { ask, more, main } = this.#parts
    const hadFocus = ask.contains(document.activeElement)
    this.#asking = act ? { name: this.#area.name, act } : null
    ask.hidden = !act
    more.hidden = Boolean(act) || !this.#isOpen
    main.parentElement.hidden = Boolean(act)
    if (!act) {
      ask.replaceChildren()
      if (hadFocus) this.#parts.head.focus({ preventScroll: true })
      return
    }
    ask.replaceChildren(...act === 'rename' ? this.#renaming() : this.#removing(act))
    ask.querySelector(act === 'rename' ? 'input' : 'button')?.focus({ preventScroll: true })
    ask.scrollIntoView({ block: 'nearest' })
  }

  #renaming () {
    const name = element('input', {
      type: 'text', value: this.#area.name, maxlength: '100', required: true, 'aria-label': own.newName
    })
    const save = async event => {
      event.preventDefault()
      try {
        await this.#area.rename(name.value.trim())
        this.#message = ''
        this.#ask(null)
      } catch (error) {
        this.fail(error)
      }
      this.update()
    }
    return [element(
      'form',
      { on: { submit: save } },
      name,
      element(
        'div',
        { class: 'acts' },
        element('button', { type: 'submit', class: 'primary' }, own.rename),
        button(own.leave, () => this.#ask(null), { class: 'secondary' })
      )
    )]
  }

  /** @param {'remove' | 'cancel'} act */
  #removing (act) {
    const status = this.#area.status()
    const goes = status.tiles ? own.willGo(amount(status)) : own.nothingYet
    return [
      element(
        'p', null, [(act === 'cancel' ? own.askCancel : own.askRemove)(this.#area.name), goes, own.storeKeeps].join(' ')
      ),
      element(
        'div',
        { class: 'acts' },
        button(own.removeIt, () => this.#remove(), { class: 'primary danger' }),
        button(own.keepIt, () => this.#ask(null), { class: 'secondary' })
      )]
  }

  async #remove () {
    this.#ask(null)
    try {
      await this.#area.remove()
      this.#list.onRemoved(this)
    } catch (error) {
      this.fail(error)
    }
  }
}

/** The same text is not written again: it would be read aloud, and a selection lost. */
function write (node, text) {
  if (node.textContent !== text) node.textContent = text
}

export function stateWords (status) {
  switch (status.state) {
    case 'downloading': return status.updated ? own.states.refreshing : own.states.downloading
    case 'incomplete': return status.failed ? own.failed(status.failed) : own.states.incomplete
    default: return own.states[status.state] ?? freshness(status)
  }
}

/** What the button does, and what it says. @returns {[string, 'download' | 'pause'] | []} */
export function actionOf ({ state, failed, tiles }) {
  switch (state) {
    case 'new': return [tiles ? own.goOn : own.download, 'download']
    case 'waiting': case 'downloading': return [own.pause, 'pause']
    case 'paused': return [own.goOn, 'download']
    case 'incomplete': return [failed ? words.again : own.goOn, 'download']
    default: return []
  }
}

/** How much of it is there, between 0 and 1; nothing where there is no end to be seen. */
export function shareOf ({ state, bytes, tiles, total }) {
  if (state === 'complete' || state === 'new' || state === 'removing' || !total) return undefined
  const [have, all] = total.bytes ? [bytes, total.bytes] : [tiles, total.tiles]
  return all ? Math.min(have / all, 1) : undefined
}

export function figuresOf ({ state, tiles, bytes, total, rate, remaining }) {
  if (!total || !['downloading', 'paused', 'incomplete', 'waiting'].includes(state)) return ''
  const isRunning = state === 'downloading'
  return [
    own.of({ have: count(tiles), all: words.tiles(total.tiles) }),
    own.of({ have: size(bytes), all: size(total.bytes) }),
    isRunning && rate && `${size(Math.round(rate))}/s`,
    isRunning && rate && Number.isFinite(remaining) && own.left(lasting(remaining))
  ].filter(Boolean).join(' · ')
}
