// Finds the batch size and the number of batches in flight while a load runs: it climbs on throughput and steps back on
// trouble.
//
// One setting is tried per window. A neighbour that is clearly faster becomes the new best; when no neighbour is, the
// best is kept. It is compared with its neighbours again now and then, since the speed of a server changes over hours.

export const tunerDefaults = {
  batchBytes: 2e6, // bytes of tiles in a batch to start with
  maxBatchBytes: 4e6, // bytes of tiles in a batch at most: bounds what is sent again after a lost connection
  maxBytesInFlight: 20e6, // bytes of tiles in all batches in flight: bounds memory
  startBatch: 200, // documents in a batch to start with
  minBatch: 20, // documents
  maxBatch: 4000, // documents
  startConcurrency: 8, // batches in flight to start with, for a layer with tiles
  firstConcurrency: 4, // the same for a layer without tiles: more would only take more memory
  maxConcurrency: 12, // batches in flight
  margin: 0.025, // a setting must be this much faster to win: windows are noisy
  windowBatches: 6, // batches a window holds at least
  windowTime: 600, // milliseconds a window lasts at least
  rest: 60 // windows between two rounds of trials once settled
}

export class Tuner {
  #trials = []
  #best
  #window = { count: 0, batches: 0, start: 0 }
  #resting = 0
  #settleFirst = true

  /**
   * @param {Partial<typeof tunerDefaults> &
   *   {batch?: number, concurrency?: number, isFirst?: boolean, clock?: () => number}} [options] batch,
   *   concurrency: fixed values; isFirst: the layer has no tiles
   */
  constructor ({ batch, concurrency, isFirst = false, clock = () => performance.now(), ...options } = {}) {
    this.options = { ...tunerDefaults, ...options }
    this.fixed = { batch, concurrency }
    this.clock = clock
    this.batch = batch ?? this.options.startBatch
    const { firstConcurrency, startConcurrency } = this.options
    this.concurrency = concurrency ?? (isFirst ? firstConcurrency : startConcurrency)
    this.#best = { batch: this.batch, concurrency: this.concurrency, rate: 0 }
  }

  /** Whether a batch with this number of tiles and bytes should be sent. */
  isFull (tiles, bytes) {
    return tiles >= this.batch || bytes >= this.options.maxBatchBytes
  }

  /** Whether another batch of so many bytes may be sent. A single batch always may, whatever its size. */
  mayStart (bytes, batches, bytesInFlight) {
    return batches === 0 || (batches < this.concurrency && bytesInFlight + bytes <= this.options.maxBytesInFlight)
  }

  /** Sets the first batch size by the average bytes of a tile: small tiles need larger batches. */
  seed (averageBytes) {
    if (this.fixed.batch || this.#best.rate) return
    this.batch = this.#clampBatch(Math.min(this.options.batchBytes / averageBytes, 5 * this.options.startBatch))
    this.#best.batch = this.batch
  }

  /** Tells that a batch has been stored. */
  record (tiles) {
    if (this.fixed.batch && this.fixed.concurrency) return
    const time = this.clock()
    const window = this.#window
    if (!window.start) return this.#open(time)
    window.count += tiles
    window.batches++
    const leastBatches = Math.max(this.options.windowBatches, this.concurrency)
    if (window.batches < leastBatches || time - window.start < this.options.windowTime) return
    const rate = window.count / (time - window.start)
    // the first window is not compared: it includes the time to open connections and files
    if (this.#settleFirst) this.#settleFirst = false
    else this.#compare(rate)
    this.#open(time)
  }

  /** Tells that the server was in trouble (429, 5xx, lost connections): half as many batches in flight. */
  trouble () {
    if (!this.fixed.concurrency) this.concurrency = Math.max(1, this.concurrency >> 1)
    this.#best = { ...this.#best, concurrency: this.concurrency, rate: 0 }
    this.#trials = []
    this.#open(this.clock())
  }

  #open (time) {
    this.#window = { count: 0, batches: 0, start: time }
  }

  #compare (rate) {
    const current = { batch: this.batch, concurrency: this.concurrency, rate }
    if (isSame(current, this.#best)) {
      // update the rate of the best by the mean, so that one lucky window does not decide
      this.#best.rate = this.#best.rate ? (this.#best.rate + rate) / 2 : rate
    } else if (rate > this.#best.rate * (1 + this.options.margin)) {
      this.#trials = [this.#onward(this.#best, current)]
      this.#best = current
      this.#resting = 0 // a new best: try its neighbours at once
    }
    this.#next()
  }

  #next () {
    let trial
    while (this.#trials.length && !trial) {
      const next = this.#trials.shift()
      if (!isSame(next, this.#best)) trial = next
    }
    if (!trial && this.#resting-- <= 0) {
      this.#trials = this.#neighbours()
      this.#resting = this.options.rest
      trial = this.#trials.shift()
    }
    Object.assign(this, settingOf(trial ?? this.#best))
  }

  // the same step once more, after it was faster
  #onward (from, to) {
    return {
      batch: this.#clampBatch(to.batch * to.batch / from.batch),
      concurrency: this.#clampConcurrency(2 * to.concurrency - from.concurrency)
    }
  }

  #neighbours () {
    const { batch, concurrency } = this.#best
    return [
      { batch, concurrency: Math.floor(concurrency / 1.4) },
      { batch, concurrency: Math.ceil(concurrency * 1.4) },
      { batch, concurrency: concurrency - 1 },
      { batch, concurrency: concurrency + 1 },
      { batch: batch * 1.6, concurrency },
      { batch: batch / 1.6, concurrency },
      { batch: batch * 1.2, concurrency },
      { batch: batch / 1.2, concurrency }
    ].map(trial => ({ batch: this.#clampBatch(trial.batch), concurrency: this.#clampConcurrency(trial.concurrency) }))
      .filter(trial => !isSame(trial, this.#best))
  }

  #clampBatch (value) {
    return this.fixed.batch ?? Math.round(Math.min(Math.max(value, this.options.minBatch), this.options.maxBatch))
  }

  #clampConcurrency (value) {
    return this.fixed.concurrency ?? Math.min(Math.max(value, 1), this.options.maxConcurrency)
  }
}

const isSame = (a, b) => a.batch === b.batch && a.concurrency === b.concurrency

const settingOf = ({ batch, concurrency }) => ({ batch, concurrency })
