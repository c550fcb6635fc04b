// One area of the list: its description, freshness and progress, and the buttons of the user.
import { capital } from '../../client/timeline/words.js'
import { count, size, zooms } from '../format.js'
import { html, useEffect, useEvents, useLayoutEffect, useRef, useState } from '../html.js'
import { Button, Toggle } from '../parts.js'
import { offlineWords as texts, words } from '../words.js'
import { amount, changedWords, freshness, isStopped, lasting, pastWords, problem } from './words.js'

const areaTexts = texts.area

/**
 * @param {object} props
 * @param {import('../../client/offline/area.js').Area} props.area
 * @param {any} props.offline the OfflineStore
 * @param {boolean} props.isNew it gets the focus, and its download starts
 * @param {(layer: string) => string} props.layerTitle
 * @param {(text: string) => void} props.announce
 * @param {() => void} props.onLeave the item is removed while it has the focus
 * @param {(area: any) => void} props.onShow
 * @param {(area: any) => void} props.onEnd a download ended, complete or not
 */
export function AreaItem ({ area, offline, isNew, layerTitle, announce, onLeave, onShow, onEnd }) {
  const item = useRef(/** @type {HTMLElement | null} */ (null))
  const head = useRef(/** @type {HTMLElement | null} */ (null))
  const [isOpen, setOpen] = useState(isNew)
  const [question, setQuestion] = useState(/** @type {'rename' | 'remove' | 'cancel' | ''} */ (''))
  const [message, setMessage] = useState('')
  const [failure, setFailure] = useState('') // of the last transfer in the background
  useEvents(offline, 'progress')

  const tell = text => {
    setMessage(text)
    announce(text)
  }

  /** @param {() => Promise<any>} task @returns {Promise<any>} undefined if it failed or was stopped */
  async function run (task) {
    setMessage('')
    setFailure('')
    try {
      return await task()
    } catch (error) {
      if (!isStopped(error)) tell(problem(error))
    }
  }

  async function download () {
    await run(() => area.download())
    if (area.isComplete) announce(areaTexts.done(area.name))
    onEnd(area)
  }

  async function refresh () {
    const answer = await run(() => area.refresh())
    if (answer) tell(changedWords(answer.changed))
  }

  async function remove () {
    setQuestion('')
    await run(() => area.remove())
    if (area.isRemoved) announce(texts.removed(area.name))
  }

  function toggle () {
    setOpen(!isOpen)
    setQuestion('')
  }

  useEffect(() => {
    let announced = ''
    const onFailure = event => {
      if (event.area !== area) return
      const text = problem(event.error)
      const news = `${text} ${area.status().updated}`
      if (news !== announced) announce(text) // a transfer that fails is repeated again and again
      announced = news
      setFailure(text)
    }
    offline.on('failure', onFailure)
    return () => offline.off('failure', onFailure)
  }, [area])

  useLayoutEffect(() => {
    const node = item.current
    if (isNew) {
      head.current?.focus({ preventScroll: true })
      node?.scrollIntoView({ block: 'nearest' })
      download()
    }
    return () => { if (node?.contains(document.activeElement)) onLeave() }
  }, [])

  const status = area.status()
  const note = (status.error && failure) || message || problemOf(status)
  const [action, call] = actionOf(status)
  const isPausing = call === 'pause'
  const act = () => isPausing ? run(() => area.pause()) : download()
  const isUnfinished = action && !status.updated
  const secondary = (text, onClick) => html`<${Button} onClick=${onClick}>${text}<//>`
  return html`<li class="area" data-area=${area.id} data-state=${status.state} ref=${item}>
    <button type="button" class="head" aria-expanded=${String(isOpen)} aria-controls=${`area-${area.id}`}
      ref=${head} onClick=${toggle}>
      <span class="title">${area.name}</span>
      <span class="what">${describe(area, status, layerTitle(area.layer))}</span>
      <span class="state">${stateWords(status)}</span>
    </button>
    <${Progress} name=${area.name} status=${status} />
    ${note && html`<p class="problem">${note}</p>`}
    ${action && !question && html`<div class="acts">
      <${Button} kind=${isPausing ? 'primary quiet' : 'primary'} onClick=${act}>${action}<//>
      ${isUnfinished && secondary(words.cancel, () => setQuestion('cancel'))}
    </div>`}
    <div class="more" id=${`area-${area.id}`} hidden=${!isOpen || question !== ''}>
      ${secondary(areaTexts.show, () => onShow(area))}
      ${status.state === 'complete' && secondary(areaTexts.refresh, refresh)}
      ${secondary(areaTexts.rename, () => setQuestion('rename'))}
      ${!isUnfinished && html`<${Button} kind="secondary danger" onClick=${() => setQuestion('remove')}>
        ${areaTexts.remove}
      <//>`}
      <${Toggle} isOn=${status.live} onChange=${on => run(() => area.live(on))}>${areaTexts.keepUp}<//>
    </div>
    ${question && html`<${Question} head=${head}>
      ${question === 'rename'
        ? html`<${Rename} area=${area} run=${run} onLeave=${() => setQuestion('')} />`
        : html`<${Removal} area=${area} question=${question} onRemove=${remove} onLeave=${() => setQuestion('')} />`}
    <//>`}
  </li>`
}

function Progress ({ name, status }) {
  const share = shareOf(status)
  const figures = figuresOf(status)
  return html`
    ${share !== undefined && html`<div class="bar" role="progressbar" aria-label=${areaTexts.downloadOf(name)}
      aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.floor(100 * share)}>
      <span class="fill" style=${`width: ${100 * share}%`}></span>
    </div>`}
    ${figures && html`<p class="figures">${figures}</p>`}`
}

/**
 * A question takes the focus, and gives it back to the head of its area. It focuses its field, or else the button that
 * changes nothing, so that Enter does not remove an area by accident.
 */
function Question ({ head, children }) {
  const part = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => {
    const node = part.current
    node?.querySelector(/** @type {'button'} */ ('input, .secondary'))?.focus({ preventScroll: true })
    node?.scrollIntoView({ block: 'nearest' })
    return () => { if (node?.contains(document.activeElement)) head.current?.focus({ preventScroll: true }) }
  }, [])
  return html`<div class="ask" ref=${part}>${children}</div>`
}

function Rename ({ area, run, onLeave }) {
  const [name, setName] = useState(area.name)

  async function save (event) {
    event.preventDefault()
    if (await run(() => area.rename(name.trim()).then(() => true))) onLeave()
  }

  return html`<form onSubmit=${save}>
    <input type="text" maxlength="100" required aria-label=${areaTexts.newName}
      value=${name} onInput=${({ target }) => setName(target.value)} />
    <div class="acts">
      <${Button} type="submit" kind="primary">${areaTexts.rename}<//>
      <${Button} onClick=${onLeave}>${areaTexts.leave}<//>
    </div>
  </form>`
}

function Removal ({ area, question, onRemove, onLeave }) {
  const status = area.status()
  const head = question === 'cancel' ? areaTexts.askCancel : areaTexts.askRemove
  const effect = status.tiles ? areaTexts.willGo(amount(status)) : areaTexts.nothingYet
  return html`
    <p>${[head(area.name), effect, areaTexts.storeKeeps].join(' ')}</p>
    <div class="acts">
      <${Button} kind="primary danger" onClick=${onRemove}>${areaTexts.removeIt}<//>
      <${Button} onClick=${onLeave}>${areaTexts.keepIt}<//>
    </div>`
}

/** `Zoom 0–4 · with all its past · 1.2 MB`, after the layer where the area has another name. */
function describe (area, { bytes }, layerTitle) {
  const { min, max } = area.spec.zooms ?? {}
  const facts = [
    layerTitle !== area.name && layerTitle,
    min !== undefined && words.panel.zoom(zooms(min, max)),
    pastWords(area.hasHistory),
    bytes > 0 && size(bytes)
  ]
  return capital(facts.filter(Boolean).join(' · '))
}

/** The error of the last transfer, while the area is not complete. */
function problemOf ({ state, error, reason = error }) {
  if (!error || !['incomplete', 'paused', 'new'].includes(state)) return ''
  return problem({ code: error, message: reason })
}

export function stateWords (status) {
  switch (status.state) {
    case 'downloading': return status.updated ? areaTexts.states.refreshing : areaTexts.states.downloading
    case 'incomplete': return status.failed ? areaTexts.failed(status.failed) : areaTexts.states.incomplete
    default: return areaTexts.states[status.state] ?? freshness(status)
  }
}

/** The text of the main button, and its action. @returns {[string, 'download' | 'pause'] | []} */
export function actionOf ({ state, failed, tiles }) {
  switch (state) {
    case 'new': return [tiles ? areaTexts.goOn : areaTexts.download, 'download']
    case 'waiting': case 'downloading': return [areaTexts.pause, 'pause']
    case 'paused': return [areaTexts.goOn, 'download']
    case 'incomplete': return [failed ? words.again : areaTexts.goOn, 'download']
    default: return []
  }
}

/** The share of an area that is on the device, 0 to 1; undefined if its total is unknown. */
export function shareOf ({ state, bytes, tiles, total }) {
  if (state === 'complete' || state === 'new' || state === 'removing' || !total) return undefined
  const [present, whole] = total.bytes ? [bytes, total.bytes] : [tiles, total.tiles]
  return whole ? Math.min(present / whole, 1) : undefined
}

export function figuresOf ({ state, tiles, bytes, total, rate, remaining }) {
  if (!total || !['downloading', 'paused', 'incomplete', 'waiting'].includes(state)) return ''
  const isRunning = state === 'downloading'
  return [
    areaTexts.of({ have: count(tiles), all: words.tiles(total.tiles) }),
    areaTexts.of({ have: size(bytes), all: size(total.bytes) }),
    isRunning && rate && `${size(Math.round(rate))}/s`,
    isRunning && rate && Number.isFinite(remaining) && areaTexts.left(lasting(remaining))
  ].filter(Boolean).join(' · ')
}
