// Figures that follow while somebody drags: asked for when there is a moment's rest, and only the last ones count.

export const REST = 250 // milliseconds without a change before the store is asked

export class Estimator {
  #ask
  #onAnswer
  #timer
  #turn = new AbortController()

  /**
   * @param {(spec: any, options: {signal: AbortSignal}) => Promise<any>} ask
   * @param {(weighed: {answer?: any, error?: any}) => void} onAnswer
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
      const weighed = await this.#ask(spec, { signal }).then(answer => ({ answer }), error => ({ error }))
      if (!signal.aborted) this.#onAnswer(weighed)
    }, REST)
  }

  /** Nobody wants to know any more. */
  stop () {
    clearTimeout(this.#timer)
    this.#turn.abort()
    this.#turn = new AbortController()
  }
}
