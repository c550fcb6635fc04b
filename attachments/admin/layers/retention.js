// The field for the retention policy of a layer: which moments of its past are kept.
import { MOST_MOMENTS, checkRetention } from '../../../core/retention.js'
import { html } from '../../html.js'
import { texts } from '../words.js'
import {
  FieldGroup, durationFormat, durationText, fieldsOf, listFormat, readGroup, refuse, showGroup, wholeFormat
} from './fields.js'

const words = texts.layers.retention
const COUNTS = ['last', 'hourly', 'daily', 'weekly', 'monthly', 'yearly']
const { editions: choices } = words

const inputs = {
  ...Object.fromEntries(COUNTS.map(rule => [rule, { format: wholeFormat(0, MOST_MOMENTS) }])),
  within: { format: durationFormat, placeholder: '90d' },
  editions: [[undefined, choices.none], [true, choices.all], ['some', choices.some]],
  times: { format: listFormat, placeholder: '2023, 2024-03-01' }
}

const fields = fieldsOf(inputs, name => (
  { name: `retention.${name}`, label: words.rules[name], hint: words.hints[name] }
))

/** The rules, as the `retention` of a layer. @type {import('./fields.js').Field} */
export const retentionField = {
  name: 'retention',
  label: words.head,
  show (value) {
    const isSome = Array.isArray(value?.editions)
    const values = { ...value, editions: isSome ? 'some' : value?.editions, times: isSome ? value.editions : undefined }
    return showGroup(fields, values)
  },
  read: readRetention,
  component: Retention
}

function readRetention (typed) {
  const { times, ...rules } = readGroup(fields, typed)
  if (rules.editions === 'some') {
    if (!times?.length) refuse(words.noTimes, 'times')
    rules.editions = times
  }
  const policy = Object.fromEntries(Object.entries(rules).filter(([, value]) => value)) // 0 is no rule
  if (!Object.keys(policy).length) return undefined
  try {
    checkRetention(policy)
  } catch (error) {
    const { field, why } = error.details ?? {}
    const isTime = field === 'editions'
    refuse(isTime || !field ? words.badTimes : why, isTime ? 'times' : field)
  }
  return policy
}

/** @param {import('./fields.js').FieldProps} props */
function Retention (props) {
  const isHidden = name => name === 'times' && fields.get('editions')?.read(props.typed.editions) !== 'some'
  return html`<${FieldGroup} fields=${fields} isHidden=${isHidden} ...${props} />`
}

/** The rules as options of a command. @param {import('../../../core/retention.js').Retention} policy */
export function ruleOptions ({ within, editions, ...counts }) {
  return [
    ...COUNTS.filter(rule => counts[rule]).flatMap(rule => [`--keep-${rule}`, counts[rule]]),
    ...(within ? ['--keep-within', durationText(within)] : []),
    ...(editions === true ? ['all'] : editions ?? []).flatMap(time => ['--keep-edition', time])
  ]
}
