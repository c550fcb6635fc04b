// Texts that the browser stores for this page. If it stores none (localStorage is full or not allowed), the next visit
// begins without them.
import { attempt } from '../core/values.js'

/** @param {string} name @returns {string | null} null: the browser has no such text */
export const keptText = name => attempt(() => localStorage.getItem(name)) ?? null

/** @param {string} name @param {string | null} text null: the text is removed */
export const keepText = (name, text) =>
  attempt(() => text === null ? localStorage.removeItem(name) : localStorage.setItem(name, text))

// Whether a user has signed in to the control room in this browser. If so, the viewer shows a link to it.

/** One name per store: an origin may have several stores. */
const signedInName = () => `tilecouch-admin ${new URL('./', document.baseURI).pathname}`

export const hasSignedIn = () => keptText(signedInName()) !== null

/** @param {boolean} isSignedIn */
export const noteSignedIn = isSignedIn => keepText(signedInName(), isSignedIn ? '1' : null)
