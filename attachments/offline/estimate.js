// What an area would take, whether there is room for it, and why not; asked again while somebody draws it.
import { element } from '../../client/timeline/dom.js'
import { checkFits, storageSize } from '../../client/offline/storage.js'
import { size } from '../format.js'
import { offlineWords as texts, words } from '../words.js'
import { lasting, problem } from './words.js'

const LARGE_SHARE = 0.8 // of the free room: the rest is soon gone
const NOTHING = { bytes: 0, versions: 0 }

/**
 * @param {{answer?: {figures: any, room: any}, error?: any}} estimate
 * @param {number} [rate] bytes a second of the last download
 * @returns {{tone: string, parts: (string | Node)[], isPossible: boolean}}
 */
export function estimateLine ({ answer, error }, rate) {
  if (!answer) return { tone: 'warn', parts: [problem(error)], isPossible: false }
  const { figures, room } = answer
  const { tiles, versions, bytes, transfer } = figures
  if (!versions) return { tone: '', parts: [texts.estimate.none], isPossible: false }
  const beside = [
    versions > tiles && words.versions(versions), rate && texts.estimate.about(lasting(transfer / rate))
  ].filter(Boolean).join(', ')
  const parts = [element('strong', null, `${words.tiles(tiles)} · ${size(bytes)}`), ...beside ? [` · ${beside}`] : []]
  try {
    checkFits('', figures, NOTHING, room)
  } catch (refusal) {
    return { tone: 'warn', parts: [...parts, element('small', null, problem(refusal))], isPossible: false }
  }
  if (room.free === undefined) return { tone: '', parts, isPossible: true }
  const isLarge = storageSize(figures) > LARGE_SHARE * room.free
  return {
    tone: isLarge ? 'warn' : '',
    parts: [
      ...parts,
      element('small', null, isLarge ? texts.estimate.most(size(room.free)) : texts.estimate.free(size(room.free)))
    ],
    isPossible: true
  }
}

export const ESTIMATE_DELAY = 250 // milliseconds without a change before the store is asked

export class Estimator {
  #ask
  #onAnswer
  #timer
  #turn = new AbortController()

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
    const { signal } = this.#turn
    this.#timer = setTimeout(async () => {
      const estimate = await this.#ask(spec, { signal }).then(answer => ({ answer }), error => ({ error }))
      if (!signal.aborted) this.#onAnswer(estimate)
    }, ESTIMATE_DELAY)
  }

  /** Nobody wants to know any more. */
  stop () {
    clearTimeout(this.#timer)
    this.#turn.abort()
    this.#turn = new AbortController()
  }
}
