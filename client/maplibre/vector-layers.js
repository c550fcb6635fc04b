// Layers of a style that show everything in vector tiles, for those who have no style yet.

const COLOURS = ['#3b78b8', '#c8553d', '#4d8f5b', '#8a5fa8', '#b8862b', '#3a8f96', '#a84e78', '#6b7280']

/** @param {any} doc the layer's document: `vector_layers` as TileJSON has them @returns {any[]} */
export const vectorLayers = doc => (doc.vector_layers ?? []).flatMap(({ id }, at) => {
  const colour = COLOURS[at % COLOURS.length]
  const of = (type, geometry, paint) => ({ id: `${doc.layer}-${id}-${type}`, type, 'source-layer': id, filter: ['==', ['geometry-type'], geometry], paint })
  return [
    of('fill', 'Polygon', { 'fill-color': colour, 'fill-opacity': 0.3, 'fill-outline-color': colour }),
    of('line', 'LineString', { 'line-color': colour, 'line-width': 1.5 }),
    of('circle', 'Point', { 'circle-color': colour, 'circle-radius': 4 })
  ]
})
