// The upper row of the timeline: play buttons, the present time in words, tools.
import { element, iconButton, rename, write } from './dom.js'
import { within } from './steps.js'
import { capital, changeText, clockText, dateText, isDay } from './words.js'

const SPEEDS = [0.5, 1, 2, 5, 10] // steps a second

const DAY = 86400 // seconds
const PACES = { // seconds of map time per second
  hour: 3600, day: DAY, week: 7 * DAY, month: 30.4375 * DAY, year: 365.25 * DAY, decade: 3652.5 * DAY
}
const SHORTEST = 2 // seconds: a pace that shows all of the time in less is not offered
const LONGEST = 1200 // seconds

/** @param {any} control the Timeline @returns {{elements: HTMLElement[], render: (state: any) => void}} */
export function makeToolbar (control) {
  const { player, options, _words: words } = control
  const transport =
    element('div', { class: 'tilecouch-timeline-transport', role: 'group', 'aria-label': words.transport })
  const first = iconButton('first', words.first, () => player.first(), 'tilecouch-wide')
  const previous = iconButton('previous', words.previous, () => player.step(-1))
  const play = iconButton('play', words.play, () => player.toggle(), 'tilecouch-play')
  const next = iconButton('next', words.next, () => player.step(1))
  const last = iconButton('last', words.last, () => player.last(), 'tilecouch-wide')
  transport.append(...[first, previous, options.playable && play, next, last].filter(Boolean))

  const date = element('span')
  const hour = element('span', { class: 'tilecouch-timeline-hour' })
  const detail = element('div', { class: 'tilecouch-timeline-detail' })
  // beside the time, where there is room: no button moves when a range is selected
  const chosenRange = element('div', { class: 'tilecouch-timeline-chosen' })
  const now = element('div', { class: 'tilecouch-timeline-now' }, [
    element('div', { class: 'tilecouch-timeline-time' }, [date, hour]),
    element('div', { class: 'tilecouch-timeline-line' }, [detail, chosenRange])
  ])

  const range = iconButton('range', words.selectRange, () => control.toggleRange())
  const toRange = iconButton('toRange', words.zoomToRange, () => control.zoomToRange())
  const loop = iconButton('loop', words.loop, () => player.setLoop(!player.getLoop()))
  const speed = speedMenu(control)
  const zones = zoneSwitch(control)
  const group = (...children) => element('div', { class: 'tilecouch-timeline-group' }, children)
  const tools = element('div', {
    class: 'tilecouch-timeline-tools', id: `tilecouch-tools-${control.id}`, role: 'group', 'aria-label': words.settings
  }, [
    options.selectable && group(range),
    options.zoomable && group(toRange),
    options.playable && group(loop, speed),
    zones.element
  ])
  const more = iconButton('more', words.more, () => {
    const open = control.element.classList.toggle('tilecouch-open')
    write(more, { 'aria-expanded': String(open) })
  }, 'tilecouch-more')
  write(more, { 'aria-expanded': 'false', 'aria-controls': tools.id })

  function render (state) {
    const { changes, domain, zone, playing, waiting, range: chosen } = state
    const idle = !changes.length
    for (const button of [first, previous, play, next, last]) button.disabled = idle && !(button === play && playing)
    rename(play, playing ? 'pause' : 'play', playing ? words.pause : words.play)
    play.classList.toggle('tilecouch-waiting', waiting)
    writeTime(state)
    rename(range, chosen ? 'clear' : 'range', chosen ? words.clearRange : words.selectRange)
    write(range, { 'aria-pressed': String(Boolean(chosen)) })
    range.disabled = !domain
    write(chosenRange, { text: chosen ? rangeText(chosen, changes, zone, words) : '' })
    toRange.hidden = !chosen
    write(loop, { 'aria-pressed': String(player.getLoop()) })
    speed.sync(domain)
    zones.render()
  }

  function writeTime (state) {
    const { time, only, changes, zone } = state
    const shownTime = time ?? only
    const ms = shownTime === null ? 0 : Date.parse(shownTime)
    const hasHour = shownTime !== null && !isDay(ms, changes, zone)
    write(date, { text: shownTime === null ? words.newest : `${dateText(ms, zone, words)}${hasHour ? ', ' : ''}` })
    write(hour, { text: hasHour ? clockText(ms, zone, words) : '' })
    const text = capital(detailText(state, words))
    write(detail, { text, title: text })
  }

  return { elements: [element('div', { class: 'tilecouch-timeline-head' }, [transport, now, more, tools])], render }
}

/** The text beside the time: what the timeline waits for, or the change that is shown. */
function detailText ({ time, only, changes, complete, zone, waiting, problem }, words) {
  if (waiting) return words.waiting
  if (problem) return problem
  if (time === null && only) return words.only
  return changes.length || complete ? changeText(time, changes, zone, words) : words.looking
}

/** `1 Jan 2018 – 31 Dec 2020 · 61 changes` */
function rangeText (range, changes, zone, words) {
  const [from, to] = [range.from, range.to].map(time => Date.parse(time))
  const [first, last] = [from, to].map(ms => dateText(ms, zone, words))
  const [start, end] = [from, to].map(ms => clockText(ms, zone, words))
  const days = first === last ? `${first}, ${start} – ${end}` : `${first} – ${last}`
  return `${days} · ${words.changes(within(changes.map(change => change.time), range).length)}`
}

/** Makes the menu of speeds: changes per second, or map time per second. */
function speedMenu ({ player, _words: words }) {
  const select = element('select', { class: 'tilecouch-select', 'aria-label': words.speed, title: words.speed })
  select.addEventListener('change', () => {
    const [, pace] = /^pace (.*)$/.exec(select.value) ?? []
    if (pace) return player.setPace(+pace)
    player.setPace(null).setSpeed(+select.value)
  })
  const group = (label, options) => options.length ? element('optgroup', { label }, options) : null
  let shownOptions = ''
  select.sync = domain => {
    const present = Math.round(player.getSpeed() * 100) / 100
    const speeds = [...new Set([...SPEEDS, present])].sort((a, b) => a - b)
    const length = domain ? (domain.to - domain.from) / 1000 : 0
    const offered = Object.values(PACES).filter(pace => length / pace >= SHORTEST && length / pace <= LONGEST)
    const paces = [...new Set([...offered, player.getPace()])].filter(Boolean).sort((a, b) => a - b)
    const optionsKey = JSON.stringify([speeds, paces])
    if (optionsKey !== shownOptions) {
      shownOptions = optionsKey
      select.replaceChildren(...[
        group(words.steps, speeds.map(speed => element('option', { value: speed, text: words.perSecond(speed) }))),
        group(words.pace, paces.map(pace => element('option', { value: `pace ${pace}`, text: paceText(pace, words) })))
      ].filter(Boolean))
    }
    const value = player.getPace() ? `pace ${player.getPace()}` : String(present)
    if (select.value !== value) select.value = value
  }
  return select
}

/** `1 day per s`, and in hours or seconds for a pace of the page. */
function paceText (pace, words) {
  const name = Object.keys(PACES).find(key => PACES[key] === pace)
  if (name) return words.paces[name]
  return words.perSecond(pace < PACES.hour ? `${pace} s` : `${Math.round(pace / PACES.hour * 100) / 100} h`)
}

function zoneSwitch (control) {
  const { _words: words, options: { timeZone } } = control
  // a named zone takes the place of the local one
  const other = timeZone === 'utc' ? 'local' : timeZone
  const choices = [
    ['utc', 'UTC', words.utc],
    other === 'local' ? [other, words.local, words.ofComputer] : [other, cityOf(other), words.ofZone(other)]
  ]
  const buttons = choices.map(([zone, text, title]) => {
    const button = element('button', { type: 'button', class: 'tilecouch-choice', text, title })
    button.addEventListener('click', () => control.setTimeZone(zone))
    return button
  })
  return {
    element: element('div', { class: 'tilecouch-choices', role: 'group', 'aria-label': words.zone }, buttons),
    render () {
      const chosen = control.getTimeZone()
      buttons.forEach((button, index) => write(button, { 'aria-pressed': String(chosen === choices[index][0]) }))
    }
  }
}

/** `New York` of `America/New_York` */
const cityOf = zone => zone.split('/').pop().replace(/_/g, ' ')
