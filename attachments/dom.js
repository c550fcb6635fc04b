// Buttons, icons and images of the page.
import { element, svg } from '../client/timeline/dom.js'

/** @param {string} label @param {() => void} act @param {Record<string, any>} [attributes] */
export const button = (label, act, attributes) => element('button', { type: 'button', ...attributes, on: { click: act } }, label)

const icons = {
  close: 'M6 6l12 12M18 6 6 18',
  download: 'M12 4v11M7 10.5 12 15.5 17 10.5M5 19.5h14',
  compare: 'M12 3v18M8.5 8 4.5 12l4 4M15.5 8l4 4-4 4'
}

/** @param {keyof typeof icons} name */
export const icon = name => svg('svg', { viewBox: '0 0 24 24', width: 20, height: 20, 'aria-hidden': 'true' }, [svg('path', { d: icons[name] })])

/** Calls together what is asked for several times, in the next frame (or after so many milliseconds). */
export function soon (run, delay) {
  let waiting = false
  return () => {
    if (waiting) return
    waiting = true
    const then = () => {
      waiting = false
      run()
    }
    if (delay) setTimeout(then, delay)
    else requestAnimationFrame(then)
  }
}

/**
 * @param {Promise<string | undefined>} url
 * @returns {HTMLImageElement} without a source if there is no image or it cannot be loaded
 */
export function picture (url, attributes) {
  const image = element('img', { alt: '', ...attributes, on: { error: () => image.removeAttribute('src') } })
  url.then(found => { if (found) image.src = found }, () => {})
  return image
}
