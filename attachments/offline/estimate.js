// The estimate of a new area: its tiles and bytes, and whether they fit on the device. It follows changes of the form.
import { checkFits, storageSize } from '../../client/offline/storage.js'
import { size } from '../format.js'
import { html, useEffect, useState } from '../html.js'
import { offlineWords as texts, words } from '../words.js'
import { lasting, problem } from './words.js'

const LARGE_SHARE = 0.8 // share of the free room, above which an area counts as large
const NOTHING = { bytes: 0, versions: 0 }

export const ESTIMATE_DELAY = 250 // milliseconds without a change before the store is asked

/**
 * @typedef {object} Line
 * @property {'' | 'warn'} [tone]
 * @property {string} [amount] tiles and bytes
 * @property {string} [text] after the amount, or alone
 * @property {string} [note] in small letters
 * @property {boolean} [isPossible] whether the area can be downloaded
 */

/** @type {Line} */
const NO_SHAPE = { text: texts.form.threeCorners }

/**
 * @param {{answer?: {figures: any, room: any}, error?: any}} estimate
 * @param {number} rate bytes a second of the last download; 0 if there was none
 * @returns {Line}
 */
export function estimateLine ({ answer, error }, rate) {
  if (!answer) return { tone: 'warn', text: problem(error) }
  const { figures, room } = answer
  const { tiles, versions, bytes, transfer } = figures
  if (!versions) return { text: texts.estimate.none }
  const amount = `${words.tiles(tiles)} · ${size(bytes)}`
  const details = [versions > tiles && words.versions(versions), rate && texts.estimate.about(lasting(transfer / rate))]
  const text = details.filter(Boolean).map((detail, index) => index ? `, ${detail}` : ` · ${detail}`).join('')
  try {
    checkFits('', figures, NOTHING, room)
  } catch (refusal) {
    return { tone: 'warn', amount, text, note: problem(refusal) }
  }
  if (room.free === undefined) return { amount, text, isPossible: true }
  const isLarge = storageSize(figures) > LARGE_SHARE * room.free
  const note = texts.estimate[isLarge ? 'most' : 'free'](size(room.free))
  return { tone: isLarge ? 'warn' : '', amount, text, note, isPossible: true }
}

/** @param {{line: Line, isWaiting: boolean}} props */
export const Estimate = ({ line: { tone = '', amount, text, note }, isWaiting }) => html`<p
  class=${`estimate ${tone} ${isWaiting ? 'waiting' : ''}`} role="status">
  ${amount && html`<strong>${amount}</strong>`}
  ${text}
  ${note && html`<small>${note}</small>`}
</p>`

/**
 * @param {any} offline the OfflineStore
 * @param {import('./sketch.js').Sketch} sketch
 * @param {() => any} specOf the present spec of the area; undefined while it has no shape
 * @param {any[]} inputs of the description, other than the sketch
 * @param {number} rate bytes a second of the last download
 * @returns {[{line: Line, isWaiting: boolean}, (line: Line) => void]} the second shows another line
 */
export function useEstimate (offline, sketch, specOf, inputs, rate) {
  const [state, setState] = useState({ line: /** @type {Line} */ ({}), isWaiting: true })
  const show = line => setState(
    before => before.line === line && !before.isWaiting ? before : { line, isWaiting: false }
  )
  const wait = () => setState(before => before.isWaiting ? before : { ...before, isWaiting: true })

  async function ask (spec, { signal }) {
    const room = offline.storage().catch(() => ({}))
    return { figures: await offline.areas.estimate(spec, { signal }), room: await room }
  }

  useEffect(() => {
    const estimator = new Estimator(ask, estimate => show(estimateLine(estimate, rate)))
    const follow = () => {
      const spec = specOf()
      if (spec) {
        wait()
        estimator.follow(spec)
      } else {
        estimator.stop()
        show(NO_SHAPE)
      }
    }
    follow()
    sketch.on('change', follow)
    return () => {
      sketch.off('change', follow)
      estimator.stop()
    }
  }, inputs)
  return [state, show]
}

/** Requests an estimate after a pause. Only the answer to the last request counts. */
export class Estimator {
  #ask
  #onAnswer
  #timer
  #request = new AbortController()

  /**
   * @param {(spec: any, options: {signal: AbortSignal}) => Promise<any>} ask
   * @param {(estimate: {answer?: any, error?: any}) => void} onAnswer
   */
  constructor (ask, onAnswer) {
    this.#ask = ask
    this.#onAnswer = onAnswer
  }

  /** @param {any} spec of an area */
  follow (spec) {
    this.stop()
    const { signal } = this.#request
    this.#timer = setTimeout(async () => {
      const estimate = await this.#ask(spec, { signal }).then(answer => ({ answer }), error => ({ error }))
      if (!signal.aborted) this.#onAnswer(estimate)
    }, ESTIMATE_DELAY)
  }

  stop () {
    clearTimeout(this.#timer)
    this.#request.abort()
    this.#request = new AbortController()
  }
}
