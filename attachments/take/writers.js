// Write the frames of a time-lapse: as a GIF, in a worker, or as a video with the encoders of the browser. All writers
// have the same interface:
//   add(context, seconds)   takes the picture of the canvas; resolves when the next frame may be drawn
//   end()                   resolves to the file
//   close()                 stops everything, even before the end
import {
  BufferTarget, CanvasSource, Mp4OutputFormat, Output, WebMOutputFormat, getFirstEncodableVideoCodec
} from 'mediabunny'
import { raceAbort } from '../../core/promises.js'
import { TakeError } from './errors.js'
import workerCode from './gif-worker.js?worker'

/**
 * @typedef {{add: (context: CanvasRenderingContext2D, seconds: number) => Promise<void>, end: () => Promise<Blob>,
 *   close: () => void}} Writer
 */

/**
 * Draws a time-lapse, frame by frame.
 * @param {Writer} writer
 * @param {object} options
 * @param {import('./snapshot.js').Snapshot} options.snapshot
 * @param {import('./plan.js').Plan} options.plan
 * @param {CanvasRenderingContext2D} options.context of the canvas that the writer reads
 * @param {AbortSignal} options.signal
 * @param {boolean} options.isLenient images that do not load are left out
 * @param {(done: number, all: number) => void} options.onProgress
 * @returns {Promise<{blob: Blob, missing: number}>}
 */
export async function writeFrames (writer, { snapshot, plan, context, signal, isLenient, onProgress }) {
  let missing = 0
  for (const [index, { time, seconds }] of plan.frames.entries()) {
    missing += await snapshot.load(time, { signal, next: plan.frames[index + 1]?.time, isLenient })
    snapshot.paint(context, time)
    await raceAbort(writer.add(context, seconds), signal)
    onProgress(index + 1, plan.frames.length)
    await nextTask()
  }
  return { blob: await raceAbort(writer.end(), signal), missing }
}

/** Lets the page work between two frames. A timer would wait for a second in a tab in the background. */
function nextTask () {
  return new Promise(resolve => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve(undefined)
    }
    port2.postMessage(null)
  })
}

class GifWriter {
  #address = URL.createObjectURL(new Blob([workerCode], { type: 'text/javascript' }))
  #worker
  /** @type {Promise<any>} the previous frame */
  #last = Promise.resolve()
  /** @type {Promise<never>} rejects when the worker does not run */
  #broken

  constructor () {
    try {
      this.#worker = new Worker(this.#address)
    } catch { // a policy forbids workers
      throw new TakeError('WORKER')
    }
    this.#broken = new Promise((resolve, reject) => {
      this.#worker.addEventListener('error', event => {
        event.preventDefault()
        reject(new TakeError('WORKER'))
      })
    })
    this.#broken.catch(() => {}) // reported by the next call
  }

  /** The next frame may be drawn while this one is packed. */
  async add (context, seconds) {
    const { width, height } = context.canvas
    const { data: { buffer } } = context.getImageData(0, 0, width, height)
    await this.#last
    this.#last = this.#ask({ pixels: buffer, width, height, delay: seconds * 1000 }, [buffer])
    this.#last.catch(() => {}) // reported by the next call
  }

  async end () {
    await this.#last
    const { bytes } = await this.#ask({}, [])
    return new Blob([bytes], { type: 'image/gif' })
  }

  close () {
    this.#worker.terminate()
    URL.revokeObjectURL(this.#address)
  }

  #ask (message, transfer) {
    const answer = new Promise((resolve, reject) => {
      this.#worker.addEventListener('message', ({ data }) => {
        if (data.error === undefined) resolve(data)
        else reject(data.isRoom ? new TakeError('NO_ROOM') : new Error(data.error))
      }, { once: true })
    })
    this.#worker.postMessage(message, transfer)
    return Promise.race([answer, this.#broken])
  }
}

/** The formats of videos. Codecs that most players support come first. */
const videos = {
  mp4: { type: 'video/mp4', codecs: ['avc'], make: () => new Mp4OutputFormat({ fastStart: 'in-memory' }) },
  webm: { type: 'video/webm', codecs: ['vp9', 'vp8', 'av1'], make: () => new WebMOutputFormat() }
}

/**
 * The codec with which this browser writes a video.
 * @param {'mp4' | 'webm'} format @param {{width: number, height: number}} size
 * @returns {Promise<string | null>} null: it cannot
 */
export async function codecOf (format, { width, height }) {
  if (typeof VideoEncoder !== 'function') return null
  return getFirstEncodableVideoCodec(/** @type {any} */ (videos[format].codecs), { width, height })
}

class VideoWriter {
  #output
  #source
  #fps
  #type
  #frames = 0

  constructor (format, codec, { canvas, fps, bitrate }) {
    const { type, make } = videos[format]
    this.#fps = fps
    this.#type = type
    this.#output = new Output({ format: make(), target: new BufferTarget() })
    this.#source = new CanvasSource(canvas, { codec, bitrate })
    this.#output.addVideoTrack(this.#source, { frameRate: fps })
  }

  async start () {
    await this.#output.start()
    return this
  }

  /** Writes a long frame several times: not every player supports frames of different lengths. */
  async add (context, seconds) {
    for (let repeats = Math.max(1, Math.round(seconds * this.#fps)); repeats > 0; repeats--) {
      await this.#source.add(this.#frames++ / this.#fps, 1 / this.#fps)
    }
  }

  async end () {
    await this.#output.finalize()
    return new Blob([/** @type {any} */ (this.#output.target).buffer], { type: this.#type })
  }

  close () {
    if (['pending', 'started'].includes(this.#output.state)) this.#output.cancel().catch(() => {})
  }
}

/**
 * @param {'gif' | 'mp4' | 'webm'} format
 * @param {{canvas: HTMLCanvasElement, fps: number, bitrate: number}} options
 * @returns {Promise<Writer>}
 */
export async function openWriter (format, options) {
  if (format === 'gif') return new GifWriter()
  const codec = await codecOf(format, options.canvas)
  if (codec) return new VideoWriter(format, codec, options).start()
  if (typeof VideoEncoder === 'function') throw new TakeError('NO_CODEC')
  throw new TakeError(isSecureContext ? 'NO_WEBCODECS' : 'INSECURE')
}
