// The picture that the tabs make, drawn small. The same snapshot is drawn large when the button is pressed, so a layer
// that cannot be drawn is reported before that.
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
 * The picture of what the map shows.
 * @param {import('./index.js').Page} page
 * @param {import('./size.js').Choice} choice
 * @param {{change: number, maxPixels: number, isHeld: boolean}} options isHeld: the picture stays the same for now
 * @returns {{picture: Picture | undefined, refusal: string | null}} refusal: why nothing can be made, in words
 */
export function usePicture (page, choice, { change, maxPixels, isHeld }) {
  const { size } = choice
  const wrong = sizeProblem(size, maxPixels)
  const key = useRef('')
  if (!isHeld) key.current = wrong ? '' : [size.width / size.scale, size.height / size.scale, change].join(' ')
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
  return { picture: answer?.picture, refusal: wrong ?? refusalOf(isCurrent && answer, size, page) }
}

function refusalOf (answer, { width, height }, page) {
  if (!answer) return words.looking
  if (answer.error) return problem(answer.error, page)
  return Math.max(width, height) > answer.picture.snapshot.maxEdge
    ? words.problems.TOO_LARGE({ width, height })
    : null
}

/** Images that do not load are left out here. @returns {Promise<Picture>} */
async function draw (page, size, signal) {
  const { time } = page.stage
  const snapshot = new Snapshot(page, size, signal)
  await snapshot.ready(signal)
  await snapshot.load(time, { signal, isLenient: true })
  const context = newContext(previewSize(size))
  snapshot.paint(context, time)
  return { snapshot, time, canvas: context.canvas, changes: snapshot.changes() }
}

/** canvas: the one that is shown instead of the picture, while it is drawn on */
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
