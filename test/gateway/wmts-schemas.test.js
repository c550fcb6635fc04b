// Tests the answers of the WMTS with the schemas of the OGC, which are not part of this repository. The other tests of
// the WMTS use the rules in wmts/schema.js instead.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { useFolder } from '../support/folder.js'
import { ogcSchemas, owslib, skip } from '../support/tools.js'
import { layers, others, startService, times } from './wmts/service.js'

const run = promisify(execFile)

// the schemas include each other by URL; the resolver reads local files, so no request leaves this machine
const VALIDATE = `
import os, sys
from lxml import etree
folder = sys.argv[1]
class Local(etree.Resolver):
    def resolve(self, url, public, context):
        for start, base in (
            ('http://schemas.opengis.net/', folder),
            ('http://www.w3.org/2001/', folder),
            ('http://www.w3.org/1999/', os.path.join(folder, 'xlink/1.0.0'))
        ):
            if url.startswith(start):
                return self.resolve_filename(os.path.join(base, url[len(start):]), context)
parser = etree.XMLParser(no_network=True)
parser.resolvers.add(Local())
schemas = {}
for file in sys.argv[2:]:
    document = etree.parse(file)
    name = {
        'Capabilities': 'wmts/1.0/wmtsGetCapabilities_response.xsd',
        'ExceptionReport': 'ows/1.1.0/owsExceptionReport.xsd'
    }[etree.QName(document.getroot()).localname]
    if name not in schemas:
        schema = etree.parse(os.path.join(folder, name), parser)
        # the corrigendum of 2011, which older copies lack: rows and columns may be 0
        for element in schema.iter('{http://www.w3.org/2001/XMLSchema}element'):
            if element.get('name') in ('MinTileRow', 'MaxTileRow', 'MinTileCol', 'MaxTileCol'):
                element.set('type', 'nonNegativeInteger')
        schemas[name] = etree.XMLSchema(schema)
    valid = schemas[name].validate(document)
    print(os.path.basename(file), 'valid' if valid else schemas[name].error_log.last_error)
`

describe('the schemas of the OGC', () => {
  const folder = useFolder()
  let service, schemas, python

  before(async function () {
    schemas = ogcSchemas() ??
      skip(this, 'the schemas of the OGC are not here: set OGC_SCHEMAS to a folder that has wmts/1.0 and ows/1.1.0')
    python = owslib() ??
      skip(this, 'OWSLib is not installed, whose XML library validates: set OWSLIB_PYTHON to a python that has it')
    const hourlyTimes =
      Array.from({ length: 150 }, (_, index) => new Date(Date.UTC(2020, 0, 1, index)).toISOString().replace('.000', ''))
    service = await startService(
      { layers: { ...layers, ...others, many: { layer: 'many' } }, times: {
        ...times, ...Object.fromEntries(Object.keys(others).map(name => [name, hourlyTimes])), many: hourlyTimes
      } }
    )
  })
  after(() => service?.close())

  /** @param {Record<string, string>} paths name -> address below /wmts */
  async function validate (paths) {
    for (const [name, address] of Object.entries(paths)) {
      folder.write({ [`${name}.xml`]: (await service.get(address)).text })
    }
    const files = Object.keys(paths).map(name => path.join(folder.dir, `${name}.xml`))
    const { stdout } = await run(python, ['-c', VALIDATE, schemas, ...files])
    return stdout.trim().split('\n')
  }

  it('accept the capabilities and exceptions of the gateway', async () => {
    const verdicts = await validate({
      now: '/1.0.0/WMTSCapabilities.xml',
      kvp: '?SERVICE=WMTS&REQUEST=GetCapabilities',
      then: '@2023/1.0.0/WMTSCapabilities.xml',
      parameter: '?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0',
      time: '@2023-13/1.0.0/WMTSCapabilities.xml',
      place: '/osm/default/GoogleMapsCompatible/10/1024/300.png',
      operation: '?SERVICE=WMTS&REQUEST=GetFeatureInfo',
      versions: '?SERVICE=WMTS&REQUEST=GetCapabilities&ACCEPTVERSIONS=9'
    })
    assert.deepEqual(verdicts,
      ['now', 'kvp', 'then', 'parameter', 'time', 'place', 'operation', 'versions'].map(name => `${name}.xml valid`))
  })

  it('refuse capabilities with a fault', async () => {
    const { text } = await service.get('/1.0.0/WMTSCapabilities.xml')
    folder.write({ 'bad.xml': text.replace('resourceType="tile"', 'resourceType="Domains"') })
    const { stdout } = await run(python, ['-c', VALIDATE, schemas, path.join(folder.dir, 'bad.xml')])
    assert.match(stdout, /^bad\.xml .*resourceType/)
  })
})
