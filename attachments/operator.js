// What the operator of the store says of the page: its name, its logo and its colour. See core/settings.js, which lets
// through only what is valid.
import { plainText } from '../core/text.js'

const NAME = 'tilecouch'

/** The name of the page: the operator's, or the program's. */
export const nameOf = settings => plainText(settings.title ?? NAME)

/**
 * @param {import('../core/settings.js').Settings} settings
 * @param {string} [logo] its address
 */
export function showOperator (settings, logo) {
  const { colours = {} } = settings
  const title = nameOf(settings)
  const heading = /** @type {HTMLElement} */ (document.querySelector('h1'))
  heading.firstChild?.replaceWith(title)
  document.title = title
  const image = /** @type {HTMLImageElement} */ (document.getElementById('logo'))
  if (logo) {
    const own = image.src
    image.addEventListener('error', () => { image.src = own }, { once: true })
    image.src = logo
    image.classList.add('own')
  }
  // used by base.css in the light and in the dark
  for (const [scheme, colour] of Object.entries(colours)) {
    document.documentElement.style.setProperty(`--accent-${scheme}`, colour)
  }
  document.documentElement.classList.toggle('coloured', Object.keys(colours).length > 0)
}
