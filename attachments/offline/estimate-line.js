// What an area would take, whether there is room for it, and why not.
import { element } from '../dom.js'
import { plural, size } from '../format.js'
import { lasting, problem } from './words.js'

const LARGE = 0.8 // of the free room: the rest is soon gone

/**
 * @param {{figures?: any, error?: any}} answer
 * @param {{rate?: number, room?: (bytes: number) => number}} device rate: bytes a second of the last download
 * @returns {{tone: string, parts: (string | Node)[], isPossible: boolean}}
 */
export function estimateLine ({ figures, error }, { rate, room = bytes => bytes }) {
  if (error) return { tone: 'warn', parts: [problem(error)], isPossible: false }
  const { tiles, versions, bytes, transfer, free } = figures
  if (!versions) return { tone: '', parts: ['The store has no tiles here at these zooms.'], isPossible: false }
  const needed = room(bytes)
  const what = element('strong', null, `${plural(tiles, 'tile')} · ${size(bytes)}`)
  const beside = [versions > tiles && plural(versions, 'version'), rate && lasting(transfer / rate)].filter(Boolean).join(', ')
  const parts = [what, beside && `, ${beside}`].filter(Boolean)
  if (free !== undefined && needed > free) {
    return { tone: 'warn', parts: [...parts, element('small', null, `This does not fit: it needs ${size(needed)}, and ${size(free)} are free. Make it smaller, or leave out a zoom.`)], isPossible: false }
  }
  const isLarge = free !== undefined && needed > LARGE * free
  return { tone: isLarge ? 'warn' : '', parts: [...parts, free !== undefined && element('small', null, isLarge ? `That is most of the ${size(free)} that are free.` : `${size(free)} free on this device`)].filter(Boolean), isPossible: true }
}
