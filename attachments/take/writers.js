// Write the frames of a time-lapse: as a GIF, in a worker, or as a video with the encoders of the browser. All have the
// same interface:
//   add(context, seconds)   takes what the canvas shows; resolves when the next frame may be drawn
//   end()                   the file
//   close()                 ends everything, also in the middle
import {
  BufferTarget, CanvasSource, Mp4OutputFormat, Output, WebMOutputFormat, getFirstEncodableVideoCodec
} from 'mediabunny'
import { TakeError } from './errors.js'
import workerCode from './gif-worker.js?worker'

/**
 * @typedef {{add: (context: CanvasRenderingContext2D, seconds: number) => Promise<void>, end: () => Promise<Blob>,
 *   close: () => void}} Writer
 */

class GifWriter {
  #address = URL.createObjectURL(new Blob([workerCode], { type: 'text/javascript' }))
  #worker
  /** @type {Promise<any>} the frame before */
  #last = Promise.resolve()
  /** @type {Promise<never>} rejects when the worker does not run */
  #broken

  constructor () {
    this.#worker = new Worker(this.#address)
    this.#broken = new Promise((resolve, reject) => {
      this.#worker.addEventListener('error', event => {
        event.preventDefault()
        reject(new TakeError('WORKER'))
      })
    })
    this.#broken.catch(() => {}) // whoever asks the worker hears of it
  }

  /** The next frame may be drawn while this one is packed. */
  async add (context, seconds) {
    const { width, height } = context.canvas
    const { data: { buffer } } = context.getImageData(0, 0, width, height)
    await this.#last
    this.#last = this.#ask({ pixels: buffer, width, height, delay: seconds * 1000 }, [buffer])
    this.#last.catch(() => {}) // the next call tells of it
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

function openGif () {
  try {
    return new GifWriter()
  } catch { // a policy forbids workers
    throw new TakeError('WORKER')
  }
}

/** The codecs that every player of such files has come first. */
const videos = {
  mp4: { type: 'video/mp4', codecs: ['avc'], make: () => new Mp4OutputFormat({ fastStart: 'in-memory' }) },
  webm: { type: 'video/webm', codecs: ['vp9', 'vp8', 'av1'], make: () => new WebMOutputFormat() }
}

/**
 * The codec that this browser writes such a video with.
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

  /** A frame that stays is written again: not every player knows of frames that last longer. */
  async add (context, seconds) {
    for (let left = Math.max(1, Math.round(seconds * this.#fps)); left > 0; left--) {
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
  if (format === 'gif') return openGif()
  const codec = await codecOf(format, options.canvas)
  if (codec) return new VideoWriter(format, codec, options).start()
  throw new TakeError(typeof VideoEncoder === 'function' ? 'NO_CODEC' : isSecureContext ? 'NO_WEBCODECS' : 'INSECURE')
}
