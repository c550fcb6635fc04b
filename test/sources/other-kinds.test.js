// Files and addresses that are not sources of tiles. The error names their kind and the next command.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { check, openSet, openSource } from '../../loader/index.js'
import { commandNamed, runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { pattern } from '../support/pattern.js'

const ZIP = 'PK\x03\x04rest'
const tar = Buffer.alloc(1024)
tar.write('ustar', 257)
const GEOJSON = JSON.stringify({ type: 'FeatureCollection', features: [] })
const geopackage = Buffer.alloc(512)
geopackage.write('SQLite format 3\0')
geopackage.write('GPKG', 68)
const shapefile = Buffer.alloc(100)
shapefile.writeInt32BE(9994)
const osm = Buffer.concat([Buffer.from([0, 0, 0, 13, 10, 9]), Buffer.from('OSMHeader\u0018\u0001')])
const qlr = '<!DOCTYPE qgis-layer-definition>\n<qlr><maplayers><maplayer><datasource>type=xyz&amp;url=https://' +
  'tiles.example.org/%7Bz%7D/%7Bx%7D/%7By%7D.png?key%3Ds3cret&amp;zmax=19</datasource></maplayer></' +
  'maplayers></qlr>'

/**
 * By name: the content, and patterns of the message and the advice. A name that ends with / is a folder.
 * @type {Record<string, [any, RegExp, RegExp]>}
 */
const files = {
  'dem.tif': ['II*\0rest', /is a TIFF image/,
    /\n {4}gdal2tiles\.py --xyz -w none \S*dem\.tif dem-tiles\n {4}tilecouch load dem-tiles --layer NAME$/],
  'big endian.dat': ['MM\0*rest', /is a TIFF image/, /none "[^"]*big endian\.dat" "big endian-tiles"\n/],
  'large.tiff': ['II+\0rest', /is a TIFF image/, /gdal2tiles/],
  'all.vrt': ['<VRTDataset rasterXSize="1">', /one large raster/, /gdal2tiles/],
  'photo.png': [png(1), /a single image/,
    /gdal_translate -a_srs EPSG:4326 -a_ullr WEST NORTH EAST SOUTH \S*photo\.png photo\.tif\n {4}gdal2tiles/],
  'project.qgs': ['<!DOCTYPE qgis PUBLIC \'http://mrcc.com/qgis.dtd\' \'SYSTEM\'>\n<qgis version="3.34">',
    /a QGIS project/, /^Open it in QGIS, .*Generate XYZ tiles \(MBTiles\).*:\n {4}tilecouch load project\.mbtiles/],
  'project.qgz': [ZIP, /a QGIS project/, /load project\.mbtiles/],
  'layer.qlr': [qlr, /a layer definition of QGIS: it names a tile server/,
    /tilecouch load "https:\/\/tiles\.example\.org\/{z}\/{x}\/{y}\.png" --layer NAME --bbox/],
  'other.qlr': ['<qlr><maplayer><datasource>./town.shp</datasource></maplayer></qlr>',
    /a layer definition of QGIS: it says where data are/, /Generate XYZ/],
  'roads.shp': [shapefile, /a shapefile/,
    /ogr2ogr -f MBTILES roads\.mbtiles \S*roads\.shp -dsco MAXZOOM=12\n {4}tilecouch load roads\.mbtiles/],
  'roads.geojson': [GEOJSON, /is GeoJSON/, /tippecanoe -zg -o roads\.mbtiles/],
  'named-otherwise.json': [GEOJSON, /is GeoJSON/, /tippecanoe/],
  'lines.txt': ['{"type":"Feature","geometry":null}\n{"type":"Feature","geometry":null}\n', /is GeoJSON/, /tippecanoe/],
  'town.gpkg': [geopackage, /a GeoPackage/, /gdal_translate -of MBTILES .*\n {4}gdaladdo .*[^]*ogr2ogr -f MBTILES/],
  'town.mbtiles': [geopackage, /a GeoPackage/, /ogr2ogr/],
  'town.osm.pbf': [osm, /raw data of OpenStreetMap/,
    /planetiler\.jar --download --osm-path=\S*town\.osm\.pbf --output=town\.pmtiles\n {4}tilecouch load town\.pmtiles/],
  'town.kmz': [ZIP, /KML for Google Earth/, /gdal_translate -of MBTILES \S*town\.kmz/],
  'town.kml': ['<?xml version="1.0"?>\n<kml xmlns="http://www.opengis.net/kml/2.2">',
    /KML for Google Earth/, /ogr2ogr/],
  'town.zip': [ZIP, /is a zip, which tilecouch does not read/,
    pattern(
      /^Unpack it, .* or make MBTiles or PMTiles of the tiles:\n/,
      / {4}unzip -q \S*town\.zip -d town\n/,
      / {4}tilecouch load town --layer NAME$/
    )],
  'nothing.zip': ['PK\x05\x06', /is a zip/, /unzip -q/],
  'zip.mbtiles': [ZIP, /is a zip/, /unzip -q \S*zip\.mbtiles -d zip\n/],
  'a b.tar': [tar, /is a tar, which tilecouch does not read/,
    /mkdir "a b" && tar xf "\S*a b\.tar" -C "a b"\n {4}tilecouch load "a b" --layer NAME$/],
  'tar.dat': [tar, /is a tar/, /tar xf \S*tar\.dat -C tar\n/],
  'town.tar.gz': [gzipSync(tar), /is a tar/, /mkdir town && tar xf \S*town\.tar\.gz -C town\n {4}tilecouch load town /],
  'town.TGZ': [gzipSync(tar), /is a tar/, /tar xf \S*town\.TGZ -C town\n/],
  'zips/': [{ 'a.zip': ZIP }, /holds no tiles, but "a\.zip", which is a zip/, /unzip -q \S*zips\/a\.zip -d a\n/],
  'page.html': ['<!doctype html><html><body>', /a web page/, /tilecouch load "https:\/\/HOST/],
  'capabilities.xml': [
    '<WMS_Capabilities version="1.3.0"><Capability><Layer><Title>All</Title><Layer ' +
      'queryable="1"><Name>hill</Name></Layer><Layer><Name>snow</Name></Layer></Layer></Capability>',
      /is a WMS/,
      pattern(
        /Its layers are hill, snow\..*\n/,
        / {4}echo '{"type":"wms",.*"layers":"hill"}' > upstream\.json\n/,
        / {4}tilecouch load --upstream upstream\.json/
      )
  ],
  'esri/': [{ 'conf.xml': '<x>', '_alllayers/L00/R0.bundle': 'x' }, /an Esri cache/, /docs\/sources\.md, Esri caches/],
  'scans/': [{ 'a.tif': 'II*\0', 'readme.txt': 'x' }, /holds no tiles, but "a\.tif"/,
    /gdalbuildvrt scans\.vrt \S*scans\/\*\.tif\n {4}gdal2tiles\.py --xyz -w none scans\.vrt scans-tiles/],
  'above/': [{ 'tiles/3/1/2.png': png(1), 'index.html': 'x' },
    /is not the folder with the zooms: that is tiles, in it/, /tilecouch load \S*above\/tiles --layer NAME$/],
  'surveys/': [{ '2021/3/1/2.png': png(1), '2022/3/1/2.png': png(2) },
    /a folder with 2 folders of tiles/, /load \S*surveys\/2021 .*\n {4}tilecouch load \S*surveys --layer NAME --dated$/]
}

/** By address: patterns of the message and the advice. No request is sent. @type {Record<string, [RegExp, RegExp]>} */
const addresses = {
  's3://maps/town.mbtiles': [
    /in object storage/, /aws s3 cp s3:\/\/maps\/town\.mbtiles \.\n {4}tilecouch load town\.mbtiles/
  ],
  's3://maps/tiles/': [/in object storage/, /aws s3 sync s3:\/\/maps\/tiles\/ tiles\n {4}tilecouch load tiles/],
  's3://maps/a/planet.pmtiles': [
    /reads over HTTPS/, /tilecouch load https:\/\/maps\.s3\.amazonaws\.com\/a\/planet\.pmtiles/
  ],
  'gs://maps/planet.pmtiles': [/reads over HTTPS/, /https:\/\/storage\.googleapis\.com\/maps\/planet\.pmtiles/],
  'gs://maps/town.zip': [/in object storage/, /gcloud storage cp gs:\/\/maps\/town\.zip \./],
  'pmtiles://https://example.org/planet.pmtiles': [
    /pmtiles:\/\/ before it/, /tilecouch load https:\/\/example\.org\/planet\.pmtiles/
  ],
  'ftp://example.org/town.zip': [/begins with ftp:\/\//, /tilecouch load town\.zip/],
  'https://example.org/maps/town.tgz': [
    /is a tar/, /curl -fLO https:\/\/example\.org\/maps\/town\.tgz\n {4}mkdir town && tar xf town\.tgz -C town\n/
  ],
  'https://example.org/dem.tif': [
    /a TIFF image/, /curl -fLO https:\/\/example\.org\/dem\.tif\n {4}gdal2tiles\.py --xyz -w none dem\.tif dem-tiles/
  ],
  'https://example.org/wms?SERVICE=WMS&REQUEST=GetCapabilities': [
    /is a WMS/, /'{"type":"wms","url":"https:\/\/example\.org\/wms","layers":"LAYERS"}'/
  ],
  ['https://example.org/cgi?map=/a.map&service=wms&version=1.1.1&request=GetMap&layers=hill&bbox=1,2,3,4' +
    '&width=256&height=256&format=image/jpeg&transparent=true']: [
    /is a WMS/,
    pattern(
      /'{"type":"wms","url":"https:\/\/example\.org\/cgi\?map=%2Fa\.map","layers":"hill","format":"image\/jpeg",/,
      /"version":"1\.1\.1","transparent":true}'/
    )],
  'https://tiles.example.org/osm/10/300/412.png?v=2': [
    /the address of one tile/, /tilecouch load "https:\/\/tiles\.example\.org\/osm\/{z}\/{x}\/{y}\.png\?v=2"/
  ],
  'https://example.org/arcgis/rest/services/Topo/MapServer': [
    /a map service of ArcGIS/, /MapServer\/tile\/{z}\/{y}\/{x}"/
  ]
}

const flags = (await commandNamed('load'))?.options.flatMap(({ short, long }) => [short, long])

describe('a file or address that is no source of tiles', () => {
  const folder = useFolder()

  /** Returns the error, and asserts that the commands in its advice have only existing options. */
  async function errorOf (name) {
    const error = await openSource(name).then(() => assert.fail(`${name} was opened`), caught => caught)
    for (const [, command] of error.advice.matchAll(/^ {4}tilecouch load (.*)$/gm)) {
      for (const [flag] of command.matchAll(/(?<= )--?[a-z][a-z-]*/g)) {
        assert.ok(flags?.includes(flag), `${command}: ${flag}`)
      }
    }
    return error
  }

  async function assertRefused (name, message, advice) {
    const error = await errorOf(name)
    assert.equal(error.code, 'SOURCE_NOT_TILES', error.stack)
    assert.match(error.message, message)
    assert.match(error.advice, advice)
    assert.doesNotMatch(error.advice, /s3cret/)
  }

  for (const [name, [content, message, advice]] of Object.entries(files)) {
    it(`is refused with the next command: ${name}`, async () => {
      const isFolder = name.endsWith('/')
      folder.write(isFolder ? Object.fromEntries(Object.entries(content).map(([file, bytes]) => [name + file, bytes]))
        : { [name]: content })
      await assertRefused(folder.path(name.replace(/\/$/, '')), message, advice)
    })
  }

  for (const [name, [message, advice]] of Object.entries(addresses)) {
    it(`is refused with the next command, without a request: ${name}`, () => assertRefused(name, message, advice))
  }

  it('is refused with the right folder: a folder one or two levels too deep', async () => {
    folder.write({ 'tiles/14/8530/5764.png': png(1), 'low/3/1/2.png': png(2), 'years/2023/3/1/2.png': png(3) })
    for (const [name, message, advice] of [
      ['tiles/14', /only zoom 14: the zooms are in \S*tiles$/, /tilecouch load \S*tiles --layer NAME --zoom 14$/],
      ['tiles/14/8530', /one column of zoom 14: the zooms are in \S*tiles$/, /tilecouch load \S*tiles --layer NAME$/],
      ['low/3', /only zoom 3: the zooms are in \S*low$/, /tilecouch load \S*low --layer NAME --zoom 3$/],
      ['low/3/1', /one column of zoom 3/, /tilecouch load \S*low --layer NAME$/]
    ]) await assertRefused(folder.path(name), message, advice)
    const source = await openSource(folder.path('years/2023'))
    await source.close()
  })

  it('is refused in a dated set too', async () => {
    await assert.rejects(openSet(['s3://maps/2024/']), { code: 'SOURCE_NOT_TILES' })
    folder.write({ 'set/town-2023.zip': ZIP, 'set/2024/0/0/0.png': png(1) })
    await assert.rejects(openSet([folder.path('set')]),
      { code: 'SOURCE_NOT_TILES', message: /town-2023\.zip" is a zip/ }, 'not passed over')
  })

  it('is refused by check too when it is a zip or tar', async () => {
    folder.write({ 'a.zip': ZIP, 'a.tgz': gzipSync(tar) })
    for (const name of ['a.zip', 'a.tgz']) {
      await assert.rejects(check(folder.path(name)), { code: 'SOURCE_NOT_TILES', advice: /Unpack it/ })
    }
  })

  it('is refused with the download command when it is an MBTiles file on a web server', async () => {
    const error = await errorOf('https://ada:s3cret@example.org/maps/town.mbtiles')
    assert.equal(error.code, 'SOURCE_UNKNOWN')
    assert.match(error.advice,
      /curl -fLO https:\/\/example\.org\/maps\/town\.mbtiles\n {4}tilecouch load town\.mbtiles --layer NAME$/)
    assert.doesNotMatch(error.message + error.advice, /s3cret/)
  })

  it('is named without control characters, and quoted for the shell', async () => {
    folder.write({ 'bad/\u001b[31m$(touch x)`y`".geojson': GEOJSON })
    const { advice, message } = await errorOf(folder.path('bad'))
    assert.ok(!(advice + message).includes('\u001b'))
    assert.match(advice, /"\S*\/bad\/\ufffd\[31m\\\$\(touch x\)\\`y\\`\\"\.geojson"/)
  })

  it('is ignored in a folder of tiles', async () => {
    folder.write({
      'tiles/0/0/0.png': png(1), 'tiles/dem.tif': 'II*\0', 'tiles/doc.kml': '<kml>',
      'tiles/project.qgz': 'x', 'tiles/conf.xml': '<x>',
      'nothing/readme.txt': 'x'
    })
    for (const name of ['tiles', 'nothing']) await (await openSource(folder.path(name))).close()
  })

  it('is unknown when its content is not recognised', async () => {
    folder.write({ 'a.json': '{"a": 1}', 'b.json': '{', 'c.xml': '<a/>', 'd.txt': 'hello', e: Buffer.from([1, 2, 3]) })
    for (const name of ['a.json', 'b.json', 'c.xml', 'd.txt', 'e']) {
      await assert.rejects(openSource(folder.path(name)), { code: 'SOURCE_UNKNOWN' }, name)
    }
  })

  it('is answered with each command on its own line, and as JSON', async () => {
    folder.write({ 'dem.tif': 'II*\0' })
    const argv = ['load', folder.path('dem.tif'), '--layer', 'dem', '--db', 'http://127.0.0.1:1/tiles']
    const { code, err } = await runCommand(argv)
    assert.equal(code, 1)
    assert.match(err, pattern(
      /^tilecouch: ".*dem\.tif" is a TIFF image.* \[SOURCE_NOT_TILES\]\n/,
      / {2}Cut it into tiles with GDAL, then load these:\n/,
      / {4}gdal2tiles\.py .*\n/,
      / {4}tilecouch load dem-tiles --layer NAME\n$/
    ))
    const { error, advice } = JSON.parse((await runCommand([...argv, '--json'])).err)
    assert.deepEqual([error, advice.split('\n').length], ['SOURCE_NOT_TILES', 3])
  })
})
