// Elements without a framework. Text goes in as text: nothing that a store holds becomes markup.

/**
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes] `on` is an object of listeners; null and false leave an attribute out
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {any}
 */
export function element (tag, attributes, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === 'on') for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener)
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value)
  }
  node.append(...children.filter(child => child !== null && child !== undefined && child !== false))
  return node
}

/** @param {string} label @param {() => void} act @param {Record<string, any>} [attributes] */
export const button = (label, act, attributes) => element('button', { type: 'button', ...attributes, on: { click: act } }, label)

const SVG = 'http://www.w3.org/2000/svg'

const icons = {
  close: 'M6 6l12 12M18 6 6 18',
  download: 'M12 4v11M7 10.5 12 15.5 17 10.5M5 19.5h14',
  compare: 'M12 3v18M8.5 8 4.5 12l4 4M15.5 8l4 4-4 4'
}

/** @param {keyof typeof icons} name */
export function icon (name) {
  const drawing = document.createElementNS(SVG, 'svg')
  const path = document.createElementNS(SVG, 'path')
  for (const [attribute, value] of Object.entries({ viewBox: '0 0 24 24', width: '20', height: '20', 'aria-hidden': 'true' })) drawing.setAttribute(attribute, value)
  path.setAttribute('d', icons[name])
  drawing.append(path)
  return drawing
}

/**
 * Calls together what is asked for several times, in the next frame (or after so many milliseconds).
 * @param {() => void} run @param {number} [delay]
 */
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
 * @param {Record<string, any>} attributes
 * @returns {HTMLImageElement} without a source when there is none, or when it does not come
 */
export function picture (url, attributes) {
  const image = element('img', { alt: '', ...attributes, on: { error: () => image.removeAttribute('src') } })
  url.then(found => { if (found) image.src = found }, () => {})
  return image
}
