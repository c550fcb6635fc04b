// How much room the disk has left, and when it will be full.
import { element } from '../../../client/timeline/dom.js'
import { percent, size } from '../../format.js'
import { texts } from '../words.js'
import { command } from '../command.js'
import { fullAt } from './growth.js'
import { fromNow, part, withCode } from './part.js'

const words = texts.overview.disk
const copy = texts.overview.needs.copy
const MONTH = 30.44 // days
const FAR = 30 * 365.25 * 86_400_000 // milliseconds for which no estimate holds

/**
 * @typedef {object} Disk
 * @property {{free: number, size: number, seen: string, full: string | null, aMonth: number} | null} room seen: when
 * @property {string} [why] it is not known
 * @property {boolean} isEmbedded
 */

/** @returns {{element: HTMLElement, set: (data: Disk) => void}} */
export const disk = () => part(words.head, ({ room, why, isEmbedded }) => room
  ? [
      element('p', null, element('strong', null, words.free({ free: size(room.free), size: size(room.size) }))),
      element('meter', {
        min: 0, max: 1, value: 1 - room.free / room.size, high: 0.9, low: 0.8, optimum: 0,
        'aria-label': words.meter(percent(1 - room.free / room.size))
      }),
      element('p', { class: 'hint' }, withCode(words.seen(room.seen))),
      room.full ? element('p', { class: 'full' }, element('strong', null, words.full(room.full))) : null,
      element('p', { class: 'hint' }, !room.aMonth ? words.never : `${room.full ? '' : `${words.far} `}${words.estimate(size(room.aMonth))}`)
    ]
  : [
      element('p', null, words.unknown),
      why && element('p', { class: 'hint' }, words.why(why)),
      element('p', { class: 'hint' }, isEmbedded ? words.learnEmbedded : words.learn),
      command(isEmbedded ? 'tilecouch doctor --data FOLDER' : 'tilecouch doctor',
        copy(isEmbedded ? 'tilecouch doctor --data FOLDER' : 'tilecouch doctor'))
    ], 'disk')

/**
 * What is known of the disk, from the newest report that saw it.
 * @param {any[]} work documents @param {any} report the newest @param {number} aDay bytes that the disk fills a day
 * @param {number} now milliseconds @param {boolean} isEmbedded
 * @returns {Disk}
 */
export function diskOf (work, report, aDay, now, isEmbedded) {
  let newest
  for (const doc of work) {
    const { free, size: whole } = doc.command === 'doctor' && doc.about?.disk || {}
    if (free >= 0 && whole > 0 && (!newest || doc._id > newest._id)) newest = doc
  }
  const why = report?.about.findings.find(({ area, check }) => area === 'disk' && check === 'room')?.found
  if (!newest) return { room: null, ...(why && { why }), isEmbedded }
  const at = Date.parse(newest.finished ?? newest.seen)
  const { free, size: whole } = newest.about.disk
  const full = fullAt({ free, at }, aDay)
  return {
    room: {
      free,
      size: whole,
      seen: fromNow(at - now),
      full: full === null || full - now > FAR ? null : fromNow(Math.max(0, full - now)),
      aMonth: aDay * MONTH
    },
    isEmbedded
  }
}
