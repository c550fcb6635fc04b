// Which moments of the past of a layer are kept, and what a prune would remove by that.
import { element } from '../../../client/timeline/dom.js'
import { checkRetention } from '../../../core/retention.js'
import { texts } from '../words.js'
import { choiceField, durationForm, durationText, inputField, listForm, wholeForm } from './fields.js'

const words = texts.layers.retention
const MOST = 1e6 // moments a rule may ask for, as in core/retention.js
const COUNTS = ['last', 'hourly', 'daily', 'weekly', 'monthly', 'yearly']

/** @returns {import('./fields.js').Field} the rules, as the `retention` of a layer */
export function retentionField () {
  const counts = COUNTS.map(rule => inputField({ name: `retention.${rule}`, label: words.rules[rule], form: wholeForm(0, MOST) }))
  const within = inputField({ name: 'retention.within', label: words.rules.within, hint: words.hints.within, form: durationForm, placeholder: '90d' })
  const editions = choiceField({ name: 'retention.editions', label: words.rules.editions }, [[undefined, words.editions.none], [true, words.editions.all], ['some', words.editions.some]])
  const times = inputField({ name: 'retention.times', label: words.rules.times, hint: words.hints.times, form: listForm, placeholder: '2023, 2024-03-01' })
  const fields = [...counts, within, editions, times]
  const problem = element('p', { class: 'problem' })
  const noted = element('div', { class: 'noted', role: 'status' })
  const arrange = () => { times.element.hidden = editions.read() !== 'some' }
  const partOf = name => fields.find(each => each.name === `retention.${name}`)

  function read () {
    const found = {}
    const take = (rule, field) => {
      try {
        const value = field.read()
        if (value) found[rule] = value // 0 is no rule
      } catch (error) {
        throw Object.assign(error, { inner: rule })
      }
    }
    COUNTS.forEach((rule, at) => take(rule, counts[at]))
    take('within', within)
    take('editions', editions)
    if (found.editions === 'some') {
      found.editions = times.read()
      if (!found.editions?.length) throw Object.assign(new Error(words.noTimes), { inner: 'times' })
    }
    if (!Object.keys(found).length) return undefined
    try {
      checkRetention(found)
    } catch (error) {
      const { field, why } = error.details ?? {}
      throw Object.assign(new Error(field === 'editions' || !field ? words.badTimes : why), { inner: field === 'editions' ? 'times' : field })
    }
    return found
  }

  return {
    name: 'retention',
    label: words.head,
    element: element('div', { on: { change: arrange } }, element('div', { class: 'fields' }, fields.map(each => each.element)), noted, problem),
    read,
    show (value) {
      COUNTS.forEach((rule, at) => counts[at].show(value?.[rule]))
      within.show(value?.within)
      const isSome = Array.isArray(value?.editions)
      editions.show(isSome ? 'some' : value?.editions === true ? true : undefined)
      times.show(isSome ? value.editions : undefined)
      arrange()
    },
    state: () => JSON.stringify(fields.map(each => each.state())),
    complain (text, inner) {
      for (const each of fields) each.complain('')
      const own = inner && partOf(inner)
      if (own) own.complain(text)
      problem.textContent = own ? '' : text
    },
    note: node => noted.replaceChildren(...[node].flat().filter(Boolean)),
    focus: () => (fields.find(each => each.element.querySelector('[aria-invalid]')) ?? fields[0]).focus()
  }
}

/** The rules as options of a command. @param {import('../../../core/retention.js').Retention} policy */
export function ruleOptions ({ within, editions, ...counts }) {
  return [
    ...COUNTS.filter(rule => counts[rule]).flatMap(rule => [`--keep-${rule}`, counts[rule]]),
    ...(within ? ['--keep-within', durationText(within)] : []),
    ...(editions === true ? ['all'] : editions ?? []).flatMap(time => ['--keep-edition', time])
  ]
}
