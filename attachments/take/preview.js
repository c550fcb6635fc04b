// The preview of the picture that the tabs make. The button draws the same snapshot in full size, so a layer that
// cannot be drawn is reported before that.
import { html, useAnswer, useRef } from '../html.js'
import { Hint } from '../parts.js'
import { takeWords as words } from '../words.js'
import { problem } from './errors.js'
import { previewSize, sizeProblem } from './size.js'
import { Snapshot, newContext } from './snapshot.js'

/**
 * @typedef {object} Picture
 * @property {Snapshot} snapshot
 * @property {string | null} time of the clock
 * @property {HTMLCanvasElement} canvas
 * @property {{time: string, tiles: number}[]} changes
 */

/**
 * The picture of the map.
 * @param {import('./index.js').Page} page
 * @param {import('./size.js').Choice} choice
 * @param {{change: number, maxPixels: number, isHeld: boolean}} options isHeld: keeps the present picture
 * @returns {{picture: Picture | undefined, refusal: string | null}} refusal: why nothing can be made, in words
 */
export function usePicture (page, choice, { change, maxPixels, isHeld }) {
  const { size } = choice
  const sizeFault = sizeProblem(size, maxPixels)
  const key = useRef('')
  if (!isHeld) key.current = sizeFault ? '' : [size.width / size.scale, size.height / size.scale, change].join(' ')
  const answer = useAnswer(async signal => {
    const { current } = key
    if (!current) return { key: current }
    try {
      return { key: current, picture: await draw(page, size, signal) }
    } catch (error) {
      return { key: current, error }
    }
  }, [key.current])
  const isCurrent = answer?.key === key.current
  return { picture: answer?.picture, refusal: sizeFault ?? refusalOf(isCurrent && answer, size, page) }
}

function refusalOf (answer, { width, height }, page) {
  if (!answer) return words.looking
  if (answer.error) return problem(answer.error, page)
  return Math.max(width, height) > answer.picture.snapshot.maxEdge
    ? words.problems.TOO_LARGE({ width, height })
    : null
}

/** Draws the preview. Leaves out images that do not load. @returns {Promise<Picture>} */
async function draw (page, size, signal) {
  const { time } = page.stage
  const snapshot = new Snapshot(page, size, signal)
  await snapshot.ready(signal)
  await snapshot.load(time, { signal, isLenient: true })
  const context = newContext(previewSize(size))
  snapshot.paint(context, time)
  return { snapshot, time, canvas: context.canvas, changes: snapshot.changes() }
}

/** canvas: shown instead of the picture while a time-lapse is drawn on it */
export function Preview ({ page, picture, canvas = picture?.canvas }) {
  const show = node => {
    if (!node || node.firstChild === canvas) return
    canvas.setAttribute('role', 'img')
    canvas.setAttribute('aria-label', words.preview)
    node.replaceChildren(canvas)
  }
  return html`
    ${canvas && html`<div class="preview" ref=${show}></div>`}
    ${picture?.snapshot.omitted.map(error => html`<${Hint}>${problem(error, page)}<//>`)}`
}
