// Asks the gazetteer of the operator, Nominatim or a service with the same answers. The page calls it when the reader
// presses Enter: typed text is not sent by itself.

const TIMEOUT = 15000 // milliseconds
const MOST = 8 // places

/** The host in the address of the gazetteer, for readers. */
export const hostOf = (address, page = document.baseURI) => new URL(address, page).host

/**
 * @param {string} address of the search @param {string} text @param {{language: string, signal?: AbortSignal}} options
 * @returns {Promise<{title: string, lat: number, lon: number, box?: number[]}[]>} box: west, south, east, north
 */
export async function askGazetteer (address, text, { language, signal }) {
  const url = new URL(address, document.baseURI)
  for (const [name, value] of Object.entries({ q: text, format: 'jsonv2', limit: MOST, 'accept-language': language })) {
    url.searchParams.set(name, String(value))
  }
  const answer = await fetch(url, {
    signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT), ...signal ? [signal] : []]),
    credentials: 'omit',
    referrerPolicy: 'origin'
  })
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`.trim())
  return placesIn(await answer.json())
}

/** The places of an answer. Entries that are no places are left out. @param {any} answer */
export function placesIn (answer) {
  if (!Array.isArray(answer)) return []
  return answer.slice(0, MOST).flatMap(found => {
    const [lat, lon] = [found?.lat, found?.lon].map(Number)
    const [south, north, west, east] = (Array.isArray(found?.boundingbox) ? found.boundingbox : []).map(Number)
    const isPlace = Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && typeof found.display_name === 'string'
    const isIn = (most, ...degrees) => degrees.every(value => Math.abs(value) <= most)
    const isBox = south <= north && isIn(90, south, north) && isIn(180, west, east)
    const place = { title: String(found?.display_name).slice(0, 300), lat, lon }
    return isPlace ? [{ ...place, ...(isBox && { box: [west, south, east, north] }) }] : []
  })
}
