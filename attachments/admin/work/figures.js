// What a document of work says, in words.
import { element } from '../../../client/timeline/dom.js'
import { scrub } from '../../../core/errors.js'
import { count } from '../../format.js'
import { texts } from '../words.js'
import { fromNow } from '../overview/part.js'
import { follows, timeLeft } from './runs.js'
import { span, speed } from './spans.js'

const words = texts.work
const LATE = 60 // seconds of lag that are not worth a word

/** `12 of 90 tiles` */
export function amount ({ done, total, unit = '' }) {
  if (!Number.isFinite(done)) return ''
  const noun = words.units[unit] ?? unit
  return total >= done ? words.ofTotal({ done: count(done), total: count(total), unit: noun }).trim() : `${count(done)} ${noun}`.trim()
}

/** How far, how fast, how long still, how it follows. @returns {string} */
export function figures (doc) {
  const { rate, failed, about } = doc
  const left = timeLeft(doc)
  return [
    follows(doc) && (words.follow[about.state] ?? about.state),
    about?.lag > LATE && words.behind(span(about.lag * 1000)),
    amount(doc),
    rate > 0 && speed(rate),
    left !== undefined && words.left(span(left)),
    failed > 0 && words.failures(failed),
    about?.refused > 0 && words.refused(about.refused)
  ].filter(Boolean).join(' · ')
}

/** From which store a mirror copies to which. @returns {string} */
export function route ({ about: { source, target } = /** @type {any} */ ({}) }) {
  const isKnown = typeof source === 'string' && typeof target === 'string'
  return isKnown ? words.route({ source: scrub(source), target: scrub(target) }) : ''
}

/** Who, where and since when. @returns {string} */
export function origin (doc, now) {
  const { user, host, started } = doc
  return [words.started(fromNow(Date.parse(started) - now)), user && words.by(user), host && words.on(host)]
    .filter(Boolean).join(' · ')
}

/** Which failed, some of them. @param {{failures?: string[], failed?: number}} doc */
export const failures = ({ failures: named = [], failed = named.length }) => named.length > 0 && element('details', null,
  element('summary', null, words.failures(Math.max(failed, named.length))),
  element('ul', { class: 'hint' }, named.map(each => element('li', null, String(each)))))
