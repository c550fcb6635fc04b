// The style in which a vector layer is drawn: the one that the store has for it, or without an answer the default one.
import { defaultStyle } from '../../core/style.js'
import { ask } from '../requests.js'

/** @typedef {{layers: any[], sprite?: string, glyphs?: string}} LayerStyle layers of the style, for one source */

/** @param {import('../store.js').Layer} doc @returns {Promise<LayerStyle>} */
export async function readStyle (doc) {
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  const address = new URL(`${encodeURIComponent(doc.layer)}/style.json?theme=${theme}`, document.baseURI)
  const style = await ask(address).catch(() => defaultStyle(doc, { theme })) // without a network
  if (!style) return { layers: [] }
  const { sources, layers, sprite, glyphs } = style
  const isOwn = ({ source }) => {
    const { url = '', tiles: [tile = ''] = [] } = sources[source] ?? {}
    return source === doc.layer || [url, tile].some(text => layerIn(text) === doc.layer)
  }
  const whole = text => typeof text === 'string' && text ? unescaped(new URL(text, address).href) : undefined
  return { layers: layers.filter(isOwn), sprite: whole(sprite), glyphs: whole(glyphs) }
}

/** `…/LAYER@TIME.json`, `couch://LAYER/{z}/{x}/{y}.pbf` → LAYER */
const layerIn = address => /(?:^|\/)([a-z0-9][a-z0-9_-]*)(?:@[^/?]*)?(?:\.json|\/\{z\})/.exec(unescaped(address))?.[1]

/** Placeholders stay as they are. */
const unescaped = address => address.replace(/%7B/gi, '{').replace(/%7D/gi, '}')
