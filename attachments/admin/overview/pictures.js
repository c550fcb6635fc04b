// The picture of a layer in lists of layers: the tile of the deepest zoom that has only one, else a tile from the
// middle of the first zoom.
import { html } from '../../html.js'
import { LazyImage } from '../../parts.js'
import { useApp } from '../app.js'

const LARGEST = 500_000 // bytes of a tile, on average
const FAR = 1000 // maximum rows to skip to reach the middle
const VIEW = '_design/versions/_view/by_area'

export function Picture ({ layer, format }) {
  const { couch } = useApp()
  const find = async () => format === 'pbf' ? undefined : pictureOf(couch, layer) // a vector tile is no image
  return html`<${LazyImage} class="picture" find=${find} inputs=${[layer, format]} />`
}

/**
 * The address of a tile, if the index knows one.
 * @param {import('../couch.js').Couch} couch @param {string} layer @returns {Promise<string | undefined>}
 */
async function pictureOf (couch, layer) {
  const zooms = await couch.rows(VIEW, { startkey: [layer], endkey: [layer, {}], group_level: 2, update: false })
  const small = zooms.filter(({ value }) => value.count > 0 && value.sum / value.count <= LARGEST)
  const zoom = small.filter(({ value }) => value.count === 1).pop() ?? small[0]
  if (!zoom) return
  const { key, value } = zoom
  const middle = { skip: Math.min(FAR, value.count >> 1), limit: 1, reduce: false, update: false }
  const [row] = await couch.rows(VIEW, { startkey: key, endkey: [...key, {}], ...middle })
  return row && `${couch.db}/${encodeURIComponent(row.id)}/tile`
}
