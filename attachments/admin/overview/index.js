// The overview: what the store holds, how it grows, what is wrong with it and what it does at the moment. Figures come
// from a few requests for all layers together, which never wait for an index; documents from the change feed.
import { count, date, percent, size, time } from '../../format.js'
import { html, useEffect, useMemo, useRef, useState } from '../../html.js'
import { useApp, useDocs, useStoreLine } from '../app.js'
import { Copyable } from '../../copy.js'
import { Button, Fold, Hint } from '../../parts.js'
import { Card, State, Table, WithCode, confirm, fromNow } from '../parts.js'
import { texts } from '../words.js'
import { diskOf, failuresOf, newestOf, rowsOf, runningOf } from './facts.js'
import { pendingOf } from './figures.js'
import { allFindings, ownFindings, reportOf } from './findings.js'
import { bytesADay, monthsOf } from './growth.js'
import { Look } from './look.js'
import { Picture } from './pictures.js'
import { Growth } from './plots.js'

const words = texts.overview
const NEEDED = /** @type {const} */ (['layer', 'edition', 'work']) // kinds of documents, before anything is drawn
const LAYERS = 24 // until all are asked for
const FINDINGS = 60 // of a kind
const FAILURES = 10 // commands with failed tiles at once
const LOAD = 'tilecouch load FOLDER --layer NAME'
const BUILD = { name: 'build', path: '_design/versions/_view/by_time' }
const CLASSES = { bad: 'bad', warning: 'warn', unknown: '', ok: 'good' }

/** What the looks at the store have found. */
function useLooks () {
  const app = useApp()
  const [found, setFound] = useState({ seen: /** @type {import('./look.js').Seen} */ ({}), problem: '' })
  const look = useRef(/** @type {Look | null} */ (null))
  useEffect(() => {
    const own = look.current = new Look(app, (seen, problem) => setFound({ seen, problem }))
    const stopHearing = app.docs.onChange(kinds => own.changed(kinds))
    return () => {
      stopHearing()
      own.stop()
    }
  }, [])
  return { ...found, lookSoon: () => look.current?.soon() }
}

export function Overview () {
  const app = useApp()
  const { couch, user, say } = app
  const docs = useDocs(...NEEDED)
  const { seen: { state, figures, expiring, designs, isEmbedded = false }, problem, lookSoon } = useLooks()
  const isKnown = NEEDED.every(kind => docs.known.has(kind))
  const now = couch.now()

  const ofEditions = useMemo(() => {
    const all = docs.all('edition')
    return { all, ...newestOf(all), months: monthsOf(all, now), aDay: bytesADay(all, now) }
  }, [docs.version('edition')])
  const ofWork = useMemo(() => {
    const all = docs.all('work')
    return { all, running: all.filter(doc => doc.state === 'running'), report: reportOf(all) }
  }, [docs.version('work')])
  const failures = useMemo(() => failuresOf(ofEditions.all, ofWork.all), [ofEditions, ofWork])
  const rows = useMemo(() => rowsOf(docs.all('layer'), figures?.layers, ofEditions.last),
    [docs.version('layer'), figures, ofEditions])

  /** Asks, and has CouchDB do it. @param {{name: string, path: string}} remedy */
  async function act ({ name, path }) {
    const { ask, text, name: action } = words.needs.actions[name]
    if (!await confirm({ head: ask, text, action })) return
    try {
      if (name === 'build') await couch.ask(path, { query: { limit: 1, update: 'lazy' } })
      else await couch.ask(path, { body: {} })
      say(words.needs.asked)
    } catch (error) {
      return say(texts.failed(error.message), true)
    }
    lookSoon()
  }

  const isRead = state && designs && isKnown
  const isDrawn = (isRead && expiring !== undefined) || problem
  return html`<div class="overview" aria-busy=${isDrawn ? null : 'true'}>
    <h2>${texts.sections.overview}</h2>
    <p class="problem" role="status">${problem && words.notRead(problem)}</p>
    ${isRead ? content() : html`<${Hint}>${words.reading}<//>`}
  </div>`

  function content () {
    const { info, index } = state
    const own = isEmbedded ? null : index // the embedded store has it in its own size
    const layers = docs.all('layer')
    const { report, running } = ofWork
    const facts = { info, index, designs, security: app.security, user, work: running, now, figures }
    const used = info.sizes.active + (own?.sizes.active ?? 0)
    const ratio = figures?.total.bytes ? used / figures.total.bytes : 1
    const checked = report && {
      when: fromNow(Date.parse(report.finished ?? report.seen) - now), who: report.user ?? ''
    }
    const pending = pendingOf(index)
    const late = pending && (index.updater_running ? words.building : words.notBuilt)(pending)
    return html`<div>
      <${Figures} ...${{ layers, editions: ofEditions, figures, expiring, failures }}
        disk=${{ file: info.sizes.file, active: info.sizes.active, index: own?.sizes.file ?? 0 }} />
      <p class="hint" role="status">${figures ? late || '' : words.noIndex}</p>
      <${Needs} findings=${allFindings(ownFindings(facts, words.own, size), report)} checked=${checked} act=${act} />
      <div class="pair">
        <${Disk} ...${diskOf(ofWork.all, report, ofEditions.aDay * Math.max(1, ratio), now, isEmbedded)} />
        <${Running} ...${runningOf(state)} act=${act} />
      </div>
      <${Growth} months=${ofEditions.months} />
      <${Tiles} ...${{ expiring, failures }} canRefresh=${layers.some(({ upstream }) => upstream)} />
      <${LayerTable} rows=${rows} />
    </div>`
  }
}

/** @param {import('./figures.js').Count} given */
const atLeast = ({ tiles, isMore }) => isMore ? words.figures.atLeast(count(tiles)) : count(tiles)

/** The figures of the store as a whole. */
function Figures ({ layers, editions, figures, expiring, failures, disk: { file, active, index } }) {
  const { total } = figures ?? {}
  const own = words.figures
  const inUse = active < file ? own.inUse(size(active)) : ''
  const list = [
    ['layers', count(layers.length)],
    ['tiles', total ? count(total.tiles) : '–', own.ofNow],
    ['versions', total ? count(total.versions) : '–', own.ofAll],
    ['images', total ? size(total.bytes) : '–', total && own.imagesNow(size(total.currentBytes))],
    ['disk', size(file), index ? own.withIndex(size(index)) : inUse],
    ['editions', count(editions.all.length), editions.newest && own.newest(date(editions.newest))],
    ['expired', expiring ? atLeast(expiring.expired) : '–'],
    ['failed', count(failures.reduce((sum, { failed }) => sum + failed, 0))]
  ]
  return html`<dl class="figures" aria-label=${own.head}>
    ${list.map(([name, value, note = '']) => html`<div key=${name} data-figure=${name}>
      <dt>${own[name]}</dt>
      <dd><span class="value">${value}</span><small>${note}</small></dd>
    </div>`)}
  </dl>`
}

/** A command to copy, for the store of this page. */
function Command ({ line }) {
  const text = useStoreLine()(line)
  return html`<${Copyable} text=${text} label=${words.needs.copy(text)} />`
}

/** What needs attention: findings, the worst first, each with its remedy. */
function Needs ({ findings, checked, act }) {
  const of = state => findings.filter(each => each.state === state).slice(0, FINDINGS)
  const wrong = [...of('bad'), ...of('warning')]
  const [unknown, fine] = [of('unknown'), of('ok')]
  const checkedText = checked?.who ? words.needs.checkedBy(checked) : checked && words.needs.checked(checked.when)
  return html`<${Card} name="needs" head=${words.needs.head}>
    <div class="body">
      ${wrong.length
        ? html`<ul class="findings">
            ${wrong.map(each => html`<${Finding} key=${nameOf(each)} finding=${each} act=${act} />`)}
          </ul>`
        : html`<p>${words.needs.nothing}</p>`}
      ${unknown.length > 0 && html`<${Rest} head=${words.needs.unknown(unknown.length)} findings=${unknown} />`}
      ${fine.length > 0 && html`<${Rest} head=${words.needs.fine(fine.length)} findings=${fine} />`}
      <${Hint}><${WithCode} text=${checkedText || words.needs.never} /><//>
      ${checked && html`<${Hint}>${words.needs.again}<//>`}
      <${Command} line="tilecouch doctor" />
    </div>
  <//>`
}

function nameOf ({ area, check }) {
  const own = words.areas[area] ?? area
  return check === area || words.areas[check] ? own : `${own}: ${check}`
}

function Finding ({ finding, act }) {
  const { state, found, why, advice, remedies = [] } = finding
  const isCommand = remedies.some(({ line }) => line === advice) // the advice is no more than the command below it
  return html`<li class="finding ${state}">
    <${State} kind=${CLASSES[state]}>${words.needs.states[state]}<//>
    <div>
      <p class="found"><small>${nameOf(finding)}</small>${found}</p>
      ${why && html`<${Hint}><${WithCode} text=${why} /><//>`}
      ${advice && !isCommand && html`<p><${WithCode} text=${advice} /></p>`}
      ${remedies.map(remedy => html`<${Remedy} remedy=${remedy} act=${act} />`)}
    </div>
  </li>`
}

/** @param {{remedy: any, act: (remedy: any) => void}} props */
function Remedy ({ remedy: { kind, line, place, name, path }, act }) {
  if (kind === 'command') return html`<${Command} line=${line} />`
  if (kind === 'link') return html`<p><a href="#${place}">${words.needs.see[place]}</a></p>`
  return html`<${Button} onClick=${() => act({ name, path })}>${words.needs.actions[name].name}<//>`
}

/** What is fine or unknown, in a line each. */
const Rest = ({ head, findings }) => html`<${Fold} head=${head}>
  <ul class="hint">
    ${findings.map(finding => html`<li key=${nameOf(finding)}>${nameOf(finding)} – ${finding.found}</li>`)}
  </ul>
<//>`

/** How much room the disk has left, and when it will be full. */
const Disk = ({ room, why, isEmbedded }) => html`<${Card} name="disk" head=${words.disk.head}>
  <div class="body">
    ${room ? html`<${Room} ...${room} />` : html`
      <p>${words.disk.unknown}</p>
      ${why && html`<${Hint}>${words.disk.why(why)}<//>`}
      <${Hint}>${isEmbedded ? words.disk.learnEmbedded : words.disk.learn}<//>
      <${Command} line=${isEmbedded ? 'tilecouch doctor --data FOLDER' : 'tilecouch doctor'} />`}
  </div>
<//>`

function Room ({ free, size: whole, seen, full, aMonth }) {
  const used = 1 - free / whole
  const estimate = `${full ? '' : `${words.disk.far} `}${words.disk.estimate(size(aMonth))}`
  return html`
    <p><strong>${words.disk.free({ free: size(free), size: size(whole) })}</strong></p>
    <meter min="0" max="1" value=${used} high="0.9" low="0.8" optimum="0"
      aria-label=${words.disk.meter(percent(used))} />
    <${Hint}><${WithCode} text=${words.disk.seen(seen)} /><//>
    ${full && html`<p class="full"><strong>${words.disk.full(full)}</strong></p>`}
    <${Hint}>${aMonth ? estimate : words.disk.never}<//>`
}

/** The index: whether it is up to date. What CouchDB does in the background for this store: indexes, compaction. */
function Running ({ hasIndex, pending, isBuilding, tasks, seesTasks, act }) {
  const own = words.running
  const state = pending ? own.pending(pending) : own.upToDate
  const canBuild = hasIndex && pending > 0 && !isBuilding
  return html`<${Card} name="running" head=${own.head}>
    <div class="body">
      <p>${hasIndex ? state : words.noIndex}${hasIndex && isBuilding && ` (${own.building})`}</p>
      ${canBuild && html`<${Button} onClick=${() => act(BUILD)}>${own.build}<//>`}
      ${tasks.length
        ? html`<ul class="tasks">${tasks.map(task => html`<${Task} key=${task.type} ...${task} />`)}</ul>`
        : html`<${Hint}>${seesTasks ? own.none : own.onlyAdmins}<//>`}
    </div>
  <//>`
}

function Task ({ type, share }) {
  const name = words.running.tasks[type] ?? `${words.running.tasks.others} ${type}`
  if (share === null) return html`<li>${name}</li>`
  return html`<li>
    ${name}: ${words.running.progress(percent(share))} <progress max="1" value=${share} aria-label=${name} />
  </li>`
}

/** Tiles that have expired or will soon, and those that could not be loaded. */
function Tiles ({ expiring, canRefresh, failures }) {
  const own = words.tiles
  const counts = expiring ? [expiring.expired, ...expiring.next.map(each => each.count)] : []
  return html`<${Card} name="tiles" head=${own.head}>
    <div class="body">
      ${!expiring && html`<p>${words.noIndex}</p>`}
      ${expiring && !counts.some(({ tiles }) => tiles) && html`<p>${own.noneExpired}</p>`}
      ${counts.some(({ tiles }) => tiles) && html`<dl class="lines">
        <div><dt>${own.expired}</dt><dd>${atLeast(expiring.expired)}</dd></div>
        ${expiring.next.map(each => html`<div key=${each.days}>
          <dt>${own.within(each.days)}</dt><dd>${atLeast(each.count)}</dd>
        </div>`)}
      </dl>`}
      ${expiring?.expired.tiles > 0 && html`
        <${Hint}>${canRefresh ? own.refresh : own.remove}<//>
        <${Command} line="tilecouch ${canRefresh ? 'seed' : 'prune'} --expired --all" />`}
      <${Table} title=${own.failedIn} rows=${failures} columns=${failureColumns} most=${FAILURES}
        keyOf=${({ command, layer, when }) => `${command} ${layer} ${when}`} />
      ${!failures.length && html`<p>${own.noneFailed}</p>`}
    </div>
  <//>`
}

const failureColumns = [
  { label: words.tiles.what, cell: each => html`<a href="#${each.place}">${each.command}</a>`, isHead: true },
  { label: words.tiles.layer, cell: each => each.layer },
  { label: words.tiles.when, cell: each => time(each.when) },
  { label: words.tiles.count, cell: each => count(each.failed), isNumber: true }
]

const figureColumn = (label, field, format) =>
  ({ label, isNumber: true, cell: row => row[field] === undefined ? '–' : format(row[field]) })

const layerColumns = [
  { label: words.layers.picture, cell: row => html`<${Picture} layer=${row.layer} format=${row.format} />` },
  {
    label: words.layers.layer,
    isHead: true,
    cell: ({ layer, name }) => html`
      <a href="#layers/${layer}">${name ?? layer}</a>${name && html`<small class="id">${layer}</small>`}`
  },
  figureColumn(words.layers.tiles, 'tiles', count),
  figureColumn(words.layers.versions, 'versions', count),
  figureColumn(words.layers.bytes, 'bytes', size),
  {
    label: words.layers.last,
    cell: ({ layer, last }) => last && html`<a href="#editions/${layer}">${time(last)}</a>`
  }
]

/** The layers with their figures and a picture. */
function LayerTable ({ rows }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? rows : rows.slice(0, LAYERS)
  return html`<${Card} name="layers" head=${words.layers.head}>
    ${!rows.length && html`<p>${words.layers.none}</p><${Command} line=${LOAD} />`}
    <${Table} title=${words.layers.head} rows=${shown} columns=${layerColumns} most=${Infinity}
      keyOf=${({ layer }) => layer} />
    ${shown.length < rows.length && html`<${Button} onClick=${() => setWhole(true)}>
      ${words.layers.all(rows.length)}
    <//>`}
  <//>`
}
