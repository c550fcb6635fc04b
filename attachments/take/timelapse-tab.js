// A time-lapse of the map: which changes, how quick, as what; and what that will be, before it begins.
import { element } from '../../client/timeline/dom.js'
import { TakeError } from './errors.js'
import { Making } from './making.js'
import { fileName } from './numbers.js'
import { MAX_FRAMES, MOST_FRAME_PIXELS, bitrateOf, estimate, even, planFrames, timesOf } from './plan.js'
import { Preview } from './preview.js'
import { SizePicker } from './size.js'
import { Snapshot, newContext, toPng } from './snapshot.js'
import { drawTimelapse } from './timelapse.js'
import { codecOf, openWriter } from './writers.js'

const FORMATS = /** @type {const} */ (['gif', 'mp4', 'webm'])
const RATES = [1, 2, 4, 8, 12, 24] // frames a second

export class TimelapseTab {
  #page
  #preview
  #sizes
  #making
  #fields
  #plan
  /** @type {{perPixel: number, changes: {time: string, tiles: number}[], tiles: number} | null} of the map as it is */
  #known = null

  /** @param {import('./index.js').Page} page */
  constructor (page) {
    const { words, view: { map } } = page
    this.#page = page
    this.#preview = new Preview(page)
    this.#sizes = new SizePicker({
      words, map, mostPixels: MOST_FRAME_PIXELS, size: 'small', onChange: () => this.update()
    })
    this.#making = new Making(page, { label: words.makeTimelapse, make: options => this.#make(options) })
    const describe = () => this.#describe()
    const select = (values, chosen) => element('select', { on: { change: describe } },
      ...values.map(value => element('option', { value, selected: value === chosen }, page.numbers.count(value))))
    this.#fields = {
      format: element(
        'select',
        { on: { change: describe } },
        ...FORMATS.map(name => element('option', { value: name }, words.formats[name]))
      ),
      period: element('select', { on: { change: describe } }),
      fps: select(RATES, 4)
    }
    this.#plan = element('p', { class: 'plan', role: 'status' })
    const labelled = name => element('label', null, element('span', null, words[name]), this.#fields[name])
    this.node = element('div', { class: 'tab' },
      this.#preview.node, labelled('format'), this.#sizes.node, labelled('period'), labelled('fps'),
      this.#plan, this.#making.node)
    this.#offerVideos()
    this.update()
  }

  /** The map shows something else. */
  async update () {
    this.#sizes.refresh()
    this.#fillPeriods()
    if (this.#making.isRunning) return
    this.#known = null
    this.#describe()
    if (this.#sizes.problem) return this.#preview.stop()
    const shown = await this.#preview.draw(this.#sizes.value)
    const png = shown && await toPng(shown.canvas).catch(() => null)
    if (!shown || !png || !shown.canvas.isConnected) return
    const { changes, tiles, canvas } = shown
    this.#known = { changes, tiles, perPixel: png.size / (canvas.width * canvas.height) }
    this.#describe()
  }

  /** @returns {boolean} whether something was under way */
  close () {
    this.#preview.stop()
    return this.#making.close()
  }

  /** Frames a second. */
  get #fps () {
    return Number(this.#fields.fps.value)
  }

  get #format () {
    return /** @type {typeof FORMATS[number]} */ (this.#fields.format.value)
  }

  get #size () {
    return this.#format === 'gif' ? this.#sizes.value : even(this.#sizes.value)
  }

  get #range () {
    return this.#fields.period.value === 'range' ? this.#page.stage.range : null
  }

  /** All of the past, or what is chosen on the timeline. */
  #fillPeriods () {
    const { words, stage: { range }, written } = this.#page
    const { period } = this.#fields
    const between = range && words.between({ from: written(range.from), to: written(range.to) })
    const texts = { all: words.allOfThePast, ...between && { range: between } }
    if (JSON.stringify(texts) === period.dataset.texts) return
    const wasThere = Boolean(period.dataset.texts?.includes('"range"'))
    const chosen = range && (!wasThere || period.value === 'range') ? 'range' : 'all'
    period.dataset.texts = JSON.stringify(texts)
    period.replaceChildren(...Object.entries(texts).map(
      ([value, text]) => element('option', { value, selected: value === chosen }, text)
    ))
  }

  /** What cannot be made here cannot be chosen, and it says why. */
  async #offerVideos () {
    for (const option of this.#fields.format.options) {
      if (option.value === 'gif' || await codecOf(option.value, { width: 640, height: 480 }).catch(() => null)) continue
      option.disabled = true
      const why = this.#page.words[isSecureContext ? 'notHere' : 'needsHttps']
      option.textContent = `${this.#page.words.formats[option.value]} (${why})`
    }
  }

  /** Says what it will be, before it begins. */
  #describe () {
    if (this.#making.isRunning) return
    const { words, numbers } = this.#page
    const problem = this.#sizes.problem
    if (problem || !this.#known) {
      this.#plan.textContent = ''
      return this.#making.refuse(problem ?? words.looking)
    }
    const plan = planFrames(timesOf(this.#known.changes, this.#range), this.#fps)
    if (plan.times.length < 2) {
      this.#plan.textContent = ''
      return this.#making.refuse(words.problems.NOTHING_CHANGED)
    }
    const bytes = estimate(this.#format, plan, this.#size, { fps: this.#fps, ...this.#known })
    const left = plan.all > plan.times.length
    this.#plan.textContent = [
      words.plan({
        frames: numbers.count(plan.frames.length), length: numbers.seconds(plan.seconds), size: numbers.bytes(bytes)
      }),
      left && words.leftOut({
        shown: numbers.count(plan.times.length), all: numbers.count(plan.all), most: numbers.count(MAX_FRAMES)
      })
    ].filter(Boolean).join(' ')
    this.#making.refuse(null)
  }

  /** @type {import('./making.js').Make} */
  async #make ({ signal, lenient, onProgress }) {
    const { stage, written } = this.#page
    const [format, size, fps, range, layer] = [
      this.#format, this.#size, this.#fps, this.#range, stage.doc?.layer ?? 'map'
    ]
    this.#preview.stop()
    const snapshot = new Snapshot(this.#page, size)
    let writer
    try {
      await snapshot.read({ signal, lenient })
      const plan = planFrames(timesOf(snapshot.changes(), range), fps)
      if (plan.times.length < 2) throw new TakeError('NOTHING_CHANGED')
      const context = newContext(size, { reads: format === 'gif' })
      this.#preview.show(context.canvas)
      writer = await openWriter(format, { canvas: context.canvas, fps, bitrate: bitrateOf(size, fps) })
      signal.throwIfAborted()
      const options = { context, writer, written, signal, onProgress, lenient }
      const { blob, missing } = await drawTimelapse(snapshot, plan, options)
      return { blob, missing, name: fileName(layer, [plan.times[0], plan.times[plan.times.length - 1]], format) }
    } finally {
      writer?.close()
      snapshot.close()
    }
  }
}
