// The tab that makes an image of the map, to save, share or print.
import { element } from '../../client/timeline/dom.js'
import { html, useState } from '../html.js'
import { takeWords as words } from '../words.js'
import { Making } from './making.js'
import { MAX_PIXELS, fileName } from './plan.js'
import { Preview, usePicture } from './preview.js'
import { SizePicker, useSize } from './size.js'
import { newContext, toPng } from './snapshot.js'

/** @param {import('./index.js').TabProps} props */
export function ImageTab ({ page, change }) {
  const { stage, view: { map } } = page
  const [isRunning, setRunning] = useState(false)
  const choice = useSize(map, 'screen')
  const { picture, refusal } = usePicture(page, choice, { change, maxPixels: MAX_PIXELS, isHeld: isRunning })

  /** @type {import('./making.js').Make} */
  async function make ({ signal, isLenient }) {
    const { snapshot, time } = /** @type {import('./preview.js').Picture} */ (picture)
    const context = newContext(choice.size)
    const missing = await snapshot.load(time, { signal, isLenient })
    const { dates: [date] } = snapshot.paint(context, time)
    const name = fileName(stage.doc?.layer ?? 'map', [date?.time ?? null], 'png')
    return { blob: await toPng(context.canvas), name, missing }
  }

  return html`<div class="tab">
    <${Preview} page=${page} picture=${picture} />
    <${SizePicker} map=${map} choice=${choice} />
    <${Making} page=${page} label=${words.makeImage} refusal=${refusal} make=${make} onRun=${setRunning}
      print=${({ blob }) => printImage(blob, words.preview)} />
  </div>`
}

/** Prints an image. It is in the page while printing, and everything else is not printed. */
async function printImage (blob, label) {
  const address = URL.createObjectURL(blob)
  const image = element('img', { class: 'take-print', alt: label, src: address })
  const end = () => {
    document.body.classList.remove('printing')
    image.remove()
    URL.revokeObjectURL(address)
  }
  try {
    await image.decode()
    document.body.append(image)
    document.body.classList.add('printing')
    addEventListener('afterprint', end, { once: true })
    print()
  } catch (error) {
    end()
    throw error
  }
}
