// The page: reads the store, keeps what is chosen, and lets the map, the panel, the cards and the address follow.
import { wait, backoff } from '../client/source/wait.js'
import { fromSeconds, now } from '../core/index.js'
import { Cards } from './cards.js'
import { Device, listenToButton, keepPage, obstacle } from './device.js'
import { soon } from './dom.js'
import { PAGE } from './editions.js'
import { plural, size, time as written } from './format.js'
import { MapView } from './map.js'
import { empty, failure, loading, Notices } from './notices.js'
import { Outlines } from './outlines.js'
import { Panel, FoldablePanel } from './panel.js'
import * as permalink from './permalink.js'
import { RangeCard } from './range-card.js'
import { Stage } from './stage.js'
import { Store, databaseUrl } from './store.js'
import { isEmbedded, takeAway } from './take/entry.js'
import { TileCard } from './tile-card.js'
import { showProblems } from './problems.js'

const WRITE_INTERVAL = 200 // milliseconds: browsers refuse to write the address for every frame
const REREAD_DELAY = 1500 // milliseconds: a load changes the store for a while
const POLL = 5000 // milliseconds between looks at a store that is empty, or in the middle of a load
const MAX_POLL = 300000 // milliseconds: the longest of them

const byId = id => /** @type {HTMLElement} */ (document.getElementById(id))
const content = byId('content')
const device = new Device({ onOpen: mount, onAreas: areas => { stage.offline = areas.length ? device.offline : null } })
const store = new Store(device)
const sheet = new FoldablePanel(byId('panel'), byId('toggle'))
const notices = new Notices(byId('notices'))
const view = new MapView(byId('map'), { onMove, onPick: pick, free: covered })
const stage = new Stage(view.map, byId('time'))
const entered = listenToButton(byId('offline'), notices, async () => (await device.open(store.db || undefined)).panel)
const outlines = new Outlines(view.map)
const cards = new Cards(byId('cards'))
const rangeCard = new RangeCard(stage, cards, outlines)
const tileCard = new TileCard(stage, cards, outlines, store)
const panel = new Panel(content, {
  onLayer: name => choose(name),
  onTime: time => stage.clock.setTime(time),
  onOlder: () => readEditions(panel.editions.length + PAGE),
  onFootprint: time => outlineEdition(time),
  onCompare: () => { stage.chooseRange(); stage.compare(true) },
  newestUrl: (layer, tile) => store.newestUrl(layer, tile)
})

/** @type {import('./store.js').Layer[]} */
let layers = []
/** @type {Map<string, import('./store.js').Stats> | null} */
let stats = null
let [unfinished, pause] = ['', POLL]
let looking
/** @type {{layer: any, last: string} | null} */
let reported = null
let again = new AbortController() // ends a pause before the store is asked again

/** Pixels of the map that lie under something. */
function covered () {
  const box = node => node.getBoundingClientRect()
  const side = box(byId('cards'))
  return { left: sheet.covered, right: side.left > 0 ? innerWidth - side.left : 0, bottom: box(byId('map')).bottom - box(byId('time')).top }
}

function mount (offline, { mountOffline }) {
  entered()
  return mountOffline({ offline, entry: byId('offline'), stage, view, notices, cards, layers: () => layers, free: covered, reason: obstacle() })
}

async function start () {
  content.replaceChildren(loading())
  content.setAttribute('aria-busy', 'true')
  summarize('Reading the store …')
  for (let failures = 0; ;) {
    try {
      [layers] = await Promise.all([store.layers(), device.prepare()])
      if (layers.length) break
      failures = 0
      say('An empty store', empty(databaseUrl(), () => again.abort()))
    } catch (error) {
      failures++
      say('No connection', failure(error, () => again.abort()))
    }
    again = new AbortController()
    await wait(failures ? backoff(failures) : POLL, again.signal).catch(() => {})
  }
  document.body.classList.remove('bare')
  content.removeAttribute('aria-busy')
  follow()
  refresh()
}

/** A notice in place of everything else. The same one is left as it is, with the focus in it. */
function say (summary, notice) {
  content.removeAttribute('aria-busy')
  summarize(summary)
  document.body.classList.add('bare')
  sheet.expand()
  if (content.firstElementChild?.textContent !== notice.textContent) content.replaceChildren(notice)
}

function summarize (text) {
  const bytes = [...stats?.values() ?? []].reduce((sum, { bytes: more }) => sum + more, 0)
  byId('summary').textContent = text ?? [store.isAway ? 'On this device' : plural(layers.length, 'layer'), stats && size(bytes)].filter(Boolean).join(' · ')
}

/** Shows what an address asks for, or the first layer. */
function follow (hash = location.hash) {
  const wanted = permalink.parse(hash)
  const known = layers.find(({ layer }) => layer === wanted.layer)
  const problems = wanted.layer && !known ? [`There is no layer “${wanted.layer.slice(0, 63)}” ${store.isAway ? 'on this device' : 'here'}.`] : wanted.problems
  if (wanted.view) view.go(wanted.view)
  const { time = null, compare = null, range = null } = known ? wanted : {}
  stage.clock.setTime(compare ? compare.to : time)
  const name = known?.layer ?? layers[0].layer
  if (stage.doc?.layer !== name) choose(name)
  stage.range = compare ? range ?? { from: compare.from, to: compare.to ?? newest(name) } : range
  stage.compare(Boolean(compare))
  if (compare) stage.clock.setTime(compare.to)
  if (problems.length) notices.show('link', { text: `Parts of this link could not be followed. ${problems.join(' ')}`, tone: 'warn', onClose: () => {} })
  else notices.end('link')
}

const newest = name => stats?.has(name) ? fromSeconds(/** @type {any} */ (stats.get(name)).last) : now()

/** Whether a layer has a past in a range; yes while that is not known. */
function reaches (name, range) {
  const known = stats?.get(name)
  return !range || !known || (range.from <= fromSeconds(known.last) && range.to >= fromSeconds(known.first))
}

function choose (name) {
  const layer = /** @type {import('./store.js').Layer} */ (layers.find(candidate => candidate.layer === name))
  const isOther = stage.doc?.layer !== name
  document.title = `${layer.name ?? name} · tilecouch`
  byId('shown').textContent = layer.name ?? name
  tileCard.close()
  if (isOther) for (const topic of ['store', 'tiles', 'sight', 'link']) notices.end(topic)
  panel.render(layers, name, stats)
  view.see(layer)
  if (isOther) {
    if (!reaches(name, stage.range)) stage.range = null
    stage.show(store.db, layer)
    outlineEdition(null)
  }
  panel.setTime(stage.time)
  readEditions(PAGE)
  remember()
}

async function readEditions (limit) {
  const name = /** @type {string} */ (stage.doc?.layer)
  const editions = await store.editions(name, limit + 1).catch(() => null) // the map says what is wrong
  if (!editions || stage.doc?.layer !== name) return
  panel.setEditions(editions.slice(0, limit), editions.length > limit)
  // a load is under way, or was stopped: then asking gets rarer
  const state = JSON.stringify(editions.filter(({ finished }) => !finished))
  if (state === '[]') return
  pause = state === unfinished ? Math.min(2 * pause, MAX_POLL) : POLL
  unfinished = state
  clearTimeout(looking)
  looking = setTimeout(reread, pause)
}

let footprint = 0 // which was asked for last

/** @param {string | null} time of an edition */
async function outlineEdition (time) {
  const own = ++footprint
  const layer = stage.doc?.layer
  const tiles = time === null || !layer ? [] : await store.footprint(layer, time).catch(() => [])
  if (own === footprint) outlines.covered(tiles)
}

/** Reads layers and figures again: after a load, or after the store was away. */
async function refresh () {
  const found = await store.layers().catch(() => null)
  if (!found) return
  layers = found
  if (!layers.length) {
    stage.clear()
    tileCard.close()
    notices.clear()
    return start()
  }
  describe()
  stats = await store.stats().catch(() => stats)
  describe()
  if (stats && await store.countConflicts(stats)) describe()
}

function describe () {
  const name = stage.doc?.layer ?? ''
  summarize()
  const shown = layers.find(({ layer }) => layer === name)
  if (shown) stage.doc = shown
  panel.render(layers, name, stats)
}

/** Of the address, with all that is shown; empty while nothing is. */
function shownHash () {
  const { doc, time, comparing, range } = stage
  return doc && view.view ? permalink.format({ layer: doc.layer, time, comparing, range, view: view.view }) : ''
}

const remember = soon(() => {
  const hash = shownHash()
  if (hash) history.replaceState(null, '', hash)
}, WRITE_INTERVAL)

function onMove () {
  remember()
  writeCards()
  tileCard.outline()
  outlines.covered()
}

function pick (place, byKey) {
  if (isEmbedded) return
  const tile = stage.layer?.tileAt(place)
  if (!tile) return
  tileCard.open(tile, byKey)
  view.reveal(place)
}

function retry () {
  stage.retry()
  refresh()
}

const writeCards = soon(() => rangeCard.update())
const reread = soon(async () => {
  await refresh()
  readEditions(Math.max(PAGE, panel.editions.length))
  tileCard.refresh()
}, REREAD_DELAY)

stage.on('time range compare', remember)
stage.on('time range compare changes extent zone', writeCards)
stage.on('time', () => { panel.setTime(stage.time); tileCard.setTime() })
stage.on('zone', () => { describe(); tileCard.render(); readEditions(panel.editions.length) })
stage.on('storeback', reread)
stage.on('extent', ({ first, last }) => { // reported anew whenever a tile changes
  const isNews = reported?.layer === stage.layer && reported?.last !== `${first} ${last}`
  reported = { layer: stage.layer, last: `${first} ${last}` }
  if (isNews) reread()
})
stage.on('storeerror', ({ error }) => { if (['LAYER_NOT_FOUND', 'DATABASE_NOT_FOUND'].includes(error.code) || stage.offline) reread() })
showProblems(stage, notices, view, retry, device)
takeAway({ button: byId('take'), stage, view, notices, cards, written, hash: shownHash })
if (!isEmbedded) keepPage(new Promise(resolve => { stage.once('timeload', resolve) }))

new ResizeObserver(() => {
  for (const node of [document.body, view.map.getContainer()]) node.style.setProperty('--tilecouch-dock-bottom', `${byId('time').offsetHeight}px`)
}).observe(byId('time'))
// not location.hash: `remember` may have written the old place over it before this is called
addEventListener('hashchange', ({ newURL }) => { if (layers.length) follow(new URL(newURL).hash) })
addEventListener('online', () => again.abort())
addEventListener('keydown', ({ key }) => { if (key === 'Escape') cards.escape() })
document.addEventListener('visibilitychange', () => { if (!document.hidden && stage.doc) retry() })
start()
