// The upper row of the timeline: play buttons, the present time in words, tools.
import { element, iconButton, rename, write } from './dom.js'
import { within } from './steps.js'
import { capital, changeWords, clockWords, dateWords, plural } from './words.js'

const SPEEDS = [0.5, 1, 2, 5, 10] // steps a second

/** @param {any} control the TimelineControl @returns {{elements: HTMLElement[], render: (state: any) => void}} */
export function makeToolbar (control) {
  const { player, options } = control
  const transport = element('div', { class: 'tilecouch-timeline-transport', role: 'group', 'aria-label': 'Move through time' })
  const first = iconButton('first', 'First change', () => player.first(), 'tilecouch-wide')
  const previous = iconButton('previous', 'Previous change', () => player.step(-1))
  const play = iconButton('play', 'Play', () => player.toggle(), 'tilecouch-play')
  const next = iconButton('next', 'Next change', () => player.step(1))
  const last = iconButton('last', 'Last change', () => player.last(), 'tilecouch-wide')
  transport.append(...[first, previous, options.playable && play, next, last].filter(Boolean))

  const date = element('span')
  const hour = element('span', { class: 'tilecouch-timeline-hour' })
  const detail = element('div', { class: 'tilecouch-timeline-detail' })
  const now = element('div', { class: 'tilecouch-timeline-now' }, [element('div', { class: 'tilecouch-timeline-time' }, [date, hour]), detail])

  const range = iconButton('range', 'Select a range', () => control.toggleRange())
  const toRange = iconButton('toRange', 'Zoom to the range', () => control.zoomToRange())
  const chosenWords = element('span', { class: 'tilecouch-timeline-chosen' })
  const zoomOut = iconButton('zoomOut', 'Zoom the axis out', () => control.zoomAxis(0.5))
  const zoomIn = iconButton('zoomIn', 'Zoom the axis in', () => control.zoomAxis(2))
  const all = iconButton('all', 'Show all of the time', () => control.showAll())
  const loop = iconButton('loop', 'Start again at the end', () => player.setLoop(!player.getLoop()))
  const speed = speedMenu(player)
  const zones = zoneSwitch(control)
  const group = (...children) => element('div', { class: 'tilecouch-timeline-group' }, children)
  const tools = element('div', { class: 'tilecouch-timeline-tools', id: `tilecouch-tools-${control.id}`, role: 'group', 'aria-label': 'Timeline settings' }, [
    options.selectable && group(range, chosenWords),
    options.zoomable && group(zoomOut, zoomIn, toRange, all),
    options.playable && group(loop, speed),
    zones.element
  ])
  const more = iconButton('more', 'More', () => {
    const open = control.getContainer().classList.toggle('tilecouch-open')
    write(more, { 'aria-expanded': String(open) })
  }, 'tilecouch-more')
  write(more, { 'aria-expanded': 'false', 'aria-controls': tools.id })

  function render ({ time, changes, complete, domain, zone, playing, waiting, range: chosen, zoomed, problem }) {
    const idle = !changes.length
    for (const button of [first, previous, play, next, last]) button.disabled = idle && !(button === play && playing)
    rename(play, playing ? 'pause' : 'play', playing ? 'Pause' : 'Play')
    play.classList.toggle('tilecouch-waiting', waiting)

    const ms = time === null ? 0 : Date.parse(time)
    write(date, { text: time === null ? 'Newest' : `${dateWords(ms, zone)}, ` })
    write(hour, { text: time === null ? '' : clockWords(ms, zone) })
    const text = waiting ? 'waiting for tiles …' : problem || (changes.length || complete ? changeWords(time, changes, zone) : 'looking for changes …')
    write(detail, { text: capital(text), title: capital(text) })

    rename(range, chosen ? 'clear' : 'range', chosen ? 'Clear the range' : 'Select a range')
    write(range, { 'aria-pressed': String(Boolean(chosen)) })
    range.disabled = !domain
    write(chosenWords, { text: chosen ? chosenText(chosen, changes, zone) : '' })
    toRange.hidden = !chosen
    zoomIn.hidden = Boolean(chosen)
    zoomOut.disabled = all.disabled = !zoomed
    zoomIn.disabled = !domain
    write(loop, { 'aria-pressed': String(player.getLoop()) })
    speed.sync()
    zones.render()
  }

  return { elements: [element('div', { class: 'tilecouch-timeline-head' }, [transport, now, more, tools])], render }
}

/** `1 Jan 2018 – 31 Dec 2020 · 61 changes` */
function chosenText (range, changes, zone) {
  const [from, to] = [range.from, range.to].map(time => dateWords(Date.parse(time), zone))
  const days = from === to ? `${from}, ${clockWords(Date.parse(range.from), zone)} – ${clockWords(Date.parse(range.to), zone)}` : `${from} – ${to}`
  return `${days} · ${plural(within(changes.map(change => change.time), range).length, 'change')}`
}

function speedMenu (player) {
  const select = element('select', { class: 'tilecouch-select', 'aria-label': 'Speed', title: 'Speed: changes a second' })
  select.addEventListener('change', () => player.setSpeed(+select.value))
  select.sync = () => {
    const present = Math.round(player.getSpeed() * 100) / 100
    if (select.options.length && +select.value === present) return
    const speeds = [...new Set([...SPEEDS, present])].sort((a, b) => a - b)
    select.replaceChildren(...speeds.map(each => element('option', { value: each, text: `${each} per s` })))
    select.value = String(present)
  }
  return select
}

function zoneSwitch (control) {
  const { timeZone } = control.options
  // a zone by name takes the place of the local one
  const other = timeZone === 'utc' ? 'local' : timeZone
  const choices = [['utc', 'UTC', 'Times in UTC'], [other, other === 'local' ? 'Local' : other.split('/').pop().replace(/_/g, ' '), other === 'local' ? 'Times of this computer' : `Times of ${other}`]]
  const buttons = choices.map(([zone, text, title]) => {
    const button = element('button', { type: 'button', class: 'tilecouch-choice', text, title })
    button.addEventListener('click', () => control.setTimeZone(zone))
    return button
  })
  return {
    element: element('div', { class: 'tilecouch-choices', role: 'group', 'aria-label': 'Time zone' }, buttons),
    render: () => buttons.forEach((button, index) => write(button, { 'aria-pressed': String(control.getTimeZone() === choices[index][0]) }))
  }
}
