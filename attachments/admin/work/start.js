// A form that fills in commands to copy. The page cannot run them: they need Node.
import { scrub } from '../../../core/errors.js'
import { byName } from '../../format.js'
import { html, useState } from '../../html.js'
import { useDocs, useStoreAddress } from '../app.js'
import { Copyable, shellLine } from '../../copy.js'
import { Field, Hint, plainInput } from '../../parts.js'
import { Card } from '../parts.js'
import { texts } from '../words.js'

const words = texts.work.start
const FILES = { load: 'tiles/', export: 'tiles.pmtiles', backup: 'store.tcb', mirror: 'https://maps.example.org/tiles' }

/** The arguments of each command. withAll: the layer may be left out @type {Record<string, any>} */
const commands = {
  load: { line: ({ file, name }) => ['load', file, '--layer', name || 'LAYER'] },
  export: { hasLayer: true, line: ({ layer, file }) => ['export', layer || 'LAYER', file] },
  seed: {
    hasLayer: true,
    line: ({ layer, doc }) => ['seed', layer || 'LAYER', '--bbox', doc?.bounds?.join(',') ?? 'W,S,E,N', '--zoom',
      `${doc?.minzoom ?? 0}-${doc?.maxzoom ?? 10}`]
  },
  prune: { hasLayer: true, withAll: true, line: ({ layer }) => layer ? ['prune', layer] : ['prune', '--all'] },
  check: { hasLayer: true, withAll: true, line: ({ layer }) => layer ? ['check', layer] : ['check'] },
  backup: { line: ({ file }) => ['backup', file] },
  mirror: { line: ({ file, url }) => ['mirror', url ?? 'embedded', file, '--live'] }
}

export function Start () {
  const docs = useDocs('layer')
  const url = useStoreAddress()?.url
  const [command, setCommand] = useState('load')
  const [chosenLayer, setChosen] = useState(/** @type {string | undefined} */ (undefined))
  const [name, setName] = useState('')
  const [files, setFiles] = useState(FILES)

  const { hasLayer, withAll, line } = commands[command]
  const layers = docs.all('layer').map(doc => doc.layer).sort(byName)
  const options = [...withAll ? [['', words.all]] : [], ...layers.map(id => [id, id])]
  const layer = options.some(([id]) => id === chosenLayer) ? chosenLayer : layers[0] ?? ''
  const file = scrub((files[command] ?? '').trim()) || FILES[command]
  const args = line({ layer, file, url, name: name.trim(), doc: docs.get(`layer:${layer}`) })
  const text = shellLine(...args, ...(url && command !== 'mirror' ? ['--db', url] : []))
  const setFile = ({ target }) => setFiles({ ...files, [command]: target.value })

  return html`<${Card} name="start" head=${words.head}>
    <${Hint}>${words.lead}<//>
    <form class="fields" onSubmit=${event => event.preventDefault()}>
      <${Field} label=${words.command} options=${Object.keys(commands).map(key => [key, key])} value=${command}
        onChange=${setCommand} />
      ${hasLayer && html`<${Field} label=${words.layer} options=${options} value=${layer} onChange=${setChosen} />`}
      ${command === 'load' && html`<label>
        ${words.newLayer}
        <input ...${plainInput} value=${name} onInput=${({ target }) => setName(target.value)} />
      </label>`}
      ${command in FILES && html`<label>
        ${words.file}
        <input ...${plainInput} value=${files[command]} onInput=${setFile} />
      </label>`}
    </form>
    <${Hint}>${words.commands[command]}<//>
    <div aria-live="polite"><${Copyable} text=${text} label=${texts.work.copy(text)} /></div>
  <//>`
}
