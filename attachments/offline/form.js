// The form for a new area. Its shape is drawn on the map (sketch.js); the form has the other fields and an estimate.
import { parseBbox } from '../../core/index.js'
import { html, useEffect, useEvents, useLayoutEffect, useRef, useState, useSubmit } from '../html.js'
import { Button, Choices, Field, Fold, Hint } from '../parts.js'
import { offlineWords as texts, words } from '../words.js'
import { Estimate, useEstimate } from './estimate.js'
import { Sketch } from './sketch.js'
import { freeName, problem } from './words.js'

const formTexts = texts.form
const EXTRA_ZOOMS = 2 // zooms of a new area beyond that of the map
const MAX_ZOOM = 22 // last zoom of a layer that does not name one
const YEAR = 365 * 86400000 // milliseconds
const PASTS = [['none', formTexts.pastNone], ['since', formTexts.pastSince], ['all', formTexts.pastAll]]

/**
 * @param {object} props
 * @param {any} props.offline the OfflineStore
 * @param {L.Map} props.map
 * @param {import('../store.js').Layer[]} props.layers
 * @param {string} props.shown name of the layer that the map shows
 * @param {() => number[]} props.boxInSight the part of the map that is not covered
 * @param {number} props.rate bytes a second of the last download; 0 if there was none
 * @param {(area: any) => void} props.onDone
 * @param {() => void} props.onCancel
 */
export function AreaForm ({ offline, map, layers, shown, boxInSight, rate, onDone, onCancel }) {
  const form = useRef(/** @type {any} */ (null))
  const sketch = useSketch(map, boxInSight)
  const [fields, setFields] = useState(() => ({
    ...fieldsOf(shown),
    isNamed: false, // by the user
    past: 'none',
    since: new Date(Date.now() - YEAR).toISOString().slice(0, 10)
  }))
  const { name, isNamed, layer, minzoom, maxzoom, first, last, past, since } = fields
  const [{ line, isWaiting }, show] =
    useEstimate(offline, sketch, specOf, [layer, first, last, past, since], rate)
  const { submit, busy } = useSubmit(add)
  const isPossible = line.isPossible && !isWaiting && !busy
  const change = values => setFields(before => ({ ...before, ...values }))

  /** The values that follow from a layer: its zooms, and a name that no area has. */
  function fieldsOf (layerName) {
    const doc = layers.find(candidate => candidate.layer === layerName) ?? { layer: layerName }
    const { minzoom: lowest = 0, maxzoom: highest = MAX_ZOOM, name: title = layerName } = doc
    const deepest = Math.min(Math.max(Math.round(map.getZoom()) + EXTRA_ZOOMS, lowest), highest)
    const taken = offline.areas.list().map(area => area.name)
    return {
      layer: layerName, name: freeName(title.slice(0, 90), taken), minzoom: lowest, maxzoom: highest, first: lowest,
      last: deepest
    }
  }

  function chooseLayer (layerName) {
    const values = fieldsOf(layerName)
    change(isNamed ? { ...values, name } : values)
  }

  function specOf () {
    const { geometry } = sketch
    const history = past === 'since' ? { since } : past === 'all'
    return geometry && { layer, ...geometry, zooms: { min: first, max: last }, history }
  }

  async function add () {
    const spec = specOf()
    if (!spec || !isPossible) return
    if (!name.trim()) {
      show({ tone: 'warn', text: formTexts.giveName, isPossible: true })
      return form.current.elements.name.focus()
    }
    offline.persist().catch(() => false) // browsers decide after a click; the card shows the answer
    try {
      const area = await offline.areas.add({ name: name.trim(), ...spec })
      if (form.current) onDone(area)
      else await area.remove() // the form was closed while the store was asked
    } catch (error) {
      show({ tone: 'warn', text: problem(error), isPossible: true })
    }
  }

  useEscape(onCancel)
  useLayoutEffect(() => {
    const isTouch = matchMedia('(pointer: coarse)').matches // a keyboard on the screen would hide the map
    if (isTouch) form.current.querySelector('button').focus({ preventScroll: true })
    else form.current.elements.name.select()
  }, [])

  return html`<form class="area-form" novalidate ref=${form} onSubmit=${submit}>
    <${Shape} sketch=${sketch} boxInSight=${boxInSight} />
    <div class="fields">
      <label>
        <span>${formTexts.name}</span>
        <input type="text" name="name" maxlength="100" required autocomplete="off" value=${name}
          onInput=${({ target }) => change({ name: target.value, isNamed: true })} />
      </label>
      ${layers.length > 1 && html`<${Field} label=${formTexts.layer} value=${layer} onChange=${chooseLayer}
        options=${layers.map(option => [option.layer, option.name ?? option.layer])} />`}
      <${Field} label=${formTexts.past} value=${past} options=${PASTS} onChange=${value => change({ past: value })} />
      ${past === 'since' && html`<label>
        <span>${formTexts.since}</span>
        <input type="date" value=${since} onInput=${({ target }) => change({ since: target.value })} />
      </label>`}
    </div>
    <div class="zooms" role="group" aria-label=${formTexts.zooms}>
      <${Stepper} label=${formTexts.firstZoom} value=${first} min=${minzoom} max=${maxzoom}
        onChange=${value => change({ first: value })} />
      <${Stepper} label=${formTexts.lastZoom} value=${last} min=${minzoom} max=${maxzoom}
        onChange=${value => change({ last: value })} />
    </div>
    <${Fold} head=${formTexts.asNumbers}>
      <${BoxNumbers} sketch=${sketch} map=${map}
        onError=${error => show({ tone: 'warn', text: problem(error) })} />
    <//>
    <div class="foot">
      <${Estimate} line=${line} isWaiting=${isWaiting} />
      <div class="acts">
        <${Button} type="submit" kind="primary" busy=${!isPossible}>${texts.area.download}<//>
        <${Button} onClick=${onCancel}>${words.cancel}<//>
      </div>
    </div>
  </form>`
}

/** Creates a shape on the map. It exists while the form is open. */
function useSketch (map, boxInSight) {
  const [sketch] = useState(() => {
    document.body.classList.add('sketching') // it hides the timeline on a phone, before the part in sight is measured
    return new Sketch(map, boxInSight())
  })
  useLayoutEffect(() => () => {
    sketch.remove()
    document.body.classList.remove('sketching')
  }, [])
  return sketch
}

/** Escape closes the form, and not the card. */
function useEscape (onEscape) {
  const latest = useRef(onEscape)
  latest.current = onEscape
  useEffect(() => {
    const close = event => {
      if (event.key !== 'Escape') return
      event.stopPropagation()
      latest.current()
    }
    addEventListener('keydown', close, { capture: true })
    return () => removeEventListener('keydown', close, { capture: true })
  }, [])
}

/** A box or a polygon, and how to draw it. */
function Shape ({ sketch, boxInSight }) {
  useEvents(sketch, 'shape')
  const { kind, corners } = sketch
  const isPolygon = kind === 'polygon'
  const polygonHint = corners ? formTexts.corners(corners) : formTexts.tapCorners
  const choose = value => {
    if (value === kind) return
    if (value === 'polygon') sketch.startPolygon()
    else sketch.setBox(boxInSight())
  }
  return html`
    <${Choices} label=${formTexts.shape} value=${kind} onChoose=${choose}
      options=${[['box', formTexts.box], ['polygon', formTexts.free]]} />
    <${Hint}>${isPolygon ? polygonHint : formTexts.dragCorners}<//>
    ${isPolygon && corners > 0 && html`<${Button} onClick=${() => sketch.dropCorner()}>${formTexts.undo}<//>`}`
}

/** The box as four numbers. They follow the sketch without drawing the form again. */
function BoxNumbers ({ sketch, map, onError }) {
  const field = useRef(/** @type {any} */ (null))
  useEffect(() => {
    const write = () => {
      const { bbox } = sketch.geometry ?? {}
      if (bbox && document.activeElement !== field.current) field.current.value = bbox.join(', ')
    }
    write()
    sketch.on('change', write)
    return () => sketch.off('change', write)
  }, [])

  function take () {
    try {
      sketch.setBox(parseBbox(field.current.value))
      map.fitBounds(sketch.bounds, { padding: [40, 40], animate: false })
    } catch (error) {
      onError(error)
    }
  }

  return html`<label>
    <span>${formTexts.edges}</span>
    <input type="text" autocomplete="off" spellcheck="false" ref=${field} onChange=${take} />
  </label>`
}

/** A number with buttons for one less and one more. */
function Stepper ({ label, value, min, max, onChange }) {
  const take = number => onChange(Math.min(Math.max(number, min), max))
  const read = ({ target }) => take(/^\d+$/.test(target.value) ? Number(target.value) : min)
  return html`<div class="stepper">
    <span aria-hidden="true">${label}</span>
    <div>
      <${Button} kind="" aria-label=${formTexts.less(label)} onClick=${() => take(value - 1)}>−<//>
      <input type="number" inputmode="numeric" aria-label=${label} min=${min} max=${max} value=${value}
        onChange=${read} />
      <${Button} kind="" aria-label=${formTexts.more(label)} onClick=${() => take(value + 1)}>+<//>
    </div>
  </div>`
}
