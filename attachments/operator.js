// The name, description, logo and colours that the operator of a store chose for its pages. core/settings.js lets only
// valid values through.
import { STORE_ID } from '../core/ids.js'
import { settingsOf } from '../core/settings.js'
import { plainText } from '../core/text.js'

const NAME = 'tilecouch'

/** The name of the page: the operator's, or the program's. */
export const nameOf = settings => plainText(settings.title ?? NAME)

/**
 * @param {import('../core/settings.js').Settings} settings
 * @param {string} [logo] its address
 */
export function showOperator (settings, logo) {
  const { colours = {}, description } = settings
  const title = nameOf(settings)
  const heading = /** @type {HTMLElement} */ (document.querySelector('h1'))
  heading.firstChild?.replaceWith(title)
  document.title = title
  const lead = document.getElementById('lead') // the viewer has one
  if (lead && description) lead.textContent = plainText(description)
  if (logo) showLogo(logo)
  // base.css uses them in the light and in the dark scheme
  for (const [scheme, colour] of Object.entries(colours)) {
    document.documentElement.style.setProperty(`--accent-${scheme}`, colour)
  }
  document.documentElement.classList.toggle('coloured', Object.keys(colours).length > 0)
}

/**
 * Shows the settings in the document of the store. The title of the window begins with that of the page.
 * @param {any} doc null if it cannot be read @param {string} db address of the database @param {string} title
 */
export function showStore (doc, db, title) {
  const settings = settingsOf(doc)
  showOperator(settings, settings.logo ?? (doc?._attachments?.logo && `${db}/${STORE_ID}/logo`))
  document.title = `${title} · ${nameOf(settings)}`
}

/** The logo of the program stays if this one does not load. */
function showLogo (address) {
  const image = /** @type {HTMLImageElement} */ (document.getElementById('logo'))
  const { src } = image
  image.addEventListener('error', () => { image.src = src }, { once: true })
  image.src = address
  image.classList.add('own')
}
