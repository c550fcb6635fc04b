// The page: reads the store, keeps what is chosen, and lets the map, the panel and the address follow.
import { databaseUrl, isThere, readEditions, readLayers } from './api.js'
import { LIMIT, editionList } from './editions.js'
import { bytes, plural } from './format.js'
import { MapView } from './map.js'
import { banner, empty, failure, loading } from './notice.js'
import { facts, layerList } from './panel.js'
import * as permalink from './permalink.js'
import { Sheet } from './sheet.js'

const byId = id => /** @type {HTMLElement} */ (document.getElementById(id))
const content = byId('content')
const summary = byId('summary')

/** @type {import('./api.js').Layer[]} */
let layers = []
/** @type {{layer: string, time?: string} | null} */
let chosen = null
let checking = false

const sheet = new Sheet(byId('panel'), byId('toggle'))
const view = new MapView(byId('map'), { onMove: remember, onTileError: check })

async function start () {
  content.replaceChildren(loading())
  content.setAttribute('aria-busy', 'true')
  summary.textContent = 'Reading the store …'
  try {
    layers = await readLayers()
  } catch (error) {
    summary.textContent = 'No connection'
    say(failure(error, start))
    return
  } finally {
    content.removeAttribute('aria-busy')
  }
  if (!layers.length) {
    chosen = null
    view.clear()
    summary.textContent = 'An empty store'
    say(empty(databaseUrl(), start))
    return
  }
  document.body.classList.remove('bare')
  summary.textContent = `${plural(layers.length, 'layer')} · ${bytes(layers.reduce((sum, { stats }) => sum + stats.bytes, 0))}`
  follow()
}

/** A notice in place of everything else. */
function say (notice) {
  document.body.classList.add('bare')
  sheet.expand()
  content.replaceChildren(notice)
}

/** Shows what the address asks for, or the first layer. */
function follow () {
  const wanted = permalink.parse(location.hash)
  const known = layers.find(({ layer }) => layer === wanted.layer)
  if (wanted.view) view.go(wanted.view)
  choose(known?.layer ?? layers[0].layer, known && wanted.time)
  if (wanted.layer && !known) content.prepend(banner(`There is no layer “${wanted.layer}” here.`))
}

/**
 * @param {string} name
 * @param {string} [time]
 */
function choose (name, time) {
  const layer = /** @type {import('./api.js').Layer} */ (layers.find(candidate => candidate.layer === name))
  const isOther = chosen?.layer !== name
  chosen = { layer: name, time }
  document.title = `${layer.name ?? name} · tilecouch`
  render(layer, isOther)
  if (layer.format === 'pbf') view.clear()
  else view.show(layer, time, sheet.covered)
  remember()
}

async function render (layer, isOther) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)
  const place = focused?.dataset.layer ? `[data-layer="${focused.dataset.layer}"]` : focused?.dataset.time !== undefined ? `[data-time="${focused.dataset.time}"]` : null
  const time = chosen?.time
  const list = content.querySelector('.editions')
  const scrolled = isOther ? 0 : list?.querySelector('ul')?.scrollTop ?? 0
  const details = document.createElement('div')
  details.className = 'details'
  details.append(facts(layer, time))
  content.replaceChildren(layerList(layers, { selected: layer.layer, onSelect: choose, details }))
  try {
    const editions = await cachedEditions(layer.layer, isOther)
    if (chosen?.layer !== layer.layer || chosen.time !== time) return // meanwhile something else was chosen
    const shown = editionList(editions, { time, onSelect: value => choose(layer.layer, value) })
    details.firstElementChild?.before(shown)
    if (scrolled) /** @type {HTMLElement} */ (shown.querySelector('ul')).scrollTop = scrolled
    else if (time) shown.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest' })
  } catch {
    check()
  }
  if (place) /** @type {HTMLElement | null} */ (content.querySelector(place))?.focus({ preventScroll: true })
}

/** @type {{layer: string, editions: Promise<import('./api.js').Edition[]>} | null} */
let read = null

function cachedEditions (layer, again) {
  if (again || read?.layer !== layer) read = { layer, editions: readEditions(layer, LIMIT) }
  return read.editions
}

/** Writes what is shown into the address, without a step in the browser's history for every move. */
function remember () {
  if (chosen && view.view) history.replaceState(null, '', permalink.format({ ...chosen, view: view.view }))
}

/** A tile did not come: is it missing, or is the server away? */
async function check () {
  if (checking || content.querySelector('.banner.away')) return
  checking = true
  const there = await isThere()
  checking = false
  if (there || !chosen) return
  const away = banner('The server does not answer.', { label: 'Try again', action: retry })
  away.classList.add('away')
  content.prepend(away)
  sheet.expand()
}

async function retry () {
  content.querySelector('.banner.away')?.remove()
  if (!await isThere()) return check()
  view.retry()
  const layer = layers.find(candidate => candidate.layer === chosen?.layer)
  if (layer) render(layer, true)
}

addEventListener('hashchange', () => { if (layers.length) follow() })
start()
