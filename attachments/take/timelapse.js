// Draws a time-lapse, frame by frame, on a canvas of its own.
import { raceAbort } from '../../core/promises.js'
import { writeCaption } from './caption.js'

/**
 * @param {import('./snapshot.js').Snapshot} snapshot that knows its versions
 * @param {import('./plan.js').Plan} plan
 * @param {object} options
 * @param {CanvasRenderingContext2D} options.context of the canvas that the writer reads
 * @param {import('./writers.js').Writer} options.writer
 * @param {(time: string | null) => string} options.written a time as the page writes it
 * @param {AbortSignal} options.signal
 * @param {(done: number, all: number) => void} options.onProgress
 * @param {boolean} [options.lenient] images that do not load are left out
 * @returns {Promise<{blob: Blob, missing: number}>}
 */
export async function drawTimelapse (snapshot, plan, { context, writer, written, signal, onProgress, lenient }) {
  let missing = 0
  for (const [at, { time, seconds }] of plan.frames.entries()) {
    const picture = await snapshot.load(time, { signal, next: plan.frames[at + 1]?.time, lenient })
    snapshot.paint(context, picture)
    missing += picture.missing
    writeCaption(context, snapshot.caption(time), { scale: snapshot.size.scale, written })
    await raceAbort(writer.add(context, seconds), signal)
    onProgress(at + 1, plan.frames.length)
    await nextTask()
  }
  return { blob: await raceAbort(writer.end(), signal), missing }
}

/** Lets the page live between two frames. Not by a timer: in a tab that is not looked at, these wait for a second. */
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
