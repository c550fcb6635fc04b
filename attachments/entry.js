// The button of the offline maps, until what is behind it is loaded. From then on the panel of areas answers it.

/**
 * @param {HTMLElement} button
 * @param {import('./notices.js').Notices} notices
 * @param {() => Promise<{open: () => void}>} load the panel
 * @returns {() => void} to be called when the panel is there, however it came
 */
export function enter (button, notices, load) {
  async function open () {
    button.setAttribute('aria-busy', 'true')
    try {
      (await load()).open()
      notices.end('device')
    } catch (error) { // the file did not come, or the browser lets this page keep nothing
      notices.say('device', { text: `Offline maps cannot be opened: ${error.message}`, tone: 'warn', onClose: () => {} })
    }
    button.removeAttribute('aria-busy')
  }
  button.hidden = false
  button.addEventListener('click', open)
  return () => button.removeEventListener('click', open)
}
