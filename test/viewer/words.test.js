// The languages of the page, without a browser: all say the same things, and dates are the reader's.
import assert from 'node:assert/strict'
import { timelineWords } from '../../client/timeline/words.js'
import { formatsOf } from '../../attachments/words/dates.js'
import { languageOf, languages } from '../../attachments/words/index.js'
import { localeOf } from '../../attachments/words/locale.js'
import { languages as layers } from '../../attachments/words/layers/index.js'
import { languages as offline } from '../../attachments/words/offline/index.js'

/** Fields with what they are, `panel.zoom function`; lists with their length. */
const shapeOf = (words, path = '') => Object.entries(words).flatMap(([name, value]) =>
  value && typeof value === 'object' ? [`${path}${name} ${Array.isArray(value) ? value.length : ''}`, ...shapeOf(value, `${path}${name}.`)] : [`${path}${name} ${typeof value}`])

/** Every text, functions with figures and names in place of what they are given. */
const textsOf = (words, path = '') => Object.entries(words).flatMap(([name, value]) => {
  if (typeof value === 'string') return [[path + name, value]]
  if (typeof value === 'object') return textsOf(value, `${path}${name}.`)
  const made = path + name === 'link.problems' ? value(['A.']) : value(...Array.from({ length: value.length }, (_, at) => `${at + 2}`))
  return typeof made === 'object' ? textsOf(made, `${path}${name}.`) : [[path + name, made]]
})

const FORMATS = ['locale', 'count', 'size', 'date', 'clock', 'month', 'dayMonth', 'monthYear'] // from the locale, not from a list of words

describe('the languages of the page', () => {
  const others = ['de', 'fr', 'es']

  it('are those of the reader, as far as the page has them', () => {
    assert.deepEqual([['de-AT', 'en'], ['pt', 'es-MX', 'en'], ['FR'], ['ja'], []].map(languageOf), ['de', 'es', 'fr', 'en', 'en'])
    assert.deepEqual([localeOf('en', ['de', 'en-GB']), localeOf('fr', ['en']), localeOf('de', ['de_x', 'de-CH'])], ['en-GB', 'fr', 'de-CH'])
  })

  for (const language of others) {
    it(`say all in ${language}, as in English`, () => {
      const plain = words => ({ ...words, timeline: {} })
      assert.deepEqual(shapeOf(plain(languages[language])), shapeOf(plain(languages.en)))
      assert.deepEqual(shapeOf(offline[language]), shapeOf(offline.en))
      assert.deepEqual(shapeOf(layers[language]), shapeOf(layers.en))
      assert.deepEqual(Object.keys(languages[language].timeline).sort(), Object.keys(timelineWords).filter(name => !FORMATS.includes(name)).sort())
      assert.deepEqual(shapeOf(languages[language].timeline).sort(), shapeOf(timelineWords).filter(field => !FORMATS.includes(field.split(' ')[0])).sort())
    })
  }

  it('leave nothing out of what they say, and nothing untranslated', () => {
    const english = new Map([languages, offline, layers].flatMap(all => textsOf(all.en)))
    for (const language of ['en', ...others]) {
      const texts = [languages, offline, layers].flatMap(all => textsOf(all[language]))
      for (const [name, text] of texts) assert.doesNotMatch(text, /undefined|NaN|\[object|#/, `${language} ${name}`)
      if (language === 'en') continue
      const same = texts.filter(([name, text]) => text === english.get(name) && /[a-z]{4} [a-z]{3}/i.test(text))
      assert.deepEqual(same, [], language)
    }
  })

  it('count as the language does', () => {
    assert.deepEqual([1, 2, 1234].map(languages.de.tiles), ['1 Kachel', '2 Kacheln', '1.234 Kacheln'])
    assert.deepEqual([0, 1, 2].map(languages.fr.tiles), ['0 tuile', '1 tuile', '2 tuiles'])
    assert.deepEqual([1, 12345].map(languages.en.layers), ['1 layer', '12,345 layers'])
  })

  it('write dates and sizes as the reader does', () => {
    const at = Date.UTC(2024, 5, 20, 14, 5)
    const written = (locale, language) => {
      const { date, clock, size, dayMonth } = formatsOf(locale, languages[language].numbers)
      return [date(at), clock(at), clock(at + 30000), dayMonth(at), size(2345), size(12345678)].map(text => text.replace(/[\u202f\u00a0]/g, ' '))
    }
    assert.deepEqual(written('en-GB', 'en'), ['20 Jun 2024', '14:05', '14:05:30', '20 Jun', '2.3 kB', '12.3 MB'])
    assert.deepEqual(written('en-US', 'en'), ['Jun 20, 2024', '2:05 PM', '2:05:30 PM', 'Jun 20', '2.3 kB', '12.3 MB'])
    assert.deepEqual(written('de', 'de'), ['20. Juni 2024', '14:05', '14:05:30', '20. Juni', '2,3 kB', '12,3 MB'])
    assert.deepEqual(written('fr', 'fr'), ['20 juin 2024', '14:05', '14:05:30', '20 juin', '2,3 ko', '12,3 Mo'])
  })
})
