// The tab that makes a time-lapse of the map: its changes, rate, format and size, and an estimate of length and bytes.
import { html, useAnswer, useEffect, useState } from '../html.js'
import { Field } from '../parts.js'
import { language, takeWords as words } from '../words.js'
import { Making } from './making.js'
import { MAX_FRAMES, MAX_FRAME_PIXELS, bitrateOf, estimate, even, fileName, planFrames, timesOf } from './plan.js'
import { Preview, usePicture } from './preview.js'
import { SizePicker, useSize } from './size.js'
import { newContext, toPng } from './snapshot.js'
import { codecOf, openWriter, writeFrames } from './writers.js'

const FORMATS = /** @type {const} */ (['gif', 'mp4', 'webm'])
const RATES = [1, 2, 4, 8, 12, 24] // frames a second

/** @param {import('./index.js').TabProps} props */
export function TimelapseTab ({ page, change }) {
  const { count, stage, view: { map } } = page
  const { range } = stage
  /** @type {[typeof FORMATS[number], (format: any) => void]} */
  const [format, setFormat] = useState('gif')
  const [fps, setFps] = useState(4)
  const [period, setPeriod] = useState('range') // if a range is chosen
  const [canvas, setCanvas] = useState(/** @type {HTMLCanvasElement | undefined} */ (undefined))
  const [isRunning, setRunning] = useState(false)
  const choice = useSize(map, 'small')
  const { picture, refusal } = usePicture(page, choice, { change, maxPixels: MAX_FRAME_PIXELS, isHeld: isRunning })
  const perPixel = useAnswer(() => bytesPerPixel(picture), [picture])
  const writable = useAnswer(() => Promise.all(FORMATS.map(canWrite)), [])
  useEffect(() => { if (!range) setPeriod('range') }, [!range])
  useEffect(() => { setCanvas(undefined) }, [picture])

  const plan = planFrames(timesOf(picture?.changes ?? [], period === 'range' ? range : null), fps)
  const size = format === 'gif' ? choice.size : even(choice.size)
  const isStill = plan.times.length < 2
  const isPlanned = refusal === null && !isStill && perPixel !== undefined

  /** @type {import('./making.js').Make} */
  async function make ({ signal, isLenient, onProgress }) {
    const { snapshot } = /** @type {import('./preview.js').Picture} */ (picture)
    const context = newContext(size, { reads: format === 'gif' })
    const show = (done, all) => {
      setCanvas(context.canvas) // it was black before the first frame
      onProgress(done, all)
    }
    const writer = await openWriter(format, { canvas: context.canvas, fps, bitrate: bitrateOf(size, fps) })
    try {
      signal.throwIfAborted()
      const made = await writeFrames(writer, {
        snapshot, plan, context, signal, isLenient, onProgress: show
      })
      const name = fileName(stage.doc?.layer ?? 'map', [plan.times[0], plan.times[plan.times.length - 1]], format)
      return { ...made, name }
    } finally {
      writer.close()
    }
  }

  const periods = [['all', words.allOfThePast], ...range ? [['range', words.range]] : []]
  return html`<div class="tab">
    <${Preview} page=${page} picture=${picture} canvas=${canvas} />
    <${Field} label=${words.format} value=${format} onChange=${setFormat}
      options=${FORMATS.map((name, index) => formatOption(name, writable?.[index] ?? true))} />
    <${SizePicker} map=${map} choice=${choice} />
    <div class="pair">
      <${Field} label=${words.period} value=${range ? period : 'all'} onChange=${setPeriod} options=${periods} />
      <${Field} label=${words.fps} value=${String(fps)} onChange=${value => setFps(Number(value))}
        options=${RATES.map(rate => [String(rate), count(rate)])} />
    </div>
    <p class="plan" role="status">
      ${isPlanned && planWords(plan, estimate(format, plan, size, { fps, perPixel, ...tilesOf(picture) }), page)}
    </p>
    <${Making} page=${page} label=${words.makeTimelapse} make=${make} onRun=${setRunning}
      refusal=${refusal ?? (isStill ? words.problems.NOTHING_CHANGED : null)} />
  </div>`
}

const tilesOf = ({ changes, snapshot }) => ({ changes, tiles: snapshot.tiles })

/** The bytes per pixel of a frame as a PNG. */
async function bytesPerPixel (picture) {
  const { canvas } = picture
  return (await toPng(canvas)).size / (canvas.width * canvas.height)
}

const canWrite = async format => format === 'gif' ||
  await codecOf(format, { width: 640, height: 480 }).catch(() => null) !== null

/** The option of a format. A format that the browser cannot write is disabled, with the reason. */
function formatOption (name, isWritable) {
  if (isWritable) return [name, words.formats[name]]
  return [name, `${words.formats[name]} (${isSecureContext ? words.notHere : words.needsHttps})`, true]
}

function planWords (plan, bytes, { count, size }) {
  const { frames, times, seconds, all } = plan
  const unit = { style: 'unit', unit: 'second', unitDisplay: 'long', maximumFractionDigits: 1 }
  const length = new Intl.NumberFormat(language, /** @type {any} */ (unit)).format(seconds)
  const texts = [words.plan({ frames: count(frames.length), length, size: size(bytes) })]
  if (all > times.length) {
    const [shown, total, most] = [times.length, all, MAX_FRAMES].map(count)
    texts.push(words.leftOut({ shown, all: total, most }))
  }
  return texts.join(' ')
}
