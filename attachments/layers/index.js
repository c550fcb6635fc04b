// The page of the layers, served by the gateway at /layers: each with an address for every kind of program, now or as
// of a time.
import { attributionNodes } from '../../client/source/attribution.js'
import { element, write } from '../../client/timeline/dom.js'
import { STORE_ID } from '../../core/ids.js'
import { settingsOf } from '../../core/settings.js'
import { copyable } from '../copy.js'
import { byName, date, zooms } from '../format.js'
import { nameOf, showOperator } from '../operator.js'
import { language, layersWords as texts, words } from '../words.js'
import { addressesOf, isTime, isVector } from './addresses.js'

const MANY = 12 // layers from which on there is a search
const MOST_TIMES = 200 // that the field of the time offers

/** @typedef {import('./addresses.js').Listed} Listed */

const byId = id => /** @type {HTMLElement} */ (document.getElementById(id))
const list = byId('list')
const asked = new URLSearchParams(location.search).get('time') ?? ''

document.documentElement.lang = language
byId('map').textContent = texts.map
list.replaceChildren(element('p', { class: 'hint', role: 'status' }, texts.reading))

async function read (path) {
  const answer = await fetch(path)
  const body = await answer.json().catch(() => null)
  if (answer.ok && body) return body
  throw new Error(body?.reason ?? words.store.answered(answer.status))
}

/** The name, logo and colours of the operator, where the gateway shows the store. */
async function readOperator () {
  const doc = await read(`db/${STORE_ID}`).catch(() => null)
  const settings = settingsOf(doc)
  showOperator(settings, settings.logo ?? (doc?._attachments?.logo && `db/${STORE_ID}/logo`))
  document.title = `${texts.title} · ${nameOf(settings)}`
}

/** Times of each layer, oldest first. @returns {Promise<Map<string, string[]>>} none where they cannot be read */
async function readTimes () {
  const { collections = [] } = await read('ogc/collections').catch(() => ({}))
  return new Map(collections.map(({ id, extent }) => [id, extent?.temporal?.grid?.coordinates ?? []]))
}

/** A layer with its addresses. @param {Listed} layer @param {string[]} times */
function section (layer, times) {
  const { id, name, description, attribution, minzoom, maxzoom } = layer
  const rows = addressesOf(layer).map(({ kind }) => {
    const { head, use } = texts.kinds[kind]
    const { nodes, set } = copyable(texts.copy({ what: head, layer: name }))
    return { kind, set, nodes: [element('dt', null, head, element('small', null, use)), element('dd', null, ...nodes)] }
  })
  const [first, last] = [times[0], times[times.length - 1]].map(time => time && date(time))
  const facts = [
    isVector(layer) ? texts.vector : texts.images,
    zooms(minzoom, maxzoom) && `${words.facts.terms.zooms} ${zooms(minzoom, maxzoom)}`,
    times.length > 1 && first !== last ? texts.times({ count: times.length, first, last }) : first
  ].filter(Boolean)
  const viewer = element('a', null, texts.open)
  return {
    text: `${name} ${id}`.toLowerCase(),
    node: element('section', { id, 'aria-labelledby': `${id}-head`, tabindex: '-1' },
      element(
        'div', { class: 'head' }, element('h2', { id: `${id}-head` }, name, ' ', element('code', null, id)), viewer
      ),
      description && element('p', null, description),
      element('p', { class: 'hint' }, facts.join(' · ')),
      element('dl', null, ...rows.flatMap(({ nodes }) => nodes)),
      attribution && element('p', { class: 'hint' }, ...attributionNodes(attribution))),
    /** @param {string} [time] */
    setTime (time) {
      const addresses = new Map(addressesOf(layer, time).map(({ kind, address }) => [kind, address]))
      for (const { kind, set } of rows) set(addresses.get(kind) ?? '')
      write(viewer, { href: `./#${id}${time ? `@${time}` : ''}` })
    }
  }
}

/** @param {Listed[]} layers @param {Map<string, string[]>} times */
function show (layers, times) {
  const sorted = [...layers].sort((a, b) => byName(a.name, b.name))
  const sections = sorted.map(layer => section(layer, times.get(layer.id) ?? []))
  const known = [...new Set([...times.values()].flat())].sort().slice(-MOST_TIMES).reverse()
  const problem = element('p', { id: 'problem', role: 'status' })
  const setTime = () => {
    const text = field.value.trim()
    const isGood = text === '' || isTime(text)
    write(field, { 'aria-invalid': isGood ? null : 'true' })
    write(problem, { text: isGood ? '' : texts.badTime(text) })
    if (isGood) for (const each of sections) each.setTime(text || undefined)
  }
  const field = element('input', {
    type: 'search',
    list: 'times',
    value: asked,
    placeholder: words.newest,
    'aria-describedby': 'time-hint problem',
    on: { input: setTime }
  })
  const none = element('p', { class: 'hint', role: 'status' })
  const find = element('input', {
    type: 'search',
    on: {
      input () {
        const wanted = find.value.trim().toLowerCase()
        for (const { node, text } of sections) node.hidden = !text.includes(wanted)
        write(none, { text: sections.every(({ node }) => node.hidden) ? texts.none : '' })
      }
    }
  })
  list.replaceChildren(
    element('p', null, texts.lead),
    element('div', { class: 'fields' },
      element('label', null, texts.time, field),
      layers.length >= MANY && element('label', null, words.panel.find, find)),
    element('p', { class: 'hint', id: 'time-hint' }, texts.timeHint),
    problem,
    element('datalist', { id: 'times' }, ...known.map(value => element('option', { value }))),
    none,
    ...sections.map(({ node }) => node))
  for (const each of sections) each.setTime() // stays if the time in the address is not valid
  setTime()
  const wanted = byId(decodeURIComponent(location.hash.slice(1)))
  wanted?.focus({ preventScroll: true })
  wanted?.scrollIntoView()
}

readOperator()
try {
  const [layers, times] = await Promise.all([read('index.json'), readTimes()])
  if (Array.isArray(layers) && layers.length) show(layers, times)
  else list.replaceChildren(element('p', null, texts.empty))
} catch (error) {
  list.replaceChildren(element('p', { role: 'alert' }, texts.failed(error.message)))
}
