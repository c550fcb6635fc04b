// The two sides of a comparison: the layer and the time of each side, and how both are shown.
import { byName, date, time as written, zoneId } from './format.js'
import { MODES } from './comparison.js'
import { html, useAnswer, useMemo } from './html.js'
import { isInOtherGrid } from './other-grid.js'
import { Choices, Select } from './parts.js'
import { words } from './words.js'

const NEWEST = '' // as the value of an option
const MOST = 500 // newest times of a list: older ones are chosen on the timeline
/** @type {any[]} */
const NONE = []

/** @param {{stage: import('./stage.js').Stage, page: import('./range-card.js').Page}} props */
export function Sides ({ stage, page }) {
  const { comparison, clock } = stage
  const doc = /** @type {import('./store.js').Layer} */ (stage.doc)
  const left = /** @type {import('./comparison.js').Left} */ (comparison.left)

  function chooseLeft (name) {
    const other = page.layers().find(({ layer }) => layer === name)
    const isSame = name === doc.layer
    // another layer is shown at the time of the right side
    stage.compare({ doc: isSame ? null : other, time: isSame ? comparison.left?.time ?? stage.time : stage.time })
  }

  return html`<div class="sides">
    <${Choices} label=${words.compare.mode} value=${comparison.mode}
      options=${MODES.map(mode => [mode, words.compare.modes[mode]])} onChoose=${mode => comparison.setMode(mode)} />
    <${Side} name="left" page=${page} doc=${left.doc ?? doc} time=${left.time} layer=${comparison.layer}
      onLayer=${chooseLeft} onTime=${time => stage.compare({ ...comparison.left, time })} />
    <${Side} name="right" page=${page} doc=${doc} time=${stage.time} layer=${stage.layer}
      onLayer=${page.onLayer} onTime=${time => clock.setTime(time)} />
  </div>`
}

function Side ({ name, page, doc, time, layer, onLayer, onTime }) {
  const label = words.compare.sides[name]
  const layers = page.layers().filter(each => !isInOtherGrid(each)).map(each => [each.layer, each.name ?? each.layer])
    .sort(([, a], [, b]) => byName(a, b))
  return html`<div class=${`side ${name}`}>
    <span aria-hidden="true">${label.name}</span>
    ${layers.length > 1 && html`<${Select}
      aria-label=${label.layer} options=${layers} value=${doc.layer} onChange=${onLayer} />`}
    <${Times} key=${doc.layer} label=${label.time} changes=${layer?.changes?.() ?? NONE}
      ...${{ page, doc, time, onTime }} />
  </div>`
}

/** The times of a side, the newest first: editions, and changes in view. */
function Times ({ label, page, doc, time, changes, onTime }) {
  const editions = useAnswer(() => page.editions(doc.layer), [doc.layer]) ?? NONE
  const options = useMemo(() => timesOf(editions, changes), [editions, changes, zoneId()])
  const isListed = time === null || options.some(([value]) => value === time)
  const [newest, ...others] = options
  return html`<${Select} aria-label=${label} value=${time ?? NEWEST} onChange=${value => onTime(value || null)}
    options=${isListed ? options : [newest, [time, written(time)], ...others]} />`
}

function timesOf (editions, changes) {
  const titles = new Map(changes.map(({ time }) => [time, undefined]))
  for (const { time, title } of editions) titles.set(time, title)
  const times = [...titles].sort(([time], [other]) => time < other ? 1 : -1).slice(0, MOST)
  const textOf = (time, title) => title ? `${date(time)} · ${title}` : written(time)
  return [[NEWEST, words.newest], ...times.map(([time, title]) => [time, textOf(time, title)])]
}
