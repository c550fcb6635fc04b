// The tab with the link to the shown map: to copy, to share, as a QR code, in a frame of another page, and for QGIS.
import { generate } from 'lean-qr'
import { qgisLayers } from '../../core/qgis.js'
import { attempt } from '../../core/values.js'
import { useCopy } from '../copy.js'
import { download } from '../dom.js'
import { html, useAnswer, useMemo, useState } from '../html.js'
import { Button, Fold, Hint } from '../parts.js'
import { template } from '../store.js'
import { takeWords as words, words as pageWords } from '../words.js'
import { frameCode, readEmbedders } from './sharing.js'

const QUIET = 4 // white modules around a QR code

/** Drawn again after each change of the map. @param {import('./index.js').TabProps} props */
export function LinkTab ({ page }) {
  const { address, written, stage: { doc, time } } = page
  const link = address()
  const title = [doc?.name ?? doc?.layer ?? document.title, time && written(time)].filter(Boolean).join(', ')
  const base = new URL('.', document.baseURI).href
  const tiles = doc ? base + template(doc, time) : ''
  const layerFile = doc && qgisLayers(doc, { base, time: time ?? undefined })
  const copying = useCopy(link)
  const share = () => navigator.share({ title, url: link }).catch(error => {
    if (error.name !== 'AbortError') copying.copy()
  })
  return html`<div class="tab">
    <${Copied} label=${words.link} ...${copying} />
    ${'share' in navigator && html`<div class="acts"><${Button} onClick=${share}>${words.share}<//></div>`}
    <${QrCode} text=${link} />
    <${Embedding} link=${link} title=${title} />
    <${Fold} head=${words.qgis}>
      <${Hint}>${words.qgisHow}<//>
      <${Copied} label=${words.tiles} ...${useCopy(tiles)} />
      ${layerFile && html`<div class="acts">
        <${Button} onClick=${() => download(layerFile, `${doc.layer}.qlr`, 'application/xml')}>${words.qgisFile}<//>
      </div>`}
    <//>
  </div>`
}

function Embedding ({ link, title }) {
  const [isOpen, setOpen] = useState(false)
  const read = async signal => isOpen ? readEmbedders(link, signal).catch(() => null) : undefined
  const origins = useAnswer(read, [isOpen])
  return html`<${Fold} head=${words.embed} onToggle=${({ target }) => setOpen(target.open)}>
    <p class="hint" role="status">${isOpen && embedWords(origins)}</p>
    <${Copied} label=${words.frameCode} ...${useCopy(frameCode(link, title))} />
  <//>`
}

/** @param {string[] | null | undefined} origins null: the server does not answer */
function embedWords (origins) {
  if (origins === undefined) return words.looking
  if (origins === null) return words.embedUnknown
  if (origins.includes('*')) return words.embedAll
  return origins.length ? words.embedSome(origins.join(', ')) : words.embedNone
}

const Copied = ({ label, text, field, copy, done }) => html`<div class="copied">
  <span aria-hidden="true">${label}</span>
  <div>
    <input ref=${field} type="text" readonly aria-label=${label} value=${text}
      onFocus=${({ target }) => target.select()} />
    <${Button} onClick=${copy}>${done || pageWords.address.copy}<//>
  </div>
</div>`

function QrCode ({ text }) {
  const code = useMemo(() => encode(text), [text])
  if (!code) return html`<${Hint}>${words.qrTooLong}<//>`
  const edge = code.size + 2 * QUIET
  return html`<div class="qr">
    <svg viewBox="${-QUIET} ${-QUIET} ${edge} ${edge}" role="img" aria-label=${words.qr} shape-rendering="crispEdges">
      <rect x=${-QUIET} y=${-QUIET} width=${edge} height=${edge} fill="#fff" />
      <path d=${code.path} fill="#000" />
    </svg>
  </div>`
}

/** @returns {{size: number, path: string} | null} null: the text is too long for one code */
function encode (text) {
  const code = attempt(() => generate(text))
  if (!code) return null
  let path = ''
  for (let y = 0; y < code.size; y++) {
    for (let x = 0; x < code.size; x++) if (code.get(x, y)) path += `M${x} ${y}h1v1h-1z`
  }
  return { size: code.size, path }
}
