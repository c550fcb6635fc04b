// The page of one edition: title and source, counts, comparison with the previous edition, and its removal.
import { count, size, time } from '../../format.js'
import { html, useRef } from '../../html.js'
import { useDocs, useShellLine } from '../app.js'
import { Copyable } from '../../copy.js'
import { Hint } from '../../parts.js'
import { Card, State } from '../parts.js'
import { texts } from '../words.js'
import { EditionForm } from './form.js'

const words = texts.editions

/** editions: of the layer, the newest first */
export function Edition ({ layer, when, editions }) {
  const docs = useDocs('work')
  const hadDoc = useRef(false)
  const index = editions.findIndex(doc => doc.time === when)
  const doc = editions[index]
  hadDoc.current ||= Boolean(doc)
  const title = doc ? doc.title || time(when) : when
  const [before, after] = [editions[index + 1], editions[index - 1]]
  const missingText = hadDoc.current ? words.removed : words.unknown(`${layer}@${when}`)
  return html`<div>
    <p class="path"><a href="#editions">${words.all}</a> › <a href="#editions/${layer}">${layer}</a></p>
    <div class="head">
      <h2>${title}</h2>
      <span class="row"><${ViewerLink} text=${words.view} layer=${layer} times=${[when]} /></span>
    </div>
    <p class="problem" role="status">${doc ? '' : missingText}</p>
    ${doc && html`<div class="edition">
      <${Card} head=${words.form.head}><${EditionForm} doc=${doc} /><//>
      <${Card} head=${words.counts}><${Facts} doc=${doc} work=${workOf(docs, layer, when)} /><//>
      <${Card} name="compare" head=${words.compare.head}>
        <div class="body"><${Comparison} ...${{ layer, edition: doc, before }} /></div>
      <//>
      <${Card} name="remove" head=${words.remove.head}>
        <div class="body"><${Removal} ...${{ layer, edition: doc, before, after }} /></div>
      <//>
    </div>`}
  </div>`
}

/** A link to the viewer, with a layer at one time, or at two times side by side. */
const ViewerLink = ({ text, layer, times }) => html`<a href="./#${layer}@${times.join('..')}">${text}</a>`

/** The document of the last command that loaded an edition, if it still exists. */
const workOf = (docs, layer, when) => docs.all('work')
  .filter(doc => doc.edition === when && doc.layer === layer)
  .reduce((last, doc) => !last || doc._id > last._id ? doc : last, undefined)

function Facts ({ doc, work }) {
  const number = field => Number.isFinite(doc[field]) && count(doc[field])
  const who = work && [work.user, work.host].filter(Boolean).join(', ')
  const facts = [
    [words.state, html`<${EditionState} ...${doc} />`],
    [words.tiles, number('tiles')],
    [words.created, number('created')],
    [words.changed, count(changedOf(doc))],
    [words.unchanged, number('unchanged')],
    [words.gone, number('gone')],
    [words.failed, doc.failed > 0 && number('failed')],
    [words.bytes, Number.isFinite(doc.bytes) && size(doc.bytes)],
    [words.time, time(doc.time)],
    [words.started, doc.started && time(doc.started)],
    [words.finished, doc.finished && time(doc.finished)],
    [words.by, work && html`<a href="#work">${work.command}</a>${who && ` · ${who}`}`],
    [words.run, doc.run && html`<code>${doc.run}</code>`]
  ]
  return html`<dl class="facts">
    ${facts.map(([name, value]) => value && html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`
}

/** before: the previous edition */
function Comparison ({ layer, edition, before }) {
  const lineOf = useShellLine()
  if (!before) return html`<p>${words.compare.first}</p>`
  const line = lineOf('diff', `${layer}@${before.time}`, `${layer}@${edition.time}`)
  return html`
    <p>${words.compare.lead} <a href="#editions/${layer}/${before.time}">${before.title || time(before.time)}</a></p>
    <p><${ViewerLink} text=${words.compare.view} layer=${layer} times=${[before.time, edition.time]} /></p>
    <${Hint}>${words.compare.command}<//>
    <${Copyable} text=${line} label=${words.copy(line)} />`
}

/** The effects of removing an edition, and the command for it. */
function Removal ({ layer, edition, before, after }) {
  const lineOf = useShellLine()
  const { created = 0, advanced = 0, backfilled = 0 } = edition
  const nameOf = doc => doc.title ? `${doc.title} (${time(doc.time)})` : time(doc.time)
  const beforeText = before ? words.remove.before(nameOf(before)) : words.remove.nothing
  const timeText = after
    ? words.remove.until({ time: time(edition.time), next: nameOf(after) })
    : words.remove.since(time(edition.time))
  const remove = ['remove', layer, '--edition', edition.time]
  const lines = [[words.remove.dryRun, lineOf(...remove, '--dry-run')], [words.remove.command, lineOf(...remove)]]
  return html`
    <p>${timeText} ${beforeText}</p>
    <ul class="plain">
      <li>${words.remove.versions(created + advanced + backfilled)}</li>
      ${before && html`<li>${words.remove.fallBack(advanced + backfilled)}</li>`}
      ${created > 0 && html`<li>${words.remove.none(created)}</li>`}
      <li>${words.remove.others}</li>
    </ul>
    ${before && html`<p><${ViewerLink} text=${words.remove.view} layer=${layer} times=${[before.time]} /></p>`}
    ${lines.map(([text, line]) => html`<${Hint}>${text}<//><${Copyable} text=${line} label=${words.copy(line)} />`)}
    <${Hint}>${words.remove.forEver}<//>`
}

/** The number of existing tiles that an edition changed without removing them. */
export const changedOf = ({ advanced = 0, backfilled = 0, gone = 0 }) => Math.max(0, advanced + backfilled - gone)

/** The state of an edition: complete, partial, or not finished. */
export function EditionState ({ finished, complete }) {
  if (!finished) return html`<${State} kind="warn">${words.states.unfinished}<//>`
  return html`<${State} kind=${complete ? 'good' : ''}>${complete ? words.states.complete : words.states.part}<//>`
}
