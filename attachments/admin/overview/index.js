// The overview page: figures of the store, its growth, findings and running tasks. Figures come from a few requests for
// all layers together, which never wait for an index. Documents come from the change feed.
import { count, date, fromNow, percent, size, time } from '../../format.js'
import { html, useEffect, useMemo, useRef, useState } from '../../html.js'
import { useApp, useDocs, useShellLine } from '../app.js'
import { Copyable } from '../../copy.js'
import { Button, Fold, Hint } from '../../parts.js'
import { Card, State, Table, WithCode, confirm } from '../parts.js'
import { texts } from '../words.js'
import { diskOf, failuresOf, newestOf, rowsOf, runningOf } from './facts.js'
import { pendingOf } from './figures.js'
import { allFindings, ownFindings, reportOf } from './findings.js'
import { bytesADay, monthsOf } from './growth.js'
import { Look } from './look.js'
import { Picture } from './pictures.js'
import { Growth } from './plots.js'

const words = texts.overview
const NEEDED = /** @type {const} */ (['layer', 'edition', 'work']) // kinds of documents to read before drawing
const LAYERS = 24 // layers shown at first
const FINDINGS = 60 // findings shown per state
const FAILURES = 10 // commands with failed tiles at once
const LOAD = 'tilecouch load FOLDER --layer NAME'
const BUILD = { name: 'build', path: '_design/versions/_view/by_time' }
const CLASSES = { bad: 'bad', warning: 'warn', unknown: '', ok: 'good' }

/** The results of looking at the store. */
function useLooks () {
  const app = useApp()
  const [results, setResults] = useState({ seen: /** @type {import('./look.js').Seen} */ ({}), problem: '' })
  const look = useRef(/** @type {Look | null} */ (null))
  useEffect(() => {
    const newLook = look.current = new Look(app, (seen, problem) => setResults({ seen, problem }))
    const follow = ({ type }) => newLook.changed(type)
    app.docs.on('layer edition', follow)
    return () => {
      app.docs.off('layer edition', follow)
      newLook.stop()
    }
  }, [])
  return { ...results, lookSoon: () => look.current?.soon() }
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

  /** Asks for confirmation, then makes CouchDB do it. @param {{name: string, path: string}} remedy */
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
    const separateIndex = isEmbedded ? null : index // the size of the embedded store includes its index
    const layers = docs.all('layer')
    const { report, running } = ofWork
    const facts = { info, index, designs, security: app.security, user, work: running, now, figures }
    const used = info.sizes.active + (separateIndex?.sizes.active ?? 0)
    const ratio = figures?.total.bytes ? used / figures.total.bytes : 1
    const checked = report && {
      when: fromNow(Date.parse(report.finished ?? report.seen) - now), who: report.user ?? ''
    }
    const pending = pendingOf(index)
    const late = pending && (index.updater_running ? words.building : words.notBuilt)(pending)
    return html`<div>
      <${Figures} ...${{ layers, editions: ofEditions, figures, expiring, failures }}
        disk=${{ file: info.sizes.file, active: info.sizes.active, index: separateIndex?.sizes.file ?? 0 }} />
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

/** @param {import('./figures.js').Count} counted */
const atLeast = ({ tiles, isMore }) => isMore ? words.figures.atLeast(count(tiles)) : count(tiles)

/** The figures of the store as a whole. */
function Figures ({ layers, editions, figures, expiring, failures, disk: { file, active, index } }) {
  const { total } = figures ?? {}
  const figureWords = words.figures
  const inUse = active < file ? figureWords.inUse(size(active)) : ''
  const figureRows = [
    ['layers', count(layers.length)],
    ['tiles', total ? count(total.tiles) : '–', figureWords.ofNow],
    ['versions', total ? count(total.versions) : '–', figureWords.ofAll],
    ['images', total ? size(total.bytes) : '–', total && figureWords.imagesNow(size(total.currentBytes))],
    ['disk', size(file), index ? figureWords.withIndex(size(index)) : inUse],
    ['editions', count(editions.all.length), editions.newest && figureWords.newest(date(editions.newest))],
    ['expired', expiring ? atLeast(expiring.expired) : '–'],
    ['failed', count(failures.reduce((sum, { failed }) => sum + failed, 0))]
  ]
  return html`<dl class="figures" aria-label=${figureWords.head}>
    ${figureRows.map(([name, value, note = '']) => html`<div key=${name} data-figure=${name}>
      <dt>${figureWords[name]}</dt>
      <dd><span class="value">${value}</span><small>${note}</small></dd>
    </div>`)}
  </dl>`
}

/** A command to copy, for the store of this page. line: plain words after `tilecouch` */
function Command ({ line }) {
  const text = useShellLine()(...line.split(' ').slice(1))
  return html`<${Copyable} text=${text} label=${words.needs.copy(text)} />`
}

/** The findings, the worst first, each with its remedy. */
function Needs ({ findings, checked, act }) {
  const findingsOf = state => findings.filter(finding => finding.state === state).slice(0, FINDINGS)
  const faults = [...findingsOf('bad'), ...findingsOf('warning')]
  const [unknown, fine] = [findingsOf('unknown'), findingsOf('ok')]
  const checkedText = checked?.who ? words.needs.checkedBy(checked) : checked && words.needs.checked(checked.when)
  return html`<${Card} name="needs" head=${words.needs.head}>
    <div class="body">
      ${faults.length
        ? html`<ul class="findings">
            ${faults.map(fault => html`<${Finding} key=${nameOf(fault)} finding=${fault} act=${act} />`)}
          </ul>`
        : html`<p>${words.needs.nothing}</p>`}
      ${unknown.length > 0 && html`<${FindingList} head=${words.needs.unknown(unknown.length)} findings=${unknown} />`}
      ${fine.length > 0 && html`<${FindingList} head=${words.needs.fine(fine.length)} findings=${fine} />`}
      <${Hint}><${WithCode} text=${checkedText || words.needs.never} /><//>
      ${checked && html`<${Hint}>${words.needs.again}<//>`}
      <${Command} line="tilecouch doctor" />
    </div>
  <//>`
}

function nameOf ({ area, check }) {
  const areaName = words.areas[area] ?? area
  return check === area || words.areas[check] ? areaName : `${areaName}: ${check}`
}

function Finding ({ finding, act }) {
  const { state, found, why, advice, remedies = [] } = finding
  const isCommand = remedies.some(({ line }) => line === advice) // the advice only repeats the command below it
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

/** Findings that are fine or unknown, one per line. */
const FindingList = ({ head, findings }) => html`<${Fold} head=${head}>
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

/** The state of the index, and the background tasks of CouchDB for this store. */
function Running ({ hasIndex, pending, isBuilding, tasks, seesTasks, act }) {
  const runningWords = words.running
  const state = pending ? runningWords.pending(pending) : runningWords.upToDate
  const canBuild = hasIndex && pending > 0 && !isBuilding
  return html`<${Card} name="running" head=${runningWords.head}>
    <div class="body">
      <p>${hasIndex ? state : words.noIndex}${hasIndex && isBuilding && ` (${runningWords.building})`}</p>
      ${canBuild && html`<${Button} onClick=${() => act(BUILD)}>${runningWords.build}<//>`}
      ${tasks.length
        ? html`<ul class="tasks">${tasks.map(task => html`<${Task} key=${task.type} ...${task} />`)}</ul>`
        : html`<${Hint}>${seesTasks ? runningWords.none : runningWords.onlyAdmins}<//>`}
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

/** Tiles that have expired or will soon, and tiles that could not be loaded. */
function Tiles ({ expiring, canRefresh, failures }) {
  const tileWords = words.tiles
  const counts = expiring ? [expiring.expired, ...expiring.next.map(span => span.count)] : []
  return html`<${Card} name="tiles" head=${tileWords.head}>
    <div class="body">
      ${!expiring && html`<p>${words.noIndex}</p>`}
      ${expiring && !counts.some(({ tiles }) => tiles) && html`<p>${tileWords.noneExpired}</p>`}
      ${counts.some(({ tiles }) => tiles) && html`<dl class="lines">
        <div><dt>${tileWords.expired}</dt><dd>${atLeast(expiring.expired)}</dd></div>
        ${expiring.next.map(span => html`<div key=${span.days}>
          <dt>${tileWords.within(span.days)}</dt><dd>${atLeast(span.count)}</dd>
        </div>`)}
      </dl>`}
      ${expiring?.expired.tiles > 0 && html`
        <${Hint}>${canRefresh ? tileWords.refresh : tileWords.remove}<//>
        <${Command} line="tilecouch ${canRefresh ? 'seed' : 'prune'} --expired --all" />`}
      <${Table} title=${tileWords.failedIn} rows=${failures} columns=${failureColumns} most=${FAILURES}
        keyOf=${({ command, layer, when }) => `${command} ${layer} ${when}`} />
      ${!failures.length && html`<p>${tileWords.noneFailed}</p>`}
    </div>
  <//>`
}

const failureColumns = [
  { label: words.tiles.what, cell: failure => html`<a href="#${failure.place}">${failure.command}</a>`, isHead: true },
  { label: words.tiles.layer, cell: failure => failure.layer },
  { label: words.tiles.when, cell: failure => time(failure.when) },
  { label: words.tiles.count, cell: failure => count(failure.failed), isNumber: true }
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
  const [showsAll, setShowsAll] = useState(false)
  const shown = showsAll ? rows : rows.slice(0, LAYERS)
  return html`<${Card} name="layers" head=${words.layers.head}>
    ${!rows.length && html`<p>${words.layers.none}</p><${Command} line=${LOAD} />`}
    <${Table} title=${words.layers.head} rows=${shown} columns=${layerColumns} most=${Infinity}
      keyOf=${({ layer }) => layer} />
    ${shown.length < rows.length && html`<${Button} onClick=${() => setShowsAll(true)}>
      ${words.layers.all(rows.length)}
    <//>`}
  <//>`
}
