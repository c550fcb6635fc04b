// Parts of the page of an edition: links to the viewer, the comparison with the one before, and what its removal would
// do.
import { element } from '../../../client/timeline/dom.js'
import { time } from '../../format.js'
import { texts } from '../words.js'
import { command, shellLine } from '../command.js'

const words = texts.editions

/** Where the viewer shows a layer at a time, or two times beside each other. @param {string[]} times one or two */
export function viewerLink (label, layer, ...times) {
  return element('a', { href: `./#${layer}@${times.join('..')}` }, label)
}

/** @param {any} edition @param {any} before the edition before */
export function comparison (layer, edition, before) {
  if (!before) return [element('p', null, words.compare.first)]

  const line = shellLine('diff', `${layer}@${before.time}`, `${layer}@${edition.time}`)
  return [
    element('p', null, words.compare.lead, ' ',
      element('a', { href: `#editions/${layer}/${before.time}` }, before.title || time(before.time))),
    element('p', null, viewerLink(words.compare.view, layer, before.time, edition.time)),
    element('p', { class: 'hint' }, words.compare.command),
    command(line, words.copy(line))
  ]
}

/**
 * What its removal would do, and the command for it.
 * @param {any} edition @param {any} before @param {any} after the editions before and after it
 */
export function removal (layer, edition, before, after) {
  const { created = 0, advanced = 0, backfilled = 0 } = edition
  const name = other => other.title ? `${other.title} (${time(other.time)})` : time(other.time)
  const then = before ? words.remove.before(name(before)) : words.remove.nothing
  const when = after
    ? words.remove.until({ time: time(edition.time), next: name(after) })
    : words.remove.since(time(edition.time))
  const lines = [
    { text: words.remove.dryRun, line: shellLine('remove', layer, '--edition', edition.time, '--dry-run') },
    { text: words.remove.command, line: shellLine('remove', layer, '--edition', edition.time) }
  ]
  return [
    element('p', null, `${when} ${then}`),
    element('ul', { class: 'plain' },
      element('li', null, words.remove.versions(created + advanced + backfilled)),
      before && element('li', null, words.remove.fallBack(advanced + backfilled)),
      created > 0 && element('li', null, words.remove.none(created)),
      element('li', null, words.remove.others)),
    before && element('p', null, viewerLink(words.remove.view, layer, before.time)),
    ...lines.flatMap(({ text, line }) => [element('p', { class: 'hint' }, text), command(line, words.copy(line))]),
    element('p', { class: 'hint' }, words.remove.forEver)
  ].filter(Boolean)
}
