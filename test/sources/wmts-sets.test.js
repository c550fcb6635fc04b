// The description of a WMTS with many tile matrix sets.
import assert from 'node:assert/strict'
import { openWmts } from '../../loader/load/sources/wmts.js'

const WHERE = { name: 'wmts.xml' }
const FEW = 200

/** Capabilities of one layer in so many sets of LV95, each of another scale. */
function capabilities (count) {
  const ids = Array.from({ length: count }, (_, number) => `set${number}`)
  const links = ids.map(id => `<TileMatrixSetLink><TileMatrixSet>${id}</TileMatrixSet></TileMatrixSetLink>`)
  const sets = ids.map((id, number) => `<TileMatrixSet><ows:Identifier>${id}</ows:Identifier>
    <ows:SupportedCRS>urn:ogc:def:crs:EPSG::2056</ows:SupportedCRS><TileMatrix><ows:Identifier>0</ows:Identifier>
    <ScaleDenominator>${1000 + number}</ScaleDenominator><TopLeftCorner>2420000 1350000</TopLeftCorner>
    <TileWidth>256</TileWidth><TileHeight>256</TileHeight><MatrixWidth>1</MatrixWidth><MatrixHeight>1</MatrixHeight>
    </TileMatrix></TileMatrixSet>`)
  return `<Capabilities xmlns="http://www.opengis.net/wmts/1.0"><Contents><Layer><ows:Identifier>a</ows:Identifier>
    ${links.join('')}</Layer>${sets.join('')}</Contents></Capabilities>`
}

/** Milliseconds of this process until the description is refused: no set was named. */
async function timeOf (count) {
  const xml = capabilities(count)
  const { user } = process.cpuUsage()
  await assert.rejects(openWmts(xml, WHERE, /** @type {any} */ ({ layer: 'a' })), error => {
    assert.equal(/** @type {any} */ (error).code, 'BAD_OPTION')
    assert.ok(/** @type {any} */ (error).message.length < 500, 'it names some of the sets')
    return true
  })
  return (process.cpuUsage().user - user) / 1000
}

describe('a WMTS with many tile matrix sets', function () {
  this.timeout(120_000)

  it('is read in a time proportional to the number of sets', async () => {
    await timeOf(FEW)
    const [few, many] = [await timeOf(FEW), await timeOf(20 * FEW)]
    assert.ok(many < 60 * few + 500, `${few} ms for ${FEW} sets, ${many} ms for ${20 * FEW}`)
  })

  it('is not read further when the load is stopped', async () => {
    const stop = new AbortController()
    setImmediate(() => stop.abort())
    const options = /** @type {any} */ ({ layer: 'a', signal: stop.signal })
    await assert.rejects(openWmts(capabilities(FEW), WHERE, options), { code: 'ABORTED' })
  })
})
