// The list of areas on this device. Above it: whether the store answers. Below it: how much room the areas take.
import { soon } from '../dom.js'
import { size } from '../format.js'
import { html, useEffect, useEvents, useInterval, useLayoutEffect, useReducer, useRef, useState } from '../html.js'
import { Fold, Hint, Toggle } from '../parts.js'
import { offlineWords as texts } from '../words.js'
import { AreaItem } from './area-item.js'
import { reasons } from './words.js'

const REDRAW_INTERVAL = 30000 // milliseconds until texts such as "5 minutes ago" are outdated
const MEASURE_INTERVAL = 1000 // milliseconds between two measurements of the room during a download
const FULL = 0.9 // of the quota, from which the figures of the room are unfolded

/**
 * @param {object} props
 * @param {any} props.offline the OfflineStore
 * @param {import('./area-marks.js').Coverage} props.coverage
 * @param {string} [props.reason] why the page does not open without a network
 * @param {any} [props.newArea] the area whose download starts, and which has the focus
 * @param {boolean} [props.isFocused] whether the button for a new area has the focus
 * @param {(layer: string) => string} props.layerTitle
 * @param {() => void} props.onAdd
 * @param {(area: any) => void} props.onShow
 * @param {(area: any) => void} props.onEnd a download ended, complete or not
 */
export function AreaList ({ offline, coverage, reason, newArea, isFocused, onAdd, ...itemProps }) {
  const addButton = useRef(/** @type {HTMLElement | null} */ (null))
  const status = useRef(/** @type {HTMLElement | null} */ (null))
  const [, redraw] = useReducer(count => count + 1, 0)
  useInterval(redraw, REDRAW_INTERVAL)
  useEvents(offline, 'areas online')
  const focusAdd = () => addButton.current?.focus({ preventScroll: true })
  useLayoutEffect(() => { if (isFocused) focusAdd() }, [])
  // a status that is set to the same text again is read aloud again
  const announce = text => { if (status.current) status.current.textContent = text }
  const areas = offline.areas.list()
  const isOnline = offline.isOnline ?? navigator.onLine
  return html`<div class="offline-areas">
    <p class=${isOnline ? 'connection' : 'connection away'}>${isOnline ? texts.connected : texts.notConnected}</p>
    ${reason && html`<${Hint}>${reasons[reason]}<//>`}
    ${!areas.length && html`<${Hint}>${texts.intro}<//>`}
    <ul class="areas" aria-label=${texts.areas} hidden=${!areas.length}>
      ${areas.map(area => html`<${AreaItem} key=${area.id} area=${area} offline=${offline} isNew=${area === newArea}
        announce=${announce} onLeave=${focusAdd} ...${itemProps} />`)}
    </ul>
    <button type="button" class="primary" ref=${addButton} onClick=${onAdd}>${texts.add}</button>
    ${areas.length > 0 && html`<${CoverageToggle} coverage=${coverage} />`}
    <${Room} offline=${offline} />
    <p class="unseen" role="status" ref=${status}></p>
  </div>`
}

/** The switch that shows which tiles are on the device, with a legend of the marks. */
function CoverageToggle ({ coverage }) {
  const [isOn, setOn] = useState(coverage.isOn)
  const change = on => {
    setOn(on)
    coverage.isOn = on
    coverage.show()
  }
  return html`<div class="coverage">
    <${Toggle} isOn=${isOn} onChange=${change}>${texts.coverage.show}<//>
    ${isOn && html`<ul class="legend">
      ${['whole', 'part'].map(kind => html`<li>
        <span class=${`tilecouch-coverage tilecouch-coverage-${kind}`} aria-hidden="true"></span>
        ${texts.coverage[kind]}
      </li>`)}
    </ul>`}
  </div>`
}

/** How much room the areas take, and whether the browser may delete them. */
function Room ({ offline }) {
  const room = useRoom(offline)
  if (!room) return null
  const { quota, free, persisted, ours } = room
  const used = quota ? (quota - free) / quota : 0
  const figures = [texts.room.taken(size(ours)), free !== undefined && texts.room.free(size(free))]
    .filter(Boolean).join(' · ')
  return html`<${Fold} class="meter" head=${texts.room.head} open=${used > FULL}>
    ${quota > 0 && html`<div class="bar" role="img" aria-label=${figures}>
      <span class="fill" style=${`width: ${Math.max(1, 100 * used)}%`}></span>
    </div>`}
    <p class="figures">${figures}</p>
    <${Hint}>${persisted ? texts.room.kept : texts.room.mayGo}<//>
  <//>`
}

function useRoom (offline) {
  const [room, setRoom] = useState(/** @type {any} */ (null))
  useEffect(() => {
    const measure = () => offline.storage().then(setRoom, () => {})
    const measureSoon = soon(measure, MEASURE_INTERVAL)
    measure()
    offline.on('areas progress', measureSoon)
    return () => offline.off('areas progress', measureSoon)
  }, [offline])
  return room
}
