// Whether somebody has signed in to the control room in this browser: then the viewer shows a link to it. Nobody else
// is asked for anything.

/** Of a store: an origin may have several. */
const name = () => `tilecouch-admin ${new URL('./', document.baseURI).pathname}`

export function hasSignedIn () {
  try {
    return localStorage.getItem(name()) !== null
  } catch { // storage is switched off
    return false
  }
}

/** @param {boolean} is */
export function noteSignedIn (is) {
  try {
    if (is) localStorage.setItem(name(), '1')
    else localStorage.removeItem(name())
  } catch {
    // the link is not shown
  }
}
