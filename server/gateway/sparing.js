// A log that does not repeat itself: an upstream that is down fails for every tile, and one line tells it.

const PAUSE = 10000 // milliseconds between two lines about the same

export class SparingLog {
  /** @type {Map<string, {until: number, more: number}>} */
  #said = new Map()

  /** @param {any} log nothing is fine */
  constructor (log, { pause = PAUSE, clock = performance } = {}) {
    this.log = log
    this.pause = pause
    this.clock = clock
  }

  /**
   * @param {'warn' | 'error'} level
   * @param {string} about what is the same: of few kinds, as layers and codes are
   * @param {Record<string, any>} details of this time
   * @param {string} text
   */
  say (level, about, details, text) {
    const now = this.clock.now()
    const said = this.#said.get(about)
    if (said && now < said.until) {
      said.more++
      return
    }
    this.#said.set(about, { until: now + this.pause, more: 0 })
    // how often it was left out since the last line
    this.log?.[level]?.({ ...details, ...(said?.more && { more: said.more }) }, text)
  }
}
