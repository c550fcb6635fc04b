// Parts of the overview, and texts that several of them use.
import { element } from '../../../client/timeline/dom.js'
import { locale } from '../../words.js'

/**
 * A card that is drawn again only when what it shows has changed: what is chosen or open in it stays.
 * @template T
 * @param {string} head @param {(data: T) => any[]} draw nodes and texts
 * @returns {{element: HTMLElement, set: (data: T) => void}}
 */
export function part (head, draw, name = '') {
  const body = element('div', { class: 'body' })
  let known = ''
  return {
    element: element('section', { class: `card ${name}` }, element('h3', null, head), body),
    set (data) {
      const wanted = JSON.stringify(data)
      if (wanted === known) return
      known = wanted
      body.replaceChildren(...draw(data).flat().filter(Boolean))
    }
  }
}

/** What stands between backquotes is code. @param {string} text */
export const withCode = text =>
  text.split('`').map((piece, at) => at % 2 ? element('code', null, piece) : piece).filter(piece => piece !== '')

const UNITS = /** @type {[Intl.RelativeTimeFormatUnit, number][]} */ ([
  ['year', 365.25 * 86400e3], ['month', 30.44 * 86400e3], ['day', 86400e3], ['hour', 3600e3], ['minute', 60e3]
])
const MANY = 24 // months that are not yet said in years

/** `3 days ago`, `in 14 months` @param {number} ms from now on */
export function fromNow (ms) {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const months = Math.abs(ms) / UNITS[1][1]
  const [unit, size] = (months >= 1 && months < MANY ? UNITS[1] : UNITS.find(([, each]) => Math.abs(ms) >= each)) ?? ['minute', 60e3]
  return format.format(Math.round(ms / size), unit)
}
