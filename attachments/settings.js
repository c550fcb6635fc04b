// The settings of the reader, at the foot of the panel: the time zone of all times. The device keeps them.
import { timelineWords, zoneId } from './format.js'
import { html, render, useEvents } from './html.js'
import { keepText, keptText } from './kept-text.js'
import { Choices } from './parts.js'

const KEY = 'tilecouch-zone'
const ZONES = ['utc', 'local']

/** @param {import('./stage.js').Stage} stage */
export function mountSettings (container, stage) {
  const zone = keptText(KEY) ?? ''
  if (ZONES.includes(zone)) stage.setZone(zone)
  render(html`<${Settings} stage=${stage} />`, container)
}

function Settings ({ stage }) {
  useEvents(stage, 'zone')
  const choose = zone => {
    stage.setZone(zone)
    keepText(KEY, zone)
  }
  return html`<span aria-hidden="true">${timelineWords.zone}</span>
    <${Choices} label=${timelineWords.zone} value=${zoneId()} onChoose=${choose}
      options=${[['utc', 'UTC'], ['local', timelineWords.local]]} />`
}
