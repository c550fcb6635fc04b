// Everything that is wrong with something, so that it can be mended at once and not piece by piece.
import { TilecouchError } from '../../core/index.js'

export class Problems {
  #first
  #onProblem

  /** @param {(error: TilecouchError) => void} [onProblem] told of all but the first, which `end` throws */
  constructor (onProblem) {
    this.#onProblem = onProblem
  }

  /** @param {() => void | Promise<void>} action */
  async try (action) {
    try {
      await action()
    } catch (error) {
      if (error.code === 'ABORTED' || !(error instanceof TilecouchError)) throw error
      if (this.#first) this.#onProblem?.(error)
      this.#first ??= error
    }
  }

  end () {
    if (this.#first) throw this.#first
  }
}
