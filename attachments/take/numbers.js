// Numbers as the reader's language writes them, and names of files.

/** @param {string} language */
export function numbersIn (language) {
  const inUnit = (unit, digits, unitDisplay) =>
    new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay, maximumFractionDigits: digits })
  const [kilobytes, megabytes] = [inUnit('kilobyte', 0, 'short'), inUnit('megabyte', 1, 'short')]
  const [count, seconds] = [new Intl.NumberFormat(language), inUnit('second', 1, 'long')]
  return {
    count: number => count.format(number),
    bytes: number => number < 999500 ? kilobytes.format(number / 1e3) : megabytes.format(number / 1e6),
    seconds: number => seconds.format(number)
  }
}

/** `daylight-2024-06-20T1400.png` @param {string} layer @param {(string | null)[]} times @param {string} extension */
export const fileName = (layer, times, extension) =>
  `${[layer, ...times.filter(time => time !== null).map(brief)].join('-')}.${extension}`

const brief = time => time.replace(/T00:00:00Z$/, '').replace(/(:00)?Z$/, '').replaceAll(':', '')
