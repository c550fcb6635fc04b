// Words that depend on a number, by the rules of a language; # is the number as the reader writes it.
import { lazy } from './lazy.js'
import { localeOf } from './locale.js'

/**
 * @param {string} language
 * @returns {(forms: {other: string} & Partial<Record<Intl.LDMLPluralRule, string>>) => (count: number) => string}
 */
export function counted (language) {
  const rules = lazy(() => new Intl.PluralRules(language))
  const number = lazy(() => new Intl.NumberFormat(localeOf(language)))
  return forms => count => (forms[rules().select(count)] ?? forms.other).replace('#', number().format(count))
}
