// The settings of the reader, at the foot of the panel: the time zone of all times. The device keeps them.
import { timelineWords, zoneId } from './format.js'
import { html, render, useEvents } from './html.js'
import { Choices } from './parts.js'

const KEY = 'tilecouch-zone'
const ZONES = ['utc', 'local']

/** @param {import('./stage.js').Stage} stage */
export function mountSettings (container, stage) {
  const zone = readZone()
  if (ZONES.includes(zone)) stage.setZone(zone)
  render(html`<${Settings} stage=${stage} />`, container)
}

function Settings ({ stage }) {
  useEvents(stage, 'zone')
  const choose = zone => {
    stage.setZone(zone)
    keepZone(zone)
  }
  return html`<span aria-hidden="true">${timelineWords.zone}</span>
    <${Choices} label=${timelineWords.zone} value=${zoneId()} onChoose=${choose}
      options=${[['utc', 'UTC'], ['local', timelineWords.local]]} />`
}

function readZone () {
  try {
    return localStorage.getItem(KEY) ?? ''
  } catch { // the browser keeps nothing for this page
    return ''
  }
}

function keepZone (zone) {
  try {
    localStorage.setItem(KEY, zone)
  } catch { // the browser keeps nothing for this page
  }
}
