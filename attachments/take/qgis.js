// A layer for QGIS: a .qlr file, which is dropped into its window.

/**
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

/** A text as the value of an attribute, or as what an element holds. */
export const escaped = text => text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`)
