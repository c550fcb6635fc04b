// DescribeDomains of the extension WMTS Multidimensional (OGC Testbed 12), as GeoServer and GIBS have it: the times
// of a layer, all of them or those of a range, and how many they are. The capabilities have the newest ones only.
import { boundsOf } from './capabilities.js'
import { withSeries } from './times.js'
import { xml } from './xml.js'

const MOST_ENTRIES = 1000 // in a list: if there are more, the answer is the first and the last

/**
 * @param {Record<string, any>} layer
 * @param {string[]} times exact, ascending
 */
export function domains (layer, times) {
  const entries = withSeries(times)
  const [west, south, east, north] = boundsOf(layer)
  return String(xml`<?xml version="1.0" encoding="UTF-8"?>
<Domains xmlns="http://demo.geo-solutions.it/share/wmts-multidim/wmts_multi_dimensional.xsd" xmlns:ows="http://www.opengis.net/ows/1.1" version="1.1">
<SpaceDomain>
<BoundingBox CRS="urn:ogc:def:crs:OGC:2:84" minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>
</SpaceDomain>
<DimensionDomain>
<ows:Identifier>Time</ows:Identifier>
<Domain>${entries.length > MOST_ENTRIES ? `${times[0]}--${times.at(-1)}` : entries.join()}</Domain>
<Size>${times.length}</Size>
</DimensionDomain>
</Domains>
`)
}
