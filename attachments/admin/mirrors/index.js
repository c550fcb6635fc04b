import { element } from '../../../client/timeline/dom.js'
import { texts } from '../../words/admin/index.js'

/** @type {import('../index.js').Section} */
export const mirrors = {
  name: 'mirrors',
  needs: 'admin',
  open () {
    return { element: element('h2', null, texts.sections.mirrors) }
  }
}
