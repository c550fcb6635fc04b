// Whether somebody has signed in to the control room in this browser: then the viewer shows a link to it. Nobody else
// is asked for anything.

import { keepText, keptText } from './kept-text.js'

/** Of a store: an origin may have several. */
const name = () => `tilecouch-admin ${new URL('./', document.baseURI).pathname}`

export const hasSignedIn = () => keptText(name()) !== null

/** @param {boolean} is */
export const noteSignedIn = is => keepText(name(), is ? '1' : null)
