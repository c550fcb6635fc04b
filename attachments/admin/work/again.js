// The command that goes on with work or does it again. It is built from the checked arguments of a document that any
// writer may have written, and names the store of this page.
import { element } from '../../../client/timeline/dom.js'
import { typedAgain } from '../../../core/work.js'
import { texts } from '../words.js'
import { command, shellLine } from '../command.js'
import { storeAddress } from './address.js'

/**
 * @typedef {(doc: any, nodesOf: (line: HTMLElement) => any) => HTMLElement} Again nodesOf: what shows the command
 *
 * @param {import('../index.js').App} app
 * @returns {Again} an element that stays empty where a document offers no command
 */
export function offerAgain (app) {
  const address = storeAddress(app)
  return (doc, nodesOf) => {
    const place = element('div')
    address.then(store => {
      const typed = typedAgain(doc, store)
      if (!typed) return
      const line = shellLine(...typed)
      place.append(...[nodesOf(command(line, texts.work.copy(line)))].flat())
    })
    return place
  }
}
