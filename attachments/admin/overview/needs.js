// What needs attention: findings, the worst first, each with its remedy.
import { element } from '../../../client/timeline/dom.js'
import { button } from '../../dom.js'
import { texts } from '../words.js'
import { command } from '../command.js'
import { part, withCode } from './part.js'

const words = texts.overview
const CLASSES = { bad: 'bad', warning: 'warn', unknown: '', ok: 'good' }
const MOST = 60 // findings of a kind

/**
 * @typedef {{findings: import('./findings.js').Finding[], checked: {when: string, who: string} | null}} Needs
 * @param {(remedy: any) => void} act does what a button is for
 * @returns {{element: HTMLElement, set: (data: Needs) => void}}
 */
export const needs = act => part(words.needs.head, ({ findings, checked }) => {
  const of = state => findings.filter(each => each.state === state).slice(0, MOST)
  const wrong = [...of('bad'), ...of('warning')]
  const [unknown, fine] = [of('unknown'), of('ok')]
  return [
    wrong.length
      ? element('ul', { class: 'findings' }, wrong.map(each => one(each, act)))
      : element('p', null, words.needs.nothing),
    unknown.length > 0 && rest(words.needs.unknown(unknown.length), unknown),
    fine.length > 0 && rest(words.needs.fine(fine.length), fine),
    element('p', { class: 'hint' }, withCode(checkedWords(checked))),
    checked && element('p', { class: 'hint' }, words.needs.again),
    command('tilecouch doctor', words.needs.copy('tilecouch doctor'))
  ]
}, 'needs')

/** When `tilecouch doctor` looked, and who ran it. */
function checkedWords (checked) {
  if (!checked) return words.needs.never
  return checked.who ? words.needs.checkedBy(checked) : words.needs.checked(checked.when)
}

const nameOf = ({ area, check }) => {
  const own = words.areas[area] ?? area
  return check === area || words.areas[check] ? own : `${own}: ${check}`
}

function one (finding, act) {
  const { state, found, why, advice, remedies = [] } = finding
  return element('li', { class: `finding ${state}` },
    element('span', { class: `state ${CLASSES[state]}` }, words.needs.states[state]),
    element('div', null,
      element('p', { class: 'found' }, element('small', null, nameOf(finding)), found),
      why && element('p', { class: 'hint' }, withCode(why)),
      advice && !isLine(advice, remedies) && element('p', null, withCode(advice)),
      remedies.map(remedy => shown(remedy, act))))
}

/** Whether an advice is no more than the command below it. */
const isLine = (advice, remedies) => remedies.some(({ line }) => line === advice)

/** @param {import('./findings.js').Remedy} remedy */
function shown (remedy, act) {
  if (remedy.kind === 'command') return command(remedy.line, words.needs.copy(remedy.line))
  if (remedy.kind === 'link') return element('p', null, element('a', { href: `#${remedy.place}` }, words.needs.see[remedy.place]))
  return button(words.needs.actions[remedy.name].name, () => act(remedy), { class: 'secondary' })
}

/** What is fine or unknown, in a line each. */
const rest = (head, findings) => element('details', null, element('summary', null, head),
  element('ul', { class: 'hint' }, findings.map(finding => element('li', null, `${nameOf(finding)} – ${finding.found}`))))

