// Shows what a prune would remove by the rules that stand in the form, saved or not.
import { element } from '../../../client/timeline/dom.js'
import { button } from '../../dom.js'
import { count, size, time } from '../../format.js'
import { texts } from '../../words/admin/index.js'
import { command, shellLine } from '../command.js'
import { table } from '../table.js'
import { same } from './fields.js'
import { atMost, exactly, judge, previewDefaults, readMoments, readVersions } from './preview.js'
import { ruleOptions } from './retention.js'

const words = texts.layers.retention
const SHOWN = 20 // moments at once

/**
 * @param {import('../index.js').App} app @param {string} layer @param {AbortSignal} signal
 * @returns {{element: HTMLElement, show: (policy: any, isSaved: boolean) => void}}
 */
export function retentionPreview (app, layer, signal) {
  const body = element('div', { role: 'status' })
  const rows = table(words.preview.moments, [
    { label: words.preview.time, isHead: true, cell: moment => time(moment.time) },
    { label: words.preview.edition, cell: ({ edition }) => edition ? edition.title ?? words.preview.untitled : '' },
    { label: words.preview.versions, isNumber: true, cell: ({ versions }) => count(versions) },
    { label: words.preview.size, isNumber: true, cell: ({ bytes }) => size(bytes) },
    { label: words.preview.result, cell: ({ by }) => by.length ? element('span', null, words.preview.stays(by.map(rule => words.short[rule] ?? rule).join(', '))) : element('span', { class: 'state bad' }, words.preview.goes) }
  ], { most: SHOWN })
  const list = element('details', null, element('summary', null, words.preview.list), rows.element)
  const prune = element('div')
  const again = button(words.preview.again, () => { known = undefined; draw(true) }, { class: 'secondary' })
  /** @type {Promise<any> | undefined} */
  let known
  let policy = /** @type {any} */ (undefined)
  let line = ''
  let run = 0

  async function readAll () {
    const { moments, isWhole } = await readMoments(app.couch, layer, signal)
    const versions = moments.reduce((sum, each) => sum + each.versions, 0)
    const isSmall = isWhole && versions <= previewDefaults.mostVersions
    return { moments, isWhole, tiles: isSmall ? await readVersions(app.couch, layer, signal) : undefined }
  }

  async function draw (isForced = false) {
    const own = ++run
    again.hidden = list.hidden = !policy
    if (!policy) return body.replaceChildren(element('p', { class: 'hint' }, words.preview.none))
    if (!known || isForced) {
      body.setAttribute('aria-busy', 'true')
      body.replaceChildren(element('p', { class: 'hint' }, words.preview.reading))
      known = readAll()
    }
    try {
      const found = await known
      if (own === run) tell(found)
    } catch (error) {
      known = undefined
      if (own === run && !signal.aborted) body.replaceChildren(element('p', { class: 'problem' }, texts.failed(error.message)))
    } finally {
      if (own === run) body.removeAttribute('aria-busy')
    }
  }

  function tell ({ moments, isWhole, tiles }) {
    const editions = app.docs.all('edition').filter(doc => doc.layer === layer)
    const now = new Date(app.couch.now()).toISOString().slice(0, 19) + 'Z'
    const { judged, kept, missing } = judge(policy, moments, editions, now)
    const going = judged.filter(({ by }) => !by.length)
    const gone = tiles ? exactly(tiles, kept) : atMost(judged)
    const goingEditions = going.filter(({ edition }) => edition).length
    const sums = [count(gone.versions), size(gone.bytes)]
    body.replaceChildren(
      element('p', null, element('strong', null, going.length ? words.preview.going(going.length, judged.length) : words.preview.nothing(judged.length)),
        goingEditions ? ` ${words.preview.editions(goingEditions)}` : ''),
      element('p', null, tiles ? words.preview.exact(...sums) : words.preview.atMost(...sums), isWhole ? '' : ` ${words.preview.part(count(moments.length))}`),
      element('p', { class: 'hint' }, words.preview.estimate),
      ...missing.length ? [element('p', { class: 'problem' }, words.preview.missing(missing.join(', ')))] : [])
    rows.set(judged, words.preview.empty)
  }

  return {
    element: element('div', { class: 'preview' }, element('h4', null, words.preview.head), body, list, again, element('p', { class: 'hint' }, words.preview.command), prune),
    show (next, isSaved) {
      const wanted = shellLine('prune', layer, ...(isSaved || !next ? [] : ruleOptions(next)), '--dry-run')
      if (wanted !== line) prune.replaceChildren(command(wanted, words.preview.copy))
      line = wanted
      prune.hidden = !next
      if (run && same(next, policy)) return
      policy = next
      draw()
    }
  }
}
