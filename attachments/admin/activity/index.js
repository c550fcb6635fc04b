import { element } from '../../../client/timeline/dom.js'
import { texts } from '../../words/admin/index.js'

/** @type {import('../index.js').Section} */
export const activity = {
  name: 'activity',
  needs: 'admin',
  open () {
    return { element: element('h2', null, texts.sections.activity) }
  }
}
