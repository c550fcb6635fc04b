// Other grids than Web Mercator: their tiles, and the areas that touch them.
import assert from 'node:assert/strict'
import proj4 from 'proj4'
import { checkGrid } from '../../core/grids/trial.js'
import { gridNames, gridOf, isSameGrid, parseArea, areaFrom,
  registerProj4, soundLayers, tileRanges } from '../../core/index.js'
import { tileMatrixSets } from '../../core/grids/sets.js'
import { Extent, widen } from '../../core/store/extent.js'
import { townGrid } from '../support/samples.js'

registerProj4(proj4)

const town = townGrid()
const grids = [...gridNames().slice(1), town].map(grid => gridOf({ grid }))

/** Places inside a tile in a regular pattern, in degrees. */
function placesIn (grid, z, x, y, steps = 8) {
  const [left, bottom, right, top] = grid.extent(z, x, y)
  const share = index => (index + 0.5) / steps
  return Array.from({ length: steps * steps }, (_, index) => grid.toLonLat(
    [left + (right - left) * share(index % steps), bottom + (top - bottom) * share(Math.floor(index / steps))]))
}

describe('grids', () => {
  it('are Web Mercator for a layer that names none', () => {
    const grid = gridOf()
    assert.equal(grid, gridOf({ grid: 'WebMercatorQuad' }))
    assert.deepEqual([grid.isWebMercator, grid.crs, grid.firstZoom, grid.lastZoom, grid.tileSize],
      [true, 'EPSG:3857', 0, 30, 256])
    assert.deepEqual(grid.ranges([5.9, 45.8, 10.5, 47.8], 9), tileRanges([5.9, 45.8, 10.5, 47.8], 9))
    assert.equal(grid.matrix(0).scaleDenominator, 559082264.0287178)
    assert.equal(gridOf({ tileSize: 512 }).matrix(0).scaleDenominator, 559082264.0287178 / 2)
  })

  it('have the scales and sizes of their official definitions', () => {
    const set = name => tileMatrixSets[name]()
    const [first, last] =
      [set('EuropeanETRS89_LAEAQuad').tileMatrices[0], set('EuropeanETRS89_LAEAQuad').tileMatrices[15]]
    assert.deepEqual([first.cellSize, first.pointOfOrigin, last.matrixWidth], [17578.125, [5500000, 2000000], 32768])
    assert.ok(Math.abs(last.scaleDenominator - 1915.86358206612) < 1e-8)
    const degrees = set('WorldCRS84Quad').tileMatrices
    assert.deepEqual([degrees[0].matrixWidth, degrees[0].matrixHeight, degrees[0].cellSize, degrees[3].matrixWidth],
      [2, 1, 0.703125, 16])
    assert.ok(Math.abs(degrees[0].scaleDenominator - 279541132.014358) < 1e-3)
    const swiss = set('LV95').tileMatrices
    assert.equal(swiss.length, 29)
    assert.deepEqual([swiss[17].cellSize, swiss[17].matrixWidth, swiss[17].matrixHeight], [100, 19, 13])
    assert.deepEqual([swiss[27].cellSize, swiss[27].matrixWidth, swiss[27].matrixHeight], [0.25, 7500, 5000])
    const german = set('DE_EPSG_25832_ADV').tileMatrices
    assert.ok(Math.abs(german[0].scaleDenominator - 17471320.7508974) < 1e-6)
    assert.ok(Math.abs(german[13].cellSize - 0.597164283477939) < 1e-14)
    const arctic = set('UPSArcticWGS84Quad').tileMatrices
    assert.ok(Math.abs(arctic[0].cellSize - 128443.4324) < 1e-4)
    assert.ok(Math.abs(arctic[5].cellSize - 128443.4324 / 32) < 1e-5)
  })

  it('turn degrees into coordinates as PROJ does', () => {
    for (const [crs, lon, lat, east, north] of [
      ['LV95', 9.5, 47.2, 2756178.4598, 1229724.2563],
      ['EuropeanETRS89_LAEAQuad', 9.5, 47.2, 4283084.6649, 2676397.6743],
      ['DE_EPSG_25832_ADV', 9.5, 47.2, 537870.6711, 5227511.0190],
      ['UPSArcticWGS84Quad', 45, 80, 2786975.2961, 1213024.7039],
      ['UPSAntarcticWGS84Quad', -120, -80, 1036156.0422, 1443524.4315], [town, 5.3, 52.1, 149024.9378, 456865.1148]
    ]) {
      const grid = gridOf({ grid: crs })
      const [x, y] = grid.toCrs([lon, lat])
      assert.ok(Math.hypot(x - east, y - north) < 0.02, `${grid.id}: ${x} ${y}`)
      const [back, up] = grid.toLonLat([x, y])
      assert.ok(Math.hypot(back - lon, up - lat) < 1e-7, `${grid.id}: ${back} ${up}`)
    }
  })

  it('number their zooms so that 2^z columns and rows are enough', () => {
    assert.deepEqual(grids.map(({ firstZoom }) => firstZoom), [1, 0, 0, 0, 0, 0, 2])
    for (const grid of grids) {
      for (const { z, columns, rows } of grid.matrices) {
        assert.ok(columns <= 2 ** z && rows <= 2 ** z, `${grid.id} ${z}`)
      }
    }
    const grid = gridOf({ grid: town })
    assert.equal(grid.zoomOf('t1'), 3)
    assert.equal(grid.zoomOf('3'), undefined)
    assert.deepEqual(grid.check(3, 6, 4), { z: 3, x: 6, y: 4 })
    for (const [z, x, y] of [[3, 7, 4], [3, 6, 5], [1, 0, 0], [4, 0, 0], [3, -1, 0], [3, 0.5, 0]]) {
      assert.throws(() => grid.check(z, x, y), { code: 'BAD_TILE' })
    }
  })

  it('know whether each zoom halves the one before', () => {
    assert.deepEqual(grids.map(({ isQuad }) => isQuad), [true, true, false, true, true, true, false])
  })

  it('find the tile again from its middle, and from its bounds', () => {
    for (const grid of grids) {
      for (
        const z of [grid.firstZoom, grid.firstZoom + 1, Math.min(grid.firstZoom + 9, grid.lastZoom), grid.lastZoom]
      ) {
        const { columns, rows } = grid.matrix(z)
        const [x, y] = [Math.floor(columns * 0.4), Math.floor(rows * 0.45)]
        const [left, bottom, right, top] = grid.extent(z, x, y)
        const [lon, lat] = grid.toLonLat([(left + right) / 2, (bottom + top) / 2])
        assert.deepEqual(grid.tileAt(lon, lat, z), { z, x, y }, `${grid.id} ${z}`)
        const [range] = grid.ranges(grid.tileBounds(z, x, y), z)
        assert.ok(range && range.x0 <= x && range.x1 >= x && range.y0 <= y && range.y1 >= y, `${grid.id} ${z}`)
      }
    }
  })

  it('have bounds in degrees, also around a pole and over the antimeridian', () => {
    const bounds = name => gridOf({ grid: name }).bounds
    assert.deepEqual(bounds('WorldCRS84Quad'), [-180, -90, 180, 90])
    assert.deepEqual(bounds('UPSArcticWGS84Quad').map(Math.round), [-180, -33, 180, 90])
    assert.deepEqual(bounds('UPSAntarcticWGS84Quad').map(Math.round), [-180, -90, 180, 33])
    const [west, south, east, north] = bounds('LV95')
    assert.ok(west < 5.96 && south < 45.8 && east > 10.5 && north > 47.8)
    // around the pole all longitudes
    const middle = gridOf({ grid: 'UPSArcticWGS84Quad' }).tileBounds(0, 0, 0)
    assert.deepEqual([middle[0], middle[2], middle[3]], [-180, 180, 90])
    // over the antimeridian
    const fiji = gridOf({
      grid: { id: 'Fiji', crs: 'EPSG:32760', tileMatrices: [
        { ...town.tileMatrices[0], cellSize: 2000, pointOfOrigin: [500000, 8400000], matrixWidth: 1, matrixHeight: 1 }
      ] }
    })
    const [left, , right] = fiji.bounds
    assert.ok(left > 176 && left < 178 && right < -177 && right > -179, `${left} ${right}`)
    assert.deepEqual(fiji.ranges([179.9, -18, -179.9, -17], 0), [{ x0: 0, x1: 0, y0: 0, y1: 0 }])
    assert.deepEqual(fiji.ranges([-179.9, -18, -179.8, -17], 0), [{ x0: 0, x1: 0, y0: 0, y1: 0 }])
  })

  it('find the box around a box of degrees in their coordinate system', () => {
    const box = (name, bbox) => gridOf({ grid: name }).boxOf(bbox)?.map(Math.round)
    assert.deepEqual(box('WorldCRS84Quad', [7, 46, 9, 48]), [7, 46, 9, 48])
    // meridians meet: the south is the wider side, and the middle of the north reaches furthest
    const [left, bottom, right, top] = box('EuropeanETRS89_LAEAQuad', [6, 47, 14, 55])
    const toCrs = lonLat => gridOf({ grid: 'EuropeanETRS89_LAEAQuad' }).toCrs(lonLat).map(Math.round)
    assert.deepEqual([[left, right], bottom, top],
      [[toCrs([6, 47])[0], toCrs([14, 47])[0]], toCrs([10, 47])[1], toCrs([6, 55])[1]])
    assert.equal(box('LV95', [100, 0, 110, 10]), undefined)
  })

  it('are refused when they are not a tile matrix set', () => {
    const [matrix] = town.tileMatrices
    const attempt = fields => () => gridOf({ grid: { ...town, ...fields } })
    for (const [grid, why] of [
      ['LV96', /there is no "LV96"/], [{ ...town, crs: 'EPSG:99999' }, /EPSG:99999 is not known/],
      [{ ...town, crs: undefined }, /no crs/], [{ id: 'x y' }, /id/],
      [7, /name/], [{ ...town, tileMatrices: [] }, /tileMatrices/],
      [{ ...town, tileMatrices: [matrix, matrix] }, /same id/],
      [{ ...town, tileMatrices: [...town.tileMatrices].reverse() }, /coarse to fine/],
      [{ ...town, description: 'x'.repeat(60_000) }, /50000 characters/],
      [JSON.parse('['.repeat(5000) + ']'.repeat(5000)), /nested too deep/], ['constructor', /there is no/]
    ]) assert.throws(() => gridOf({ grid }), error => error.code === 'BAD_GRID' && why.test(error.message), why.source)
    for (const fields of [{ cellSize: 0 }, { matrixWidth: 0 }, { matrixWidth: 2 ** 40 },
      { pointOfOrigin: [1] }, { tileHeight: 128 }, { cornerOfOrigin: 'bottomLeft' }, { variableMatrixWidths: [{}] }]) {
      assert.throws(attempt({ tileMatrices: [{ ...matrix, ...fields }] }), { code: 'BAD_GRID' }, JSON.stringify(fields))
    }
    assert.ok(gridOf({ grid: { ...town, crs: 'EPSG:99999', proj4: '+proj=utm +zone=31 +datum=WGS84' } })
      .toCrs([3, 52])[0] > 4e5)
  })

  it('with a bad projection are refused each time, and soundLayers leaves out their layers', () => {
    const withText = text => ({ ...town, crs: 'EPSG:99999', proj4: text })
    const projections =
      ['+proj=merc +to_meter=1e-300', '+proj=merc +to_meter=1e300', '+proj=merc +nadgrids=some.gsb', '+proj=xx',
      '+proj=merc +a=1e-300', '+proj=lcc +lat_1=0 +lat_2=0', '+proj=merc +NADGRIDS=x', '+proj=merc +nadgrids=@null,x',
      '+proj=moll +x_0=NaN', '+proj=ob_tran +o_proj=moll +o_lat_p=45 +o_lon_p=0 +x_0=NaN'] // Mollweide never ends
    for (const text of [...projections, ...projections]) {
      assert.throws(() => checkGrid({ grid: withText(text) }), { code: 'BAD_GRID' }, text)
    }
    const docs = projections.map((text, index) => (
      { _id: `layer:l${index}`, type: 'layer', layer: `l${index}`, grid: withText(text) }
    ))
    const faults = []
    assert.deepEqual(soundLayers(docs, ({ layer }) => faults.push(layer)), [])
    assert.equal(faults.length, projections.length)
    assert.ok(
      checkGrid({ grid: withText('+proj=merc +nadgrids=@null +a=6378137 +b=6378137') }).bounds.every(Number.isFinite)
    )
  })

  it('are refused when they lie beyond the world, or their texts are not strings', () => {
    const [matrix] = town.tileMatrices
    const gridsBeyond = [[1e308, 0], [0, 5e6], [500, 90]].map(pointOfOrigin => ({
      ...town, crs: 'OGC:CRS84', orderedAxes: undefined, tileMatrices: [{ ...matrix, pointOfOrigin }]
    }))
    const noTexts = [{ wellKnownScaleSet: {} }, { uri: { a: 1 } }, { crs: { uri: ['EPSG:28992'] } },
      { crs: { wkt: { id: { authority: '<x>', code: {} } } } }].map(fields => ({ ...town, ...fields }))
    for (const grid of [...gridsBeyond, ...noTexts]) {
      assert.throws(() => checkGrid({ grid }), { code: 'BAD_GRID' }, JSON.stringify(grid))
    }
  })

  it('with many tiles at their first zoom have outlines of as many points as others', () => {
    const [matrix] = town.tileMatrices
    const deep = { ...matrix, cellSize: matrix.cellSize / 2 ** 20, matrixWidth: 2 ** 20, matrixHeight: 2 ** 20 }
    const points = grid => gridOf({ grid }).outline([5, 52, 5.4, 52.3]).flat().length
    assert.equal(points({ ...town, tileMatrices: [deep] }),
      points({ ...town, tileMatrices: [{ ...matrix, matrixWidth: 1, matrixHeight: 1 }] }))
  })

  it('that are bad make soundLayers leave out their own layer only', () => {
    const docs = [undefined, 'LV95', town, 'LV96', { id: 'x' }].map(
      (grid, index) => ({ _id: `layer:l${index}`, type: 'layer', layer: `l${index}`, ...(grid && { grid }) })
    )
    const faults = []
    assert.deepEqual(soundLayers(docs, ({ layer }, why) => faults.push(`${layer}: ${why}`)).map(({ layer }) => layer),
      ['l0', 'l1', 'l2'])
    assert.match(faults.join('\n'), /^l3: bad grid: there is no "LV96".*\nl4: bad grid: it has no crs$/)
  })

  it('with the name of a built-in grid keep their own definition and unique id', () => {
    const [web, swiss] = ['WebMercatorQuad', 'LV95'].map(id => gridOf({ grid: { ...town, id } }))
    assert.deepEqual([web.isWebMercator, web.crs, swiss.matrices.length], [false, 'EPSG:28992', 2])
    assert.equal(new Set([web, swiss, gridOf(), gridOf({ grid: 'LV95' })].map(({ uniqueId }) => uniqueId)).size, 4)
    assert.throws(() => gridOf({ grid: { ...town, id: '..' } }), { code: 'BAD_GRID' })
  })

  it('have ranges that hold all tiles of a box, and at most one more on each side', () => {
    for (const grid of grids.filter(({ inDegrees }) => !inDegrees)) {
      const [left, bottom, right, top] = grid.box
      const [lon, lat] = grid.toLonLat([left + (right - left) * 0.4, bottom + (top - bottom) * 0.7])
      const bbox = [lon, lat, lon + 0.2, lat + 0.1]
      const z = grid.matrices.findLast(({ span }) => span[0] > 1500).z
      const [range] = grid.ranges(bbox, z)
      assert.ok(range, `${grid.id} ${bbox} ${z}`)
      const tiles = [...parseArea({ bbox, grid }).columns(z)]
      const extremes = {
        x0: Math.min(...tiles.map(({ x }) => x)), x1: Math.max(...tiles.map(({ x }) => x)),
        y0: Math.min(...tiles.map(({ y0 }) => y0)), y1: Math.max(...tiles.map(({ y1 }) => y1))
      }
      for (const side of ['x0', 'y0']) {
        assert.ok(range[side] <= extremes[side] && range[side] >= extremes[side] - 1, `${grid.id} ${side}`)
      }
      for (const side of ['x1', 'y1']) {
        assert.ok(range[side] >= extremes[side] && range[side] <= extremes[side] + 1, `${grid.id} ${side}`)
      }
    }
  })

  it('are compared by their names and definitions', () => {
    assert.ok(isSameGrid({}, { grid: 'WebMercatorQuad' }))
    assert.ok(isSameGrid({ grid: town }, { grid: structuredClone(town) }))
    assert.ok(!isSameGrid({ grid: 'LV95' }, {}))
  })
})

describe('areas in other grids', () => {
  const boxes = {
    WorldCRS84Quad: [[7, 46, 9, 48], [170, -20, -170, 10]],
    EuropeanETRS89_LAEAQuad: [[-8, 36, 3, 44], [9.9, 51.9, 10.1, 52.1]],
    LV95: [[6, 46, 8, 47], [8.4, 46.2, 8.6, 46.9]], DE_EPSG_25832_ADV: [[6, 48, 13, 50]],
    UPSArcticWGS84Quad: [[-180, 60, 180, 90], [10, 70, 60, 80], [170, 65, -160, 75]],
    UPSAntarcticWGS84Quad: [[-60, -85, 120, -70]], Town: [[5, 52, 5.4, 52.3]]
  }

  it('hold exactly the tiles that boxes touch', () => {
    for (const grid of grids) {
      const zooms = grid.matrices.filter(({ columns, rows }) => columns * rows <= 1024).map(({ z }) => z)
      for (const bbox of boxes[grid.id]) {
        const area = parseArea({ bbox, grid })
        const [west, south, east, north] = bbox
        const isIn = ([lon, lat]) => lat >= south && lat <= north &&
          (west <= east ? lon >= west && lon <= east : lon >= west || lon <= east)
        const width = (east - west + 360) % 360 || 360
        const points = Array.from({ length: 400 },
          (_, i) => [west + width * (i % 20 + 0.5) / 20, south + (north - south) * (Math.floor(i / 20) + 0.5) / 20])
        const meets = (z, x, y) => points.some(([lon, lat]) => {
          const tile = grid.tileAt(lon > 180 ? lon - 360 : lon, lat, z); return tile.x === x && tile.y === y
        })
        for (const z of zooms) {
          const { columns, rows } = grid.matrix(z)
          for (let x = 0; x < columns; x++) {
            for (let y = 0; y < rows; y++) {
              const isTouched = placesIn(grid, z, x, y).some(isIn)
              // a tile of which only a sliver is touched has no place inside
              if (isTouched) assert.ok(area.has(z, x, y), `${grid.id} ${bbox} touches ${z}/${x}/${y}`)
              else if (area.has(z, x, y)) {
                assert.ok(meets(z, x, y) || placesIn(grid, z, x, y, 200).some(isIn),
                  `${grid.id} ${bbox} does not touch ${z}/${x}/${y}`)
              }
            }
          }
        }
      }
    }
  })

  it('count and walk each of their tiles once', () => {
    for (const grid of grids) {
      for (const bbox of boxes[grid.id]) {
        const area = parseArea({ bbox, grid })
        const z = grid.firstZoom + 4 <= grid.lastZoom ? grid.firstZoom + 4 : grid.lastZoom
        const tiles = [...area.tiles(z)].map(({ x, y }) => `${x}/${y}`)
        assert.equal(new Set(tiles).size, tiles.length)
        assert.equal(area.count({ min: z, max: z }), tiles.length)
        for (const tile of tiles) assert.ok(area.has(z, ...tile.split('/').map(Number)))
      }
    }
  })

  it('may be polygons, or the intersection of a polygon and a box', () => {
    const grid = gridOf({ grid: 'LV95' })
    const polygon = { type: 'Polygon', coordinates: [[[7, 46.5], [8, 46.2], [8.5, 47], [7.2, 47.3], [7, 46.5]]] }
    const [polygonArea, box, cut] = [parseArea({ polygon, grid }), parseArea({ bbox: [7.5, 46, 9, 46.8], grid }),
      parseArea({ polygon, bbox: [7.5, 46, 9, 46.8], grid })]
    const z = 18
    const { columns, rows } = grid.matrix(z)
    let count = 0
    for (let x = 0; x < columns; x++) {
      for (let y = 0; y < rows; y++) {
        if (polygonArea.has(z, x, y)) count++
        assert.equal(cut.has(z, x, y), polygonArea.has(z, x, y) && box.has(z, x, y))
      }
    }
    assert.ok(count > 20 && count === polygonArea.count({ min: z, max: z }))
    assert.equal(polygonArea.rectangles(z), undefined)
  })

  it('are restored from JSON with their grid', () => {
    for (const grid of grids) {
      const area = parseArea({ bbox: boxes[grid.id][0], grid }).within([-30, -88, 60, 88])
      const restored = areaFrom(JSON.parse(JSON.stringify(area)))
      assert.equal(restored.key, area.key)
      assert.equal(restored.count({ min: 0, max: grid.firstZoom + 3 }), area.count({ min: 0, max: grid.firstZoom + 3 }))
      assert.notEqual(area.in(gridOf()).key, area.key)
      assert.equal(area.in(gridOf()).in(grid).key, area.key)
    }
  })

  it('outside the grid are empty as a box, and refused as a polygon', () => {
    const grid = gridOf({ grid: 'LV95' })
    assert.equal(parseArea({ bbox: [100, 0, 110, 10], grid }).count({ min: 0, max: 20 }), 0)
    const polygon = { type: 'Polygon', coordinates: [[[100, 0], [101, 0], [101, 1], [100, 0]]] }
    assert.throws(() => parseArea({ polygon, grid }), error => error.code === 'BAD_AREA' && /LV95/.test(error.message))
    assert.ok(
      parseArea({
        polygon: { type: 'Polygon', coordinates: [
          [[0, 86], [90, 86], [180, 86], [270, 86], [360, 86], [360, 90], [0, 90], [0, 86]]
        ] }, grid: gridOf({ grid: 'UPSArcticWGS84Quad' })
      }).count({ min: 0, max: 5 }) > 5
    )
  })
})

describe('tiles that are written into a layer in another grid', () => {
  it('widen its bounds by the grid of the layer', () => {
    for (const grid of grids) {
      const z = grid.firstZoom + 1 > grid.lastZoom ? grid.lastZoom : grid.firstZoom + 1
      const extent = new Extent() // as an edit on a device counts tiles, before the layer is known
      extent.add(z, 1, 0)
      const { bounds } = widen({ grid: grid.field }, extent, { types: { 'image/png': 1 } })
      assert.deepEqual(bounds.map(degrees => +degrees.toFixed(6)),
        grid.tileBounds(z, 1, 0).map(degrees => +degrees.toFixed(6)), grid.id)
    }
  })
})
