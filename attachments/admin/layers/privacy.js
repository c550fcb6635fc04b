// Who can see a layer: CouchDB opens or closes the whole store, the gateway single layers.
import { isOpen } from '../../../core/access.js'
import { html } from '../../html.js'
import { useApp, useShellLine } from '../app.js'
import { Copyable, shellLine } from '../../copy.js'
import { Hint } from '../../parts.js'
import { texts } from '../words.js'

const words = texts.layers.privacy

export function Privacy ({ layer }) {
  const { security, user } = useApp()
  const lineOf = useShellLine()
  const isPublic = Boolean(security) && isOpen(security)
  const state = isPublic ? words.open : words.closed
  const line = (text, command) => html`<p>${text}</p><${Copyable} text=${command} label=${words.copy(text)} />`
  const keys = ['--access-keys-file', 'access-keys']
  return html`<div>
    <div>
      <p><strong>${security ? state : words.unknown}</strong></p>
      ${isPublic && user.isAdmin && line(words.close, lineOf('access', '--private'))}
    </div>
    <${Hint}>${words.lead}<//>
    ${line(words.serve, lineOf('serve', '--private-layers', layer, ...keys))}
    ${line(words.token, shellLine('token', layer, '--for', '7d', ...keys))}
    ${user.isAdmin && html`<p><a href="#access">${words.more}</a></p>`}
  </div>`
}
