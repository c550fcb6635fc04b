import { element } from '../../../client/timeline/dom.js'
import { texts } from '../../words/admin/index.js'

/** @type {import('../index.js').Section} */
export const work = {
  name: 'work',
  needs: 'writer',
  open () {
    return { element: element('h2', null, texts.sections.work) }
  }
}
