// The section "Layers": the layers in groups, by order and name, as in the viewer, each with a picture; and the
// settings of one layer.
import { isLayer } from '../../../core/ids.js'
import { layerDocument } from '../../../core/layer-document.js'
import { hostOf } from '../../../core/upstream.js'
import { focusAfterAnswer } from '../../dom.js'
import { zooms } from '../../format.js'
import { html, useAnswer, useEffect, useRef, useState, useSubmit } from '../../html.js'
import { MANY, groupLayers, headingsOf, layerFilter, sortLayers } from '../../layer-order.js'
import { useApp, useDocs } from '../app.js'
import { fieldsBetween, record } from '../edit.js'
import { Picture } from '../overview/pictures.js'
import { Button, Hint, IconButton } from '../../parts.js'
import { State } from '../parts.js'
import { texts } from '../words.js'
import { inputField } from './fields.js'
import { LayerForm, unsavedOf } from './form.js'
import { nameFault } from './move.js'
import { ordersAfter, writeOrders } from './order.js'

const words = texts.layers
const ROWS = 100 // layers at once; a button shows as many more

const { component: NameField } = inputField({
  name: 'new', label: words.make.name, hint: words.make.nameHint, placeholder: 'osm'
})
const { component: TitleField } = inputField({
  name: 'title', label: words.make.title, hint: words.make.titleHint, placeholder: 'OpenStreetMap'
})

/** place: the name of a layer */
export function Layers ({ place }) {
  useEffect(() => scrollTo(0, 0), [place])
  return isLayer(place) ? html`<${LayerForm} key=${place} layer=${place} />` : html`<${List} />`
}

function List () {
  const app = useApp()
  const docs = useDocs('layer')
  const [isMaking, setMaking] = useState(false)
  const [isOrdering, setOrdering] = useState(false)
  const [searchText, setSearchText] = useState('')
  const [most, setMost] = useState(ROWS)
  const moving = useRef(Promise.resolve())
  const tiles = useAnswer(signal => countTiles(app.couch, signal), [app])

  const isKnown = docs.known.has('layer')
  const { all, groupOf } = sorted(docs)
  const matchingLayers = all.filter(layerFilter(searchText))
  const unsaved = unsavedOf(docs)
  const emptyText = searchText.trim() ? words.noneFound : words.noLayers
  const noneText = isKnown ? emptyText : words.reading

  /** Moves a layer. Moves run one after the other, each from the order after the previous one. */
  function move (layer, by) {
    moving.current = moving.current.then(async () => {
      const { group, at: index } = placeOf(docs, layer)
      if (index < 0 || index + by < 0 || index + by >= group.length) return
      await writeOrders(app, ordersAfter(group, index, index + by))
    }).catch(error => app.say(error.fields ? words.order.clash : texts.failed(error.message), true))
  }

  const order = () => setOrdering(!isOrdering)
  return html`<div class="layers" aria-busy=${isKnown ? null : 'true'}>
    <div class="head">
      <h2>${texts.sections.layers}</h2>
      <a href="#editions">${texts.sections.editions}</a>
      ${all.length > MANY && html`<input type="search" placeholder=${words.find} aria-label=${words.find}
        onInput=${({ target }) => setSearchText(target.value)} />`}
      ${all.length > 1 && html`<${Button} aria-pressed=${String(isOrdering)} onClick=${order}>
        ${isOrdering ? words.order.end : words.order.button}
      <//>`}
      <${Button} kind="primary" onClick=${() => setMaking(true)}>${words.make.button}<//>
    </div>
    ${isMaking && html`<${NewLayer} close=${() => setMaking(false)} />`}
    ${isOrdering && html`<${Hint}>${words.order.hint}<//>`}
    ${!matchingLayers.length && html`<p class="hint" role="status">${noneText}</p>`}
    <div class="layer-list">
      ${groupLayers(matchingLayers.slice(0, most), all).map(([heading, rows]) => html`
        ${heading && html`<h3 key="head ${heading}">${heading}</h3>`}
        <ul class="card" key="list ${heading}">
          ${rows.map(doc => html`<${Row} key=${doc.layer} doc=${doc} tiles=${tiles && (tiles.get(doc.layer) ?? 0)}
            group=${all.filter(other => groupOf(other) === heading)} isUnsaved=${unsaved.has(doc.layer)}
            move=${isOrdering && move} />`)}
        </ul>`)}
    </div>
    ${matchingLayers.length > most && html`<${Button} onClick=${() => setMost(most + ROWS)}>${texts.more}<//>`}
  </div>`
}

/** The form that makes a layer with a name and a title. Other settings are made afterwards. */
function NewLayer ({ close }) {
  const app = useApp()
  const [typed, setTyped] = useState({ name: '', title: '' })
  const [fault, setFault] = useState('')
  const form = useRef(/** @type {HTMLElement | null} */ (null))
  const focus = () => focusAfterAnswer(form.current, form.current?.querySelector('input'))
  useEffect(() => form.current?.querySelector('input')?.focus(), [])

  const { submit, busy } = useSubmit(async () => {
    const layer = typed.name.trim()
    const problem = nameFault(layer, app.docs.all('layer'))
    setFault(problem)
    if (problem) return focus()
    try {
      const after = await app.couch.write(layerDocument(layer, { name: typed.title.trim() || undefined }))
      app.docs.put(after)
      close()
      app.go(`layers/${layer}`)
      await record(app, { what: 'layer', done: 'created', layer, fields: fieldsBetween(null, after) })
    } catch (error) {
      if (error.status !== 409) return app.say(texts.failed(error.message), true)
      setFault(words.bad.taken(layer))
      focus()
    }
  })

  const escape = event => { if (event.key === 'Escape') close() }
  return html`<form class="card make" novalidate ref=${form} onSubmit=${submit} onKeyDown=${escape}>
    <h3>${words.make.head}</h3>
    <div class="fields">
      <${NameField} typed=${typed.name} problem=${{ text: fault }} onType=${name => setTyped({ ...typed, name })} />
      <${TitleField} typed=${typed.title} onType=${title => setTyped({ ...typed, title })} />
    </div>
    <div class="row">
      <${Button} type="submit" kind="primary" busy=${busy}>${words.make.create}<//>
      <${Button} onClick=${close}>${texts.cancel}<//>
    </div>
  </form>`
}

/** move: moves the layer in its group, or false while layers are not being ordered */
function Row ({ doc, tiles, group, isUnsaved, move }) {
  const { layer, name } = doc
  const title = name || layer
  const facts = [
    name && layer,
    doc.zooms && words.zooms(doc.zooms),
    tiles !== undefined && words.tiles(tiles),
    doc.host && words.from(doc.host)
  ].filter(Boolean).join(' · ')
  const index = group.findIndex(other => other.layer === layer)
  const mover = (way, by) => html`<${IconButton} name=${way} label=${words.order[way](title)}
    data-move="${layer} ${by}" busy=${index + by < 0 || index + by >= group.length} onClick=${() => move(layer, by)} />`
  return html`<li data-layer=${layer}>
    <${Picture} layer=${layer} format=${doc.format} />
    <div class="grow">
      <a href="#layers/${layer}">${title}</a>${' '}
      ${isUnsaved && html`<${State} kind="warn">${words.hasUnsaved}<//>`}
      <small>${facts}</small>
    </div>
    ${move && html`<div class="row moves">
      ${mover('up', -1)}
      ${mover('down', 1)}
    </div>`}
  </li>`
}

/** The number of tiles of each layer, as far as the index has read. @returns {Promise<Map<string, number>>} */
async function countTiles (couch, signal) {
  const query = { group_level: 1, update: false }
  const rows = await couch.rows('_design/versions/_view/by_area', query, { signal })
  return new Map(rows.map(({ key: [layer], value }) => [layer, value.count]))
}

/** All layers in the order of the list, and the heading of each. */
function sorted (docs) {
  const all = sortLayers(docs.all('layer').filter(({ layer }) => typeof layer === 'string').map(soundFields))
  return { all, groupOf: headingsOf(all) }
}

function placeOf (docs, layer) {
  const { all, groupOf } = sorted(docs)
  const layerDoc = all.find(doc => doc.layer === layer)
  const group = layerDoc ? all.filter(doc => groupOf(doc) === groupOf(layerDoc)) : []
  return { group, at: group.findIndex(doc => doc.layer === layer) }
}

/** The fields that a row shows, with sound values: documents may contain anything. */
function soundFields ({ layer, name, description, group, order, format, minzoom, maxzoom, upstream }) {
  const text = value => typeof value === 'string' && value !== '' ? value : undefined
  return {
    layer,
    name: text(name),
    description: text(description),
    group: text(group),
    order: Number.isInteger(order) ? order : undefined,
    format,
    zooms: minzoom === undefined && maxzoom === undefined ? '' : zooms(minzoom ?? 0, maxzoom ?? 30),
    host: typeof upstream?.url === 'string' ? hostOf(upstream.url).replace(/^.*@/, '') : undefined
  }
}
