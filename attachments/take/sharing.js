// What other programs read: a layer file for QGIS, the HTML of a frame, and which pages may show this one in a frame.
// No part of it needs a page.

const FRAME = { width: 800, height: 500 } // pixels

/**
 * A layer for QGIS: a .qlr file, which is dropped into its window.
 * @param {import('../store.js').Layer} doc @param {string} title @param {string} url template of its tiles
 * @returns {string} XML
 */
export function layerFile ({ layer, minzoom = 0, maxzoom = 18, tileSize = 256 }, title, url) {
  // as QGIS writes it
  const encoded = encodeURIComponent(url).replace(/%(2F|3A|40)/g, decodeURIComponent)
  const source = `type=xyz&url=${encoded}&zmax=${maxzoom}&zmin=${minzoom}&tilePixelRatio=${tileSize / 256}`
  const [id, name, address] = [`tilecouch_${layer}`, title, source].map(escaped)
  return `<!DOCTYPE qgis-layer-definition>
<qlr>
  <layer-tree-group name="" checked="Qt::Checked" expanded="1">
    <layer-tree-layer id="${id}" name="${name}" providerKey="wms" checked="Qt::Checked" expanded="1"/>
  </layer-tree-group>
  <maplayers>
    <maplayer type="raster">
      <id>${id}</id>
      <datasource>${address}</datasource>
      <layername>${name}</layername>
      <srs><spatialrefsys><authid>EPSG:3857</authid></spatialrefsys></srs>
      <provider>wms</provider>
    </maplayer>
  </maplayers>
</qlr>
`
}

/** HTML that shows a link of this page in a frame. @param {string} link @param {string} title */
export function frameCode (link, title) {
  const { width, height } = FRAME
  return `<iframe src="${escaped(embedded(link))}" title="${escaped(title)}" width="${width}" height="${height}" ` +
    'style="border: 0; max-width: 100%" loading="lazy" allowfullscreen></iframe>'
}

/** The address of the same view without the controls of the page. */
function embedded (link) {
  const url = new URL(link)
  url.search = '?embed'
  return url.href
}

/** A text as the value of an attribute, or as the content of an element. */
const escaped = text => text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`)

/**
 * Asks the server which pages may show this one in a frame.
 * @param {string} link @param {AbortSignal} signal
 * @returns {Promise<string[]>} origins besides its own; `*` for all
 */
export async function readEmbedders (link, signal) {
  const answer = await fetch(embedded(link), { signal, cache: 'no-cache' })
  await answer.body?.cancel()
  if (!answer.ok) throw new TypeError(`the page answers ${answer.status}`)
  return embedders(answer.headers.get('content-security-policy'))
}

/** @param {string | null} policy null: none is sent, and every page may */
export function embedders (policy) {
  const rules = [...(policy ?? '').matchAll(/(?:^|[;,])\s*frame-ancestors\s+([^;,]*)/gi)]
  const lists = rules.map(([, list]) => list.trim().split(/\s+/))
  if (!lists.length) return ['*']
  return lists.reduce(inBoth).filter(source => !source.startsWith("'"))
}

/** Sources that two lists allow: `*` allows all. @param {string[]} first @param {string[]} second */
function inBoth (first, second) {
  if (second.includes('*')) return first
  return first.includes('*') ? second : first.filter(source => second.includes(source))
}
