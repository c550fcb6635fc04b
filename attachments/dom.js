// Icons of the pages, files to save, and functions that delay work.
import { element } from '../client/timeline/dom.js'

const DOWNLOAD_DELAY = 10000 // milliseconds until a download has begun

export const icons = {
  close: 'M6 6l12 12M18 6 6 18',
  download: 'M12 4v11M7 10.5 12 15.5 17 10.5M5 19.5h14',
  find: 'M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15 15l5 5',
  locate: 'M12 5.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13' +
    'M12 2.5v3M12 18.5v3M2.5 12h3M18.5 12h3M12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2',
  full: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  unfull: 'M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5',
  over: 'M12 3.5 3.5 8.5 12 13.5l8.5-5zM3.5 12.5 12 17.5l8.5-5M3.5 16.5 12 21.5l8.5-5',
  vector: 'M5 7.5 14 4l5.500 8-6 7.500L4.500 16zM5 7.500h.1M14 4h.1M19.500 12h.1M13.500 19.500h.1M4.500 16h.1',
  up: 'M12 19V5M6 11l6-6 6 6',
  down: 'M12 5v14M6 13l6 6 6-6'
}

/**
 * Moves the focus after an answer has come, unless the user has moved it out of the form meanwhile: typed text would go
 * into another field, and a press would miss a button that scrolls away.
 * @param {Element | null | undefined} form that had the focus @param {HTMLElement | null | undefined} target
 */
export function focusAfterAnswer (form, target) {
  const { activeElement, body } = document
  if (activeElement === body || form?.contains(activeElement)) target?.focus()
}

/** Saves a text as a file of the user. @param {string} text @param {string} name @param {string} type */
export function download (text, name, type) {
  const href = URL.createObjectURL(new Blob([text], { type }))
  element('a', { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), DOWNLOAD_DELAY)
}

/** Lets the browser draw and handle input before the next part of the page is made. */
export const breathe = () => new Promise(resolve => { setTimeout(resolve) })

/** Combines several calls into one, in the next frame or after a delay in milliseconds. */
export function soon (run, delay) {
  let isPending = false
  return () => {
    if (isPending) return
    isPending = true
    const runNow = () => {
      isPending = false
      run()
    }
    if (delay) setTimeout(runNow, delay)
    else requestAnimationFrame(runNow)
  }
}
