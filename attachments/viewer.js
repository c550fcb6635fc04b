// The viewer: reads the store, keeps the choices of the user, and updates the map, the panel, cards and the address.
import { wait, backoff } from '../client/source/wait.js'
import { fromSeconds, now } from '../core/index.js'
import { Cards } from './cards.js'
import { Device, keepPage, keepRest, listenToButton, obstacle } from './device.js'
import { breathe, soon } from './dom.js'
import { EditionReader } from './edition-reader.js'
import { Finder } from './find/finder.js'
import { size, time as written } from './format.js'
import { HeatMap } from './heat-map.js'
import { html, render } from './html.js'
import { hasSignedIn } from './kept-text.js'
import { listenToKeys } from './keys.js'
import { sortLayers } from './layer-order.js'
import { MapView } from './map.js'
import { Empty, Failure, Loading, Notices } from './notices.js'
import { nameOf, showOperator } from './operator.js'
import { explainOtherGrids, isInOtherGrid } from './other-grid.js'
import { Outlines } from './outlines.js'
import { mountPanel } from './panel.js'
import * as permalink from './permalink.js'
import { showProblems } from './problems.js'
import { RangeCard } from './range-card.js'
import { databaseUrl } from './requests.js'
import { FoldablePanel, mountSettings } from './sheet.js'
import { CHOSEN } from './stack.js'
import { Stage } from './stage.js'
import { Store } from './store.js'
import { isEmbedded, takeAway } from './take/entry.js'
import { Thumbnails } from './thumbnails.js'
import { TileCard } from './tile-card.js'
import { addTools } from './tools.js'
import { translate, words } from './words.js'

const WRITE_INTERVAL = 200 // milliseconds: browsers refuse to write the address for every frame
const REREAD_DELAY = 1500 // milliseconds: a load changes the store for a while
const VIEW_DELAY = 300 // milliseconds without a move before the changes in view are counted
const POLL = 5000 // milliseconds between two reads of an empty store
const DATES = 200 // editions of another layer that a comparison offers
const GONE = ['LAYER_NOT_FOUND', 'DATABASE_NOT_FOUND'] // codes after which the list of layers is read again
const THUMBNAIL = 20000 // maximum average bytes of a tile that serves as the picture of its layer

translate(document.documentElement)

const byId = id => /** @type {HTMLElement} */ (document.getElementById(id))
const content = byId('content')
const device = new Device({ onOpen: mount, onAreas })
const store = new Store(device)
const sheet = new FoldablePanel(byId('panel'), byId('toggle'))
const notices = new Notices(byId('notices'))
await breathe()
const view = new MapView(byId('map'), { onMove, onPick: pick, free: covered })
await breathe()
const stage = new Stage(view.map, byId('time'))
await breathe()
byId('admin').hidden = !hasSignedIn()
const entered = listenToButton(byId('offline'), notices, {
  topic: 'device',
  failed: words.offlineFailed,
  open: async () => (await device.open(store.db || undefined)).panel.open()
})
const outlines = new Outlines(view.map)
const heat = new HeatMap(view.map)
const thumbnails = new Thumbnails(stage)
const cards = new Cards(byId('cards'))
const rangeCard = new RangeCard(stage, cards, outlines, {
  layers: () => layers, editions: layer => store.editions(layer, DATES), onLayer: choose, onCompare: toggleComparison
})
const tileCard = new TileCard(stage, cards, outlines, store)
const finder = new Finder(byId('find'), { view, layers: () => layers, settings: () => store.settings, onLayer: choose })
listenToKeys(stage, view.map, cards, { onFind: () => finder.open(), onCompare: toggleComparison })
const panel = document.createElement('div')
panel.className = 'panel'
const editions = new EditionReader(store, { onRead: state => showPanel(state), onLoad: () => reread() })
const showPanel = mountPanel(panel, {
  stage,
  onLayer: choose,
  onCompare: toggleComparison,
  onOlder: () => editions.readOlder(),
  onSearch: () => editions.readAll(),
  onFootprint: outlineEdition,
  onHeat: showHeat,
  drawView: (canvas, time) => thumbnails.draw(canvas, time),
  thumbnailUrl: layer => store.thumbnailUrl(layer, THUMBNAIL)
})

/** @type {import('./store.js').Layer[]} */
let layers = []
/** @type {Map<string, import('./store.js').Stats> | null} */
let stats = null
/** @type {{layer: any, last: string} | null} */
let reported = null
let retryPause = new AbortController() // ends the pause before the store is read again
let isHeated = false

/** The covered pixels at the edges of the map. */
function covered () {
  const box = node => node.getBoundingClientRect()
  const side = box(byId('cards'))
  const right = side.left > 0 ? innerWidth - side.left : 0
  return { left: sheet.covered, right, bottom: box(byId('map')).bottom - box(byId('time')).top }
}

function onAreas ({ length }) {
  stage.offline = length ? device.offline : null
  if (length) keepRest()
}

function mount (offline, { mountOffline }) {
  entered()
  const page = { entry: byId('offline'), stage, view, notices, cards, layers: () => layers, free: covered }
  return mountOffline({ offline, ...page, onLayer: choose, reason: obstacle() })
}

async function start () {
  panel.remove()
  render(html`<${Loading} />`, content)
  content.setAttribute('aria-busy', 'true')
  summarize(words.reading)
  for (let failures = 0; ;) {
    try {
      [layers] = await Promise.all([store.layers(), device.prepare()])
      if (layers.length) break
      failures = 0
      say(words.emptyStore, html`<${Empty} database=${databaseUrl()} onRetry=${() => retryPause.abort()} />`)
    } catch (error) {
      failures++
      say(words.noConnection, html`<${Failure} error=${error} onRetry=${() => retryPause.abort()} />`)
    }
    retryPause = new AbortController()
    await wait(failures ? backoff(failures) : POLL, retryPause.signal).catch(() => {})
  }
  const logo = await store.readSettings().catch(() => undefined)
  showOperator(store.settings, logo)
  document.body.classList.remove('bare')
  byId('panel').setAttribute('role', 'complementary')
  content.removeAttribute('aria-busy')
  render(null, content)
  content.append(panel)
  stage.stack.know(layers, store.settings.base)
  await breathe()
  await follow()
  readFigures()
}

/** Shows a notice in place of everything else. */
function say (summary, notice) {
  content.removeAttribute('aria-busy')
  summarize(summary)
  document.body.classList.add('bare')
  byId('panel').setAttribute('role', 'main') // the map is hidden
  sheet.fold(false)
  render(notice, content)
}

function summarize (text = figuresOfStore()) {
  byId('summary').textContent = text
}

function figuresOfStore () {
  const bytes = [...stats?.values() ?? []].reduce((sum, { bytes: more }) => sum + more, 0)
  const counted = store.isAway ? words.onDevice : words.layers(layers.length)
  return [counted, stats && size(bytes)].filter(Boolean).join(' · ')
}

let following = 0 // number of the last address that was followed

/** Shows the place of an address, or the layer that the operator names, or the first one that has tiles. */
async function follow (hash = location.hash) {
  const attempt = ++following
  const place = readAddress(hash)
  const name = place.layer ?? await firstLayer()
  if (attempt !== following) return // another address was followed meanwhile
  if (place.view) view.go(place.view)
  stage.compare(null)
  stage.stack.setBase(place.base ?? operatorBase())
  stage.stack.set(place.layers ?? [])
  stage.clock.setTime(place.compare ? place.compare.to : place.time ?? null)
  if (stage.doc?.layer !== name && !await choose(name, place.view)) return // a layer was chosen meanwhile
  if (attempt !== following) return
  stage.comparison.mode = place.mode ?? 'swipe'
  followComparison(place, name)
  const problems = place.problems.join(' ')
  if (problems) notices.show('link', { text: words.link.problems(problems), tone: 'warn', canClose: true })
  else notices.end('link')
}

/**
 * The parts of an address that can be shown. Without a layer it is about the shown one; if there is no such layer,
 * only the view and the mode are left.
 * @returns {permalink.Place}
 */
function readAddress (hash) {
  const place = permalink.parse(hash)
  const { layer, view: mapView, mode, problems } = place
  if (layers.some(doc => doc.layer === layer)) return place
  if (!layer) return { layer: stage.doc?.layer, view: mapView, mode, problems }
  const unknownText = words.link[store.isAway ? 'unknownOnDevice' : 'unknown']
  return { view: mapView, mode, problems: [unknownText(layer.slice(0, 63))] }
}

/** Shows the range of an address, and its comparison of two times or of two layers. @param {permalink.Place} place */
function followComparison ({ compare, range, with: left }, name) {
  stage.range = range ?? (compare ? { from: compare.from, to: compare.to ?? newest(name) } : null)
  const leftDoc = left && layers.find(({ layer }) => layer === left.layer)
  if (compare) {
    stage.compare({ time: compare.from })
    stage.clock.setTime(compare.to)
  } else if (leftDoc) stage.compare({ doc: leftDoc, time: left.time })
}

/** The layer to show if the address names none. It has tiles, so that the first map is not empty. */
async function firstLayer () {
  const { opens } = store.settings
  const listed = sortLayers(layers)
  const candidates = [...listed.filter(({ layer }) => layer === opens), ...listed]
  for (const { layer } of candidates) if (await store.hasTiles(layer)) return layer
  return candidates[0].layer
}

/** The operator's base map: an existing layer, or a template. */
function operatorBase () {
  const { base } = store.settings
  if (typeof base === 'object') return CHOSEN
  return layers.some(({ layer }) => layer === base) ? base ?? '' : ''
}

const newest = name => stats?.has(name) ? fromSeconds(/** @type {any} */ (stats.get(name)).last) : now()

/** Drops the range of the timeline if a layer has no versions in it. It stays while that is unknown. */
function dropOtherRange (name) {
  const { range } = stage
  const figures = stats?.get(name)
  if (!range || !figures) return
  if (range.from > fromSeconds(figures.last) || range.to < fromSeconds(figures.first)) stage.range = null
}

let choosing = 0 // number of the last choice of a layer

/** @param {string} name @param {{z: number, lat: number, lon: number}} [place] to show, instead of the present one */
async function choose (name, place) {
  const layer = /** @type {import('./store.js').Layer} */ (layers.find(candidate => candidate.layer === name))
  const isOther = stage.doc?.layer !== name
  const attempt = ++choosing
  if (isOther && !stage.draws(layer)) {
    await stage.prepare(layer).catch(() => {}) // the page then shows that it cannot be drawn
    if (attempt !== choosing) return false
  }
  const title = layer.name ?? name
  document.title = `${title} · ${nameOf(store.settings)}`
  byId('shown').textContent = title
  tileCard.close()
  if (isOther) for (const topic of ['store', 'tiles', 'sight', 'link', 'compare']) notices.end(topic)
  const fresh = isOther && { ...editions.open(name), changes: null, tilesInView: 0 }
  showPanel({ layers, stats, chosen: name, ...fresh })
  const isFirst = !stage.doc // the page is still being built, in short steps
  if (isFirst) await breathe()
  if (attempt !== choosing) return false
  if (isOther) {
    dropOtherRange(name)
    stage.show(store.db, layer)
    countTiles()
  }
  if (isFirst) await breathe()
  if (attempt !== choosing) return false
  // after stage.show(): the map then allows the zooms of this layer too
  if (place) view.go(place)
  view.see(layer)
  editions.read()
  remember()
  return true
}

/** Begins or ends a comparison: of the range of the timeline, else of the first and the newest edition. */
function toggleComparison () {
  const { comparing, range, extent } = stage
  if (comparing) return stage.compare(null)
  if (!range && (!extent || stage.hasOneEdition)) {
    return notices.show('compare', { text: words.compare.nothing, canClose: true })
  }
  stage.clock.setTime(range ? range.to : null)
  stage.compare({ time: range?.from ?? extent.first })
}

/** Shows how often the places in view changed, or hides it. */
function showHeat (on) {
  isHeated = on
  heat.show(on ? stage.layer : null)
}

const lookAtView = soon(() => {
  const { layer } = stage
  if (!layer) return
  thumbnails.drop()
  const tiles = layer.changesByTile()
  showPanel({ changes: layer.changes(), tilesInView: tiles?.length ?? 0 })
  if (isHeated) heat.show(layer)
}, VIEW_DELAY)

let footprint = 0 // number of the last request

/** @param {string | null} time of an edition */
async function outlineEdition (time) {
  const attempt = ++footprint
  const layer = stage.doc?.layer
  const isNone = time === null || !layer || isInOtherGrid(stage.doc)
  const tiles = isNone ? [] : await store.footprint(layer, time).catch(() => [])
  if (attempt === footprint) outlines.covered(tiles)
}

/** Reads layers and figures again: after a load, or after the store was away. */
async function refresh () {
  const newLayers = await store.layers().catch(() => null)
  if (!newLayers) return
  layers = newLayers
  stage.stack.know(layers, store.settings.base)
  if (!layers.length) {
    stage.clear()
    tileCard.close()
    notices.clear()
    return start()
  }
  describe()
  return readFigures()
}

async function readFigures () {
  const before = stats
  stats = await store.stats().catch(() => before)
  for (const [name, figures] of stats ?? []) figures.tiles ??= before?.get(name)?.tiles
  describe()
  countTiles()
  if (stats && await store.countConflicts(stats)) describe()
}

/** Counts the tiles of the chosen layer. The answer for all layers would be large. */
async function countTiles () {
  const name = stage.doc?.layer ?? ''
  if (!stats?.has(name)) return
  const tiles = await store.countTiles(name).catch(() => undefined)
  const figures = stats?.get(name)
  if (!figures || tiles === undefined || tiles === figures.tiles) return
  figures.tiles = tiles
  describe()
}

function describe () {
  const name = stage.doc?.layer ?? ''
  summarize()
  const shown = layers.find(({ layer }) => layer === name)
  if (shown) stage.doc = shown
  showPanel({ layers, stats })
}

/** The address of the shown map; '' while nothing is shown. */
function shownHash () {
  const { doc, time, comparing, range, comparison, stack } = stage
  if (!doc || !view.view) return ''
  const { left, mode, isOfOne } = comparison
  const { entries } = stack
  const isRange = isOfOne && range?.from === left?.time // otherwise the left side is the later time, or the newest
  return permalink.format({
    layer: doc.layer, time, comparing, range, mode, view: view.view,
    left: left && !isRange ? { layer: (left.doc ?? doc).layer, time: left.time } : null,
    base: stack.base === operatorBase() ? undefined : stack.base,
    layers: entries.length > 1 || entries[0].opacity !== 1 ? entries : null
  })
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
  tileCard.open(tile, byKey, stage.layer.featuresAt?.(place))
  view.reveal(place)
}

function retry () {
  stage.retry()
  refresh()
}

const writeCards = soon(() => rangeCard.update())
const reread = soon(async () => {
  await refresh()
  editions.read()
  tileCard.refresh()
}, REREAD_DELAY)

stage.on('time range compare stack', remember)
stage.on('time range compare changes extent zone', writeCards)
stage.on('changes', lookAtView)
stage.on('show extent', () => document.body.classList.toggle('one-edition', stage.hasOneEdition))
let hasTwoMaps = false
stage.on('compare', () => {
  const hadTwoMaps = hasTwoMaps
  hasTwoMaps = stage.comparing && stage.comparison.mode === 'side'
  if (hasTwoMaps && !hadTwoMaps) sheet.fold(true) // the panel would cover the left map
})
stage.on('storeback', reread)
stage.on('extent', ({ first, last }) => { // reported anew whenever a tile changes
  const isNews = reported?.layer === stage.layer && reported?.last !== `${first} ${last}`
  reported = { layer: stage.layer, last: `${first} ${last}` }
  if (isNews) reread()
})
stage.on('storeerror', ({ error }) => { if (GONE.includes(error.code) || stage.offline) reread() })
showProblems(stage, notices, view, retry, device)
explainOtherGrids(stage, byId('map'))
takeAway({ button: byId('take'), stage, view, notices, cards, editions, written, hash: shownHash })
mountSettings(byId('settings'), stage)
addTools(view, notices, { onFind: () => finder.open() })
if (!isEmbedded) keepPage(new Promise(resolve => { stage.once('timeload', resolve) }))

const fitComparison = () => stage.comparison.fit(view, covered())
stage.on('compare', fitComparison)
const sizes = new ResizeObserver(() => {
  document.body.style.setProperty('--tilecouch-dock-bottom', `${byId('time').offsetHeight}px`)
  fitComparison()
})
for (const id of ['time', 'cards', 'panel', 'map']) sizes.observe(byId(id))
// not location.hash: `remember` may have written the old place over it before this is called
addEventListener('hashchange', ({ newURL }) => { if (stage.doc) follow(new URL(newURL).hash) })
addEventListener('online', () => retryPause.abort())
addEventListener('keydown', ({ key }) => { if (key === 'Escape') cards.escape() })
document.addEventListener('visibilitychange', () => { if (!document.hidden && stage.doc) retry() })
start()
