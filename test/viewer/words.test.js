// The languages of the page, without a browser: all say the same things, and dates and numbers are the reader's.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { timelineWords } from '../../client/timeline/words.js'
import { formatsOf } from '../../attachments/format.js'
import { say, wordsOf } from '../../attachments/words.js'
import { languageOf, languages, localeOf } from '../../attachments/words/locale.js'

const PLURALS = ['zero', 'one', 'two', 'few', 'many', 'other']
const FORMATS = ['locale', 'count', 'size', 'date', 'clock', 'month', 'dayMonth', 'monthYear'] // from the locale

const dataOf =
  name => JSON.parse(readFileSync(new URL(`../../attachments/words.${name}.json`, import.meta.url), 'utf8'))
const data = Object.fromEntries(languages.map(language => [language, dataOf(language)]))

const isPlural = value => value.other !== undefined && Object.keys(value).every(key => PLURALS.includes(key))
const placeholders = text => [...text.replace(/\{\{|\}\}/g, '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

/** Every text by its path, the forms of a plural together. @returns {[path: string, texts: string[]][]} */
const textsOf = (value, path = '') => {
  if (typeof value === 'string') return [[path, [value]]]
  if (isPlural(value)) return [[path, Object.values(value)]]
  return Object.entries(value).flatMap(([name, inner]) => textsOf(inner, path && `${path}.${name}` || name))
}

describe('the languages of the page', () => {
  const others = languages.filter(language => language !== 'en')

  it('are chosen from those of the reader, or English when the page has none of them', () => {
    const tags = [['de-AT', 'en'], ['pt', 'es-MX', 'en'], ['FR'], ['ja'], []]
    assert.deepEqual(tags.map(languageOf), ['de', 'es', 'fr', 'en', 'en'])
    assert.deepEqual([localeOf('en', ['de', 'en-GB']), localeOf('fr', ['en']), localeOf('de', ['de_x', 'de-CH'])],
      ['en-GB', 'fr', 'de-CH'])
  })

  for (const language of others) {
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
    const at = Date.UTC(2024, 5, 20, 14, 5)
    const written = (locale, language) => {
      const { date, clock, size, dayMonth } = formatsOf(locale, wordsOf(data[language], language).numbers)
      return [date(at), clock(at), clock(at + 30000), dayMonth(at), size(2345), size(12345678)]
        .map(text => text.replace(/[\u202f\u00a0]/g, ' '))
    }
    assert.deepEqual(written('en-GB', 'en'), ['20 Jun 2024', '14:05', '14:05:30', '20 Jun', '2.3 kB', '12.3 MB'])
    assert.deepEqual(written('en-US', 'en'), ['Jun 20, 2024', '2:05 PM', '2:05:30 PM', 'Jun 20', '2.3 kB', '12.3 MB'])
    assert.deepEqual(written('de', 'de'), ['20. Juni 2024', '14:05', '14:05:30', '20. Juni', '2,3 kB', '12,3 MB'])
    assert.deepEqual(written('fr', 'fr'), ['20 juin 2024', '14:05', '14:05:30', '20 juin', '2,3 ko', '12,3 Mo'])
  })
})
