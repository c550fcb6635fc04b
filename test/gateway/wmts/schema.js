// The schemas of WMTS 1.0.0 and OWS Common 1.1 for capabilities and exceptions: child elements with their order and
// number, attributes, and text. They were written from the published XSDs with the erratum of 2011, which allows 0 as
// the greatest row or column. No small package contains these XSDs.
import { all, childrenOf } from './xml.js'

const MANY = Infinity
const text = /\S/
const any = /^/
const whole = /^\d+$/
const positive = /^[1-9]\d*$/
const double = /^-?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/
const position = /^-?\d+(\.\d+)?([eE][+-]?\d+)? -?\d+(\.\d+)?([eE][+-]?\d+)?$/
const uri = /^[^\s<>"{}|\\^`]+$/
const mime = /^(application|audio|image|text|video|message|multipart|model)\/.+(;\s*.+=.+)*$/
const template = /^([A-Za-z0-9\-_.!~*'();/?:@+$,#{}=&]|%[A-Fa-f0-9]{2})+$/

const described = [['ows:Title', 0, MANY], ['ows:Abstract', 0, MANY], ['ows:Keywords', 0, MANY]]

/**
 * Element -> content: `children` in order with their least and greatest number, `choice` in any order, or the pattern
 * of its `text`. `attributes` with a ! are required. An element with two meanings has a second entry below its parent.
 * @type {Record<string, {children?: any[][], choice?: string[], text?: RegExp, attributes?: Record<string, RegExp>}>}
 */
export const schema = {
  Capabilities: {
    children: [['ows:ServiceIdentification', 0, 1], ['ows:ServiceProvider', 0, 1], ['ows:OperationsMetadata', 0, 1],
      ['Contents', 0, 1], ['Themes', 0, MANY], ['WSDL', 0, MANY], ['ServiceMetadataURL', 0, MANY]],
    attributes: { '!version': /^\d+\.\d?\d\.\d?\d$/, updateSequence: any, 'xsi:schemaLocation': text }
  },
  'ows:ServiceIdentification': {
    children: [...described, ['ows:ServiceType', 1, 1], ['ows:ServiceTypeVersion', 1, MANY],
      ['ows:Profile', 0, MANY], ['ows:Fees', 0, 1], ['ows:AccessConstraints', 0, MANY]]
  },
  'ows:Title': { text, attributes: { 'xml:lang': text } },
  'ows:Abstract': { text, attributes: { 'xml:lang': text } },
  'ows:ServiceType': { text: /^OGC WMTS$/ },
  'ows:ServiceTypeVersion': { text: /^\d+\.\d?\d\.\d?\d$/ },
  'ows:Fees': { text },
  'ows:AccessConstraints': { text },
  'ows:OperationsMetadata': { children: [['ows:Operation', 2, MANY],
    ['ows:Parameter', 0, MANY], ['ows:Constraint', 0, MANY], ['ows:ExtendedCapabilities', 0, 1]] },
  'ows:Operation': { children: [['ows:DCP', 1, MANY], ['ows:Parameter', 0, MANY], ['ows:Constraint', 0, MANY],
    ['ows:Metadata', 0, MANY]], attributes: { '!name': /^(GetCapabilities|GetTile|GetFeatureInfo)$/ } },
  'ows:DCP': { children: [['ows:HTTP', 1, 1]] },
  'ows:HTTP': { choice: ['ows:Get', 'ows:Post'] },
  'ows:Get': { children: [['ows:Constraint', 0, MANY]], attributes: { '!xlink:href': uri, 'xlink:type': /^simple$/ } },
  'ows:Constraint': { children: [['ows:AllowedValues', 1, 1], ['ows:DefaultValue', 0, 1],
    ['ows:Meaning', 0, 1], ['ows:DataType', 0, 1]], attributes: { '!name': text } },
  'ows:AllowedValues': { choice: ['ows:Value', 'ows:Range'] },
  'ows:Value': { text },
  Contents: { children: [['Layer', 0, MANY], ['ows:OtherSource', 0, MANY], ['TileMatrixSet', 0, MANY]] },
  Layer: {
    children: [...described, ['ows:WGS84BoundingBox', 0, MANY], ['ows:Identifier', 1, 1],
      ['ows:BoundingBox', 0, MANY], ['ows:Metadata', 0, MANY], ['Layer', 0, MANY],
      ['Style', 1, MANY], ['Format', 1, MANY], ['InfoFormat', 0, MANY],
      ['Dimension', 0, MANY], ['TileMatrixSetLink', 1, MANY], ['ResourceURL', 0, MANY]]
  },
  'ows:WGS84BoundingBox': { children: [['ows:LowerCorner', 1, 1], ['ows:UpperCorner', 1, 1]], attributes: {
    crs: /^urn:ogc:def:crs:OGC:2:84$/, dimensions: /^2$/
  } },
  'ows:BoundingBox': {
    children: [['ows:LowerCorner', 1, 1], ['ows:UpperCorner', 1, 1]], attributes: { crs: uri, dimensions: positive }
  },
  'ows:LowerCorner': { text: position },
  'ows:UpperCorner': { text: position },
  'ows:Identifier': { text, attributes: { codeSpace: uri } },
  Style: { children: [...described, ['ows:Identifier', 1, 1], ['LegendURL', 0, MANY]], attributes: {
    isDefault: /^(true|false|1|0)$/
  } },
  Format: { text: mime },
  Dimension: { children: [...described, ['ows:Identifier', 1, 1],
    ['ows:UOM', 0, 1], ['UnitSymbol', 0, 1], ['Default', 0, 1], ['Current', 0, 1], ['Value', 1, MANY]] },
  'ows:UOM': { text, attributes: { 'ows:reference': uri } },
  Default: { text: any },
  Current: { text: /^(true|false|1|0)$/ },
  Value: { text: any },
  TileMatrixSetLink: { children: [['TileMatrixSet', 1, 1], ['TileMatrixSetLimits', 0, 1]] },
  'TileMatrixSetLink/TileMatrixSet': { text },
  TileMatrixSetLimits: { children: [['TileMatrixLimits', 1, MANY]] },
  TileMatrixLimits: { children: [['TileMatrix', 1, 1], ['MinTileRow', 1, 1],
    ['MaxTileRow', 1, 1], ['MinTileCol', 1, 1], ['MaxTileCol', 1, 1]] },
  'TileMatrixLimits/TileMatrix': { text },
  MinTileRow: { text: whole },
  MaxTileRow: { text: whole },
  MinTileCol: { text: whole },
  MaxTileCol: { text: whole },
  ResourceURL: { children: [], attributes: { '!format': mime, '!resourceType': text, '!template': template } },
  TileMatrixSet: { children: [...described, ['ows:Identifier', 1, 1],
    ['ows:BoundingBox', 0, 1], ['ows:SupportedCRS', 1, 1], ['WellKnownScaleSet', 0, 1], ['TileMatrix', 1, MANY]] },
  'ows:SupportedCRS': { text: uri },
  WellKnownScaleSet: { text: uri },
  TileMatrix: {
    children: [...described, ['ows:Identifier', 1, 1], ['ScaleDenominator', 1, 1],
      ['TopLeftCorner', 1, 1], ['TileWidth', 1, 1], ['TileHeight', 1, 1], ['MatrixWidth', 1, 1], ['MatrixHeight', 1, 1]]
  },
  ScaleDenominator: { text: double },
  TopLeftCorner: { text: position },
  TileWidth: { text: positive },
  TileHeight: { text: positive },
  MatrixWidth: { text: positive },
  MatrixHeight: { text: positive },
  ServiceMetadataURL: { children: [], attributes: { '!xlink:href': uri, 'xlink:type': /^simple$/ } },

  // elements of the extension WMTS Multidimensional, as clients of GeoServer and GIBS read it
  'md:Domains': {
    children: [['md:SpaceDomain', 1, 1], ['md:DimensionDomain', 0, MANY]], attributes: { '!version': /^1\.1$/ }
  },
  'md:SpaceDomain': { children: [['md:BoundingBox', 1, 1]] },
  'md:BoundingBox': {
    children: [], attributes: { '!CRS': uri, '!minx': double, '!miny': double, '!maxx': double, '!maxy': double }
  },
  'md:DimensionDomain': { children: [['ows:Identifier', 1, 1], ['md:Domain', 1, 1], ['md:Size', 1, 1]] },
  'md:Domain': { text: any },
  'md:Size': { text: whole },

  'ows:ExceptionReport': { children: [['ows:Exception', 1, MANY]], attributes: {
    '!version': /^\d+\.\d?\d\.\d?\d$/, 'xml:lang': text, 'xsi:schemaLocation': text
  } },
  'ows:Exception': {
    children: [['ows:ExceptionText', 0, MANY]], attributes: { '!exceptionCode': text, locator: text }
  },
  'ows:ExceptionText': { text }
}

/**
 * All violations of the schema in a document, as texts.
 * @param {import('./xml.js').Node} node
 * @param {string} [parent]
 * @returns {string[]}
 */
export function violations (node, parent = '') {
  const rule = schema[`${parent}/${node.name}`] ?? schema[node.name]
  if (!rule) return [`${node.name} is no element of the schema`]
  const nodeFaults = [...attributes(node, rule.attributes ?? {}), ...content(node, rule)]
  return [...nodeFaults, ...node.children.flatMap(child => violations(child, node.name))]
}

function attributes (node, rules) {
  const faults = []
  for (const name of Object.keys(rules)) if (name.startsWith('!') && !(name.slice(1) in node.attributes)) {
    faults.push(`${node.name} has no ${name.slice(1)}`)
  }
  for (const [name, value] of Object.entries(node.attributes)) {
    const rule = rules[name] ?? rules[`!${name}`]
    if (!rule) faults.push(`${node.name} may have no ${name}`)
    else if (!rule.test(value)) faults.push(`${node.name} has a bad ${name}: ${value}`)
  }
  return faults
}

function content (node, rule) {
  if (rule.text) {
    return [...(node.children.length ? [`${node.name} holds text only`] : []),
      ...(rule.text.test(node.text) ? [] : [`${node.name} has a bad text: ${node.text}`])]
  }
  const faults = node.text.trim() ? [`${node.name} holds elements only: ${node.text.trim()}`] : []
  const names = node.children.map(({ name }) => name)
  if (rule.choice) {
    if (names.length === 0) faults.push(`${node.name} is empty`)
    return [
      ...faults, ...names.filter(name => !rule.choice.includes(name)).map(name => `${node.name} may have no ${name}`)
    ]
  }
  let index = 0
  for (const [name, least, most] of rule.children) {
    const from = index
    while (names[index] === name) index++
    if (index - from < least) faults.push(`${node.name} needs ${name} after ${names[from - 1] ?? 'its start'}`)
    if (index - from > most) faults.push(`${node.name} has ${index - from} ${name}`)
  }
  if (index < names.length) faults.push(`${node.name} has ${names[index]} where it may not be`)
  return faults
}

/**
 * Faults that the schema cannot express: duplicate identifiers, and links without a target.
 * @param {import('./xml.js').Node} capabilities
 */
export function dangling (capabilities) {
  const faults = []
  const [contents] = childrenOf(capabilities, 'Contents')
  const identifiers = node => childrenOf(node, 'ows:Identifier').map(identifier => identifier.text)
  const unique = (kind, names) => { if (new Set(names).size < names.length) faults.push(`${kind} twice: ${names}`) }
  const sets = new Map(childrenOf(contents, 'TileMatrixSet')
    .map(set => [identifiers(set)[0], childrenOf(set, 'TileMatrix').flatMap(identifiers)]))
  unique('layers', childrenOf(contents, 'Layer').flatMap(identifiers))
  unique('tile matrix sets', childrenOf(contents, 'TileMatrixSet').flatMap(identifiers))
  for (const [name, matrices] of sets) unique(`matrices of ${name}`, matrices)
  for (const link of all(contents, 'TileMatrixSetLink')) {
    const set = childrenOf(link, 'TileMatrixSet')[0]?.text
    if (!sets.has(set)) faults.push(`no tile matrix set ${set}`)
    for (const limit of all(link, 'TileMatrix')) if (!sets.get(set)?.includes(limit.text)) {
      faults.push(`no tile matrix ${limit.text} in ${set}`)
    }
  }
  return faults
}
