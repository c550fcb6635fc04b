// Who can see a layer: CouchDB opens or closes the whole store, the gateway single layers.
import { element } from '../../../client/timeline/dom.js'
import { texts } from '../words.js'
import { command, shellLine } from '../command.js'

const words = texts.layers.privacy

/** Whether everybody may read the store; undefined where that is not known. @param {any} security */
export function isPublic (security) {
  if (!security) return undefined
  const { names = [], roles = [] } = security.members ?? {}
  return names.length + roles.length === 0
}

/** @param {import('../index.js').App} app @param {string} layer */
export function privacyPart (app, layer) {
  const state = element('div')
  const line = (text, ...given) => [element('p', null, text), command(shellLine(...given), words.copy(text))]
  let shown = /** @type {any} */ (null)
  function update () {
    const open = isPublic(app.security)
    if (open === shown) return
    shown = open
    state.replaceChildren(
      element('p', null, element('strong', null, open === undefined ? words.unknown : open ? words.open : words.closed)),
      ...open && app.user.isAdmin ? line(words.close, 'access', '--private') : [])
  }
  return {
    update,
    element: element('div', null, state,
      element('p', { class: 'hint' }, words.lead),
      line(words.serve, 'serve', '--private-layers', layer, '--access-keys-file', 'access-keys'),
      line(words.token, 'token', layer, '--for', '7d', '--access-keys-file', 'access-keys'),
      app.user.isAdmin && element('p', null, element('a', { href: '#access' }, words.more)))
  }
}
