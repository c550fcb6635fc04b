// The table of docs/grids.md.
import { gridNames, gridOf } from '../core/index.js'

const rounded = value => +value.toPrecision(6)

/** @param {(head: string[], rows: any[][]) => string} table */
export const gridTables = table => ({
  grids: table(['`--grid`', 'where', 'coordinate system', 'zooms', 'pixel of the first and the ' +
    'last zoom'], gridNames().map(name => {
    const { title, crs, firstZoom, lastZoom, matrices, inDegrees } = gridOf({ grid: name })
    const [first, last] = [matrices[0], matrices[matrices.length - 1]].map(({ cellSize }) => rounded(cellSize))
    return [`\`${name}\``, title, crs, `${firstZoom} to ${lastZoom}`,
      `${first} to ${last} ${inDegrees ? 'degrees' : 'm'}`]
  }))
})
