// Milliseconds since 1970, read from the system once in a few: a tile in memory asks with every request whether it has expired.
const STEP = 5 // milliseconds a reading lasts

export class Clock {
  #time = 0

  now () {
    // no interval: a gateway that nobody asks should not wake up
    if (this.#time === 0) {
      this.#time = Date.now()
      setTimeout(() => { this.#time = 0 }, STEP).unref()
    }
    return this.#time
  }
}
