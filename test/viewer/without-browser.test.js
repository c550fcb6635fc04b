// Tests parts of the viewer without a browser: the texts of its languages, with dates and numbers in the form of the
// reader; the parser of the search for a place; and the errors of requests whose answers are late, broken or refused.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { timelineWords } from '../../client/timeline/words.js'
import { Device } from '../../attachments/device.js'
import { parsePlace, placesIn } from '../../attachments/find/coordinates.js'
import { formatsOf, fromNow } from '../../attachments/format.js'
import { AnswerError, ask } from '../../attachments/requests.js'
import { say, wordsOf } from '../../attachments/words.js'
import { languageOf, languages, localeOf } from '../../attachments/words/locale.js'
import { startServer } from '../support/server.js'

const PLURALS = ['zero', 'one', 'two', 'few', 'many', 'other']
const FORMATS = ['locale', 'count', 'size', 'date', 'clock', 'month', 'dayMonth', 'monthYear'] // from the locale

const dataOf =
  name => JSON.parse(readFileSync(new URL(`../../attachments/words.${name}.json`, import.meta.url), 'utf8'))
const data = Object.fromEntries(languages.map(language => [language, dataOf(language)]))

const isPlural = value => value.other !== undefined && Object.keys(value).every(key => PLURALS.includes(key))
const placeholders = text => [...text.replace(/\{\{|\}\}/g, '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

/** Lists every text with its path. The forms of a plural are one entry. @returns {[path: string, texts: string[]][]} */
const textsOf = (value, path = '') => {
  if (typeof value === 'string') return [[path, [value]]]
  if (isPlural(value)) return [[path, Object.values(value)]]
  return Object.entries(value).flatMap(([name, inner]) => textsOf(inner, path && `${path}.${name}` || name))
}

describe('the languages of the page', () => {
  const translations = languages.filter(language => language !== 'en')

  it('are chosen from those of the reader, or English when the page has none of them', () => {
    const tags = [['de-AT', 'en'], ['pt', 'es-MX', 'en'], ['FR'], ['ja'], []]
    assert.deepEqual(tags.map(languageOf), ['de', 'es', 'fr', 'en', 'en'])
    assert.deepEqual([localeOf('en', ['de', 'en-GB']), localeOf('fr', ['en']), localeOf('de', ['de_x', 'de-CH'])],
      ['en-GB', 'fr', 'de-CH'])
  })

  for (const language of translations) {
    it(`have the same texts with the same placeholders in ${language} and in English`, () => {
      const shape = words => Object.fromEntries(textsOf({ ...words, timeline: {} })
        .map(([path, texts]) => [path, [...new Set(texts.flatMap(placeholders))].join()]))
      assert.deepEqual(shape(data[language]), shape(data.en))
    })

    it(`have the words of the timeline in ${language}`, () => {
      const kindsOf = words => Object.fromEntries(textsOf(words).map(([path, texts]) =>
        [path, texts.some(text => placeholders(text).length) ? 'function' : 'string']))
      const kind = ([path, value]) => typeof value === 'object'
        ? Object.entries(value).map(([name, inner]) => [`${path}.${name}`, typeof inner])
        : [[path, typeof value]]
      const english = Object.entries(timelineWords).filter(([name]) => !FORMATS.includes(name)).flatMap(kind)
      assert.deepEqual(kindsOf(data[language].timeline), Object.fromEntries(english))
    })

    it(`leave nothing untranslated in ${language}`, () => {
      const english = new Map(textsOf(data.en))
      const same = textsOf(data[language]).filter(([path, texts]) =>
        /[a-z]{4} [a-z]{3}/i.test(texts[0]) && `${english.get(path)}` === `${texts}`)
      assert.deepEqual(same, [])
    })
  }

  it('have every form that a plural of the language needs, each with its number', () => {
    for (const language of languages) {
      const rules = new Intl.PluralRules(language)
      const needed = [...new Set([0, 1, 2, 5, 21, 1000].map(number => rules.select(number)))]
      const walk = (value, path) => {
        if (typeof value === 'string') return
        if (!isPlural(value)) return Object.entries(value).forEach(([name, inner]) => walk(inner, `${path}.${name}`))
        if (Object.keys(value).length > 1) assert.deepEqual(needed.filter(form => !value[form]), [], path)
        // "the last edition": there is at least one
        const isInWords = ['editions.last', 'place.last'].includes(path.slice(`${language}.`.length))
        for (const [form, text] of Object.entries(value)) {
          if (!(isInWords && form === 'one')) assert.ok(placeholders(text).includes('count'), path)
        }
      }
      walk(data[language], language)
    }
  })

  it('count and write numbers as the language does', () => {
    const [en, de, fr] = ['en', 'de', 'fr'].map(language => wordsOf(data[language], language))
    assert.deepEqual([1, 2, 1234].map(de.tiles), ['1 Kachel', '2 Kacheln', '1.234 Kacheln'])
    assert.deepEqual([0, 1, 2].map(fr.tiles), ['0 tuile', '1 tuile', '2 tuiles'])
    assert.deepEqual([1, 12345].map(en.layers), ['1 layer', '12,345 layers'])
    assert.equal(en.find.found({ count: 1200, host: 'example.org' }), '1,200 places from example.org')
  })

  it('fill their placeholders, and keep doubled braces', () => {
    const texts = wordsOf({ plain: 'a {{z}} b', one: '{what}!', two: '{a} of {b}', list: ['{x}', 'y'] }, 'en')
    assert.deepEqual([texts.plain, texts.one('A'), texts.two({ a: 1, b: 2000 }), texts.list[0](3), texts.list[1]],
      ['a {z} b', 'A!', '1 of 2,000', '3', 'y'])
    assert.deepEqual([say(texts.plain, 1), say(texts.one, 'B')], ['a {z} b', 'B!'])
  })

  it('write dates and sizes as the reader does', () => {
    const time = Date.UTC(2024, 5, 20, 14, 5)
    const written = (locale, language) => {
      const { date, clock, size, dayMonth } = formatsOf(locale, wordsOf(data[language], language).numbers)
      return [date(time), clock(time), clock(time + 30000), dayMonth(time), size(2345), size(12345678)]
        .map(text => text.replace(/[\u202f\u00a0]/g, ' '))
    }
    assert.deepEqual(written('en-GB', 'en'), ['20 Jun 2024', '14:05', '14:05:30', '20 Jun', '2.3 kB', '12.3 MB'])
    assert.deepEqual(written('en-US', 'en'), ['Jun 20, 2024', '2:05 PM', '2:05:30 PM', 'Jun 20', '2.3 kB', '12.3 MB'])
    assert.deepEqual(written('de', 'de'), ['20. Juni 2024', '14:05', '14:05:30', '20. Juni', '2,3 kB', '12,3 MB'])
    assert.deepEqual(written('fr', 'fr'), ['20 juin 2024', '14:05', '14:05:30', '20 juin', '2,3 ko', '12,3 Mo'])
  })

  it('write how long ago something was in a unit that it fills after rounding', () => {
    const [minute, hour, day] = [60e3, 3600e3, 86400e3]
    const spans = [20e3, 59.4 * minute, 59.6 * minute, 23.4 * hour, 23.6 * hour, 29.8 * day, 30 * day, 400 * day]
    assert.deepEqual(spans.map(span => fromNow(-span)), [
      'this minute', '59 minutes ago', '1 hour ago', '23 hours ago', 'yesterday', '30 days ago', 'last month',
      '13 months ago'
    ])
  })
})

const near = (text, lat, lon, z = undefined, language = 'en') => {
  const place = parsePlace(text, language)
  assert.ok(place && Math.abs(place.lat - lat) < 1e-6 && Math.abs(place.lon - lon) < 1e-6 && place.z === z,
    `${text}: ${JSON.stringify(place)}`)
}

describe('coordinates', () => {
  it('are read with signs, commas, semicolons and spaces', () => {
    for (const text of ['47.5, 8.3', '47.5 8.3', '47.5,8.3', '47.5;8.3', '47,5; 8,3',
      '47,5 8,3', ' +47.5  +8.3 ', '47.5° 8.3°', 'lat: 47.5 lon: 8.3', '(47.5, 8.3)']) near(text, 47.5, 8.3)
    near('-33.8,151.2', -33.8, 151.2)
    near('-33,8; -70,5', -33.8, -70.5)
    near('47,8', 47, 8)
  })

  it('are read in degrees, minutes and seconds, with letters on either side, in either order', () => {
    for (
      const text of ['47°30\'00"N 8°18\'00"E', '47° 30\' N, 8° 18\' E',
        '47 30 N 8 18 E', 'N47 30 00 E8 18 00', 'N 47.5 E 8.3', '8.3E 47.5N',
        '47°30′00″N 8°18′00″E', '47d30m N, 8d18m E', '47 30 8 18', "47°30'00''N 8°18'00''E"]
    ) near(text, 47.5, 8.3)
    near('33°51\'54"S 151°12\'34"W', -33.865, -151.2094444)
    near("47°30.5'N 8°18.25'E", 47.5083333, 8.3041667)
    // "Ost" and "oeste"
    for (const [language, lon] of [['de', 8.3], ['fr', -8.3], ['es', -8.3]]) {
      near('47,5 N 8,3 O', 47.5, lon, undefined, String(language))
    }
  })

  it('are read from tile numbers, geo: addresses and addresses of other maps', () => {
    near('3/4/3', 20.489949, 22.5, 3)
    near('12/47.5/8.3', 47.5, 8.3, 12)
    near('geo:47.5,8.3', 47.5, 8.3)
    near('geo:47.5,8.3;u=35?z=12', 47.5, 8.3, 12)
    near('geo:0,0?q=47.5,8.3', 47.5, 8.3)
    near('https://www.openstreetmap.org/#map=12/47.5/8.3', 47.5, 8.3, 12)
    near('https://maps.example/@47.5,8.3,12z', 47.5, 8.3, 12)
  })

  it('are not read from other texts or outside of the world', () => {
    for (
      const text of ['', 'Bern', '47.5', '91, 0', '0, 181', '47.5S 8.3N', '10 Main Street',
        '2024-03-01', '1 2 3', '1,2,3', '47 61 N 8 18 E', '47 30 -5 N 8 E', 'N E', '°', '3/4/5/6', 'geo:x,y']
    ) assert.equal(parsePlace(text), null, text)
  })

  it('of any place are read back from each written form', () => {
    const degrees = limit => fc.double({ min: -limit, max: limit, noNaN: true })
      .map(value => Math.round(value * 1e5) / 1e5 || 0)
    fc.assert(fc.property(degrees(90), degrees(180), (lat, lon) => {
      const [north, east] = [lat.toFixed(5), lon.toFixed(5)]
      near(`${north}, ${east}`, lat, lon)
      near(`${north} ${east}`, lat, lon)
      near(`${north.replace('.', ',')}; ${east.replace('.', ',')}`, lat, lon)
      near(`${Math.abs(lat).toFixed(5)}${lat < 0 ? 'S' : 'N'} ${Math.abs(lon).toFixed(5)}${lon < 0 ? 'W' : 'E'}`,
        lat, lon)
    }))
  })
})

describe('the data on the device', () => {
  it('are as old as the oldest area of the layer, and of no known time if an area was never complete', () => {
    const asOf = (layer, times) => {
      const areas = Object.entries(times).map(([name, updated]) => ({ layer: name[0], status: () => ({ updated }) }))
      return Device.prototype.asOf.call({ offline: { areas: { list: () => areas } } }, layer)
    }
    assert.equal(asOf('a', { a1: '2024-02-01T00:00:00Z', a2: '2024-01-01T00:00:00Z', b: undefined }),
      '2024-01-01T00:00:00Z')
    assert.equal(asOf('a', { a1: '2024-02-01T00:00:00Z', a2: undefined }), null)
    assert.equal(asOf('a', { b: '2024-02-01T00:00:00Z' }), undefined)
  })
})

describe('the answer of a gazetteer', () => {
  it('is read as a list of places, without its invalid entries', () => {
    const bern = { lat: '46.948', lon: '7.447', display_name: 'Bern', boundingbox: ['46.9', '47.0', '7.2', '7.5'] }
    assert.deepEqual(placesIn([bern]), [{ title: 'Bern', lat: 46.948, lon: 7.447, box: [7.2, 46.9, 7.5, 47] }])
    assert.deepEqual(
      placesIn([{ ...bern, boundingbox: undefined }, null, 3, { ...bern, lat: 'x' },
        { ...bern, display_name: {} }, { ...bern, boundingbox: ['x'] }]).map(({ box }) => box), [undefined, undefined]
    )
    for (const answer of [null, {}, 'x', [[]]]) assert.deepEqual(placesIn(answer), [])
  })
})

const HALF = '{"rows": ['

/** How the server answers a request, by its path. @type {Record<string, (response: any) => void>} */
const answers = {
  '/broken': response => response.write(HALF, () => response.destroy()),
  '/slow': response => response.write(HALF),
  '/refused': response => {
    response.statusCode = 500
    response.write(HALF, () => response.destroy())
  },
  '/text': response => response.end('It works!')
}

describe('requests of the pages', () => {
  let server
  before(async () => {
    server = await startServer(({ url }, response) => answers[String(url)](response))
    Object.assign(globalThis, { document: { baseURI: server.url } })
  })
  after(() => {
    Reflect.deleteProperty(globalThis, 'document')
    return server?.close()
  })

  /** @param {string} path @param {import('../../attachments/requests.js').Options} [options] @returns {Promise<any>} */
  const failure = (path, options) =>
    ask(`${server.url}${path}`, options).then(() => assert.fail('there was an answer'), error => error)

  it('say that the connection broke or that the answer is late while it is read', async () => {
    const broken = await failure('/broken')
    const late = await failure('/slow', { timeout: 500 })
    assert.ok(broken instanceof AnswerError)
    assert.deepEqual([broken, late].map(({ message, status }) => [message, status]), [
      ['The connection broke off before the whole answer was there.', undefined],
      ['No answer within 0.5 seconds.', undefined]
    ])
  })

  it('end with an AbortError when the page stops them', async () => {
    const stopping = new AbortController()
    const { name } = await failure('/slow', {
      signal: stopping.signal, onAnswer: () => { setTimeout(() => stopping.abort(), 50) }
    })
    assert.equal(name, 'AbortError')
  })

  it('keep the status of an answer that is no JSON, and of a refusal that broke', async () => {
    const text = await failure('/text')
    assert.deepEqual([text.message, text.status], ['The server answered 200 OK.', 200])
    assert.equal((await failure('/refused')).status, 500)
  })
})
