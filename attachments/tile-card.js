// The card of a place: the date and source of the tile there, when it was last checked, and all versions of the tile.
// Ids, sizes and revisions are behind "Details".
import { asOf, expiryOf, now, tileId, versionId } from '../core/index.js'
import { sharePromise } from '../core/promises.js'
import { element } from '../client/timeline/dom.js'
import { brief, size, time as written, zoneName } from './format.js'
import { html, render, useAnswer, useEffect, useEvents, useMemo, useState } from './html.js'
import { Button, Fold, Hint, Icon, Terms } from './parts.js'
import { FeatureList } from './vector/feature-list.js'
import { words } from './words.js'

const NAME = 'tile'
const PAGE = 50 // versions that are read and shown at first
const MORE = 200 // versions that the button adds

/** @typedef {import('./store.js').TileDocument} TileDocument */

export class TileCard {
  #stage
  #cards
  #outlines
  #store
  /** @type {{tile: {z: number, x: number, y: number}, features: any[]} | null} */
  #place = null
  #revision = 0 // grows when the versions have to be read again

  constructor (stage, cards, outlines, store) {
    this.#stage = stage
    this.#cards = cards
    this.#outlines = outlines
    this.#store = store
  }

  /**
   * Opens the card, or closes it if it shows the same place already.
   * @param {{z: number, x: number, y: number}} tile @param {boolean} byKey the focus moves into the card
   * @param {any[]} [features] of a vector layer, at the place
   */
  open (tile, byKey, features = []) {
    const place = { tile, features }
    if (!byKey && this.#place && idOf(this.#place) === idOf(place)) return this.close()
    this.#cards.close(NAME)
    this.#place = place
    const { title, node } = this.#cards.open(NAME, words.place.title, () => this.close())
    title.append(element('small', null, this.#stage.doc.name ?? this.#stage.doc.layer))
    this.#draw()
    if (byKey) node.focus()
    this.outline()
  }

  close () {
    this.#place = null
    this.outline()
    this.#cards.close(NAME)
  }

  /** Marks the tile on the map, in every copy of the world. */
  outline () {
    this.#outlines.picked(this.#place?.tile ?? null)
  }

  /** Reads the versions again. */
  refresh () {
    this.#revision++
    if (this.#place) this.#draw()
  }

  #draw () {
    const { body } = this.#cards.open(NAME, words.place.title, () => this.close())
    const [stage, store] = [this.#stage, this.#store]
    render(html`<${Place} ...${{ stage, store, ...this.#place, revision: this.#revision }} />`, body)
  }
}

const idOf = ({ tile: { z, x, y }, features }) =>
  [z, x, y, ...features.map(({ sourceLayer, id }) => `${sourceLayer} ${id}`)].join('/')

function Place ({ stage, store, tile, features, revision }) {
  useEvents(stage, 'time zone pause')
  const [limit, setLimit] = useState(PAGE)
  const [retries, setRetries] = useState(0)
  const { doc, time } = stage
  const readVersions = () => store.versions(doc.layer, tile, limit + 1) // the first one only tells that there are more
  const { versions: answer, problem } = useVersions(readVersions, [limit, revision, retries])
  const checks = useMemo(() => new Map(), [answer])
  if (problem) {
    return html`<${Hint}>${words.place.unreadable(problem)}<//>
      <${Button} onClick=${() => setRetries(retries + 1)}>${words.again}<//>`
  }
  if (!answer) return html`<${Hint}>${words.place.reading}<//>`
  if (!answer.length) return html`<${FeatureList} features=${features} /><${Hint}>${words.place.nothing}<//>`
  const versions = answer.slice(-limit)
  const version = time === null ? versions.at(-1) : asOf(versions, time)
  const next = version && versions[versions.indexOf(version) + 1]
  const hasMore = answer.length > limit
  const count = { count: versions.length, zone: zoneName(versions[0].time) }
  return html`
    <${FeatureList} features=${features} />
    <div class="shown" role="status">
      ${version
        ? html`<${Origin} key=${version.time} ...${{ stage, store, tile, version, next, checks }} />`
        : html`<p class="date">${words.place.notYet}</p>`}
    </div>
    <${Hint}>${hasMore ? words.place.last(count) : words.place.versions(count)}<//>
    <ul class="versions">
      ${[...versions].reverse().map(listed => html`<${Version}
        key=${listed.time} ...${{ stage, store, doc }} version=${listed} isShown=${listed === version} />`)}
    </ul>
    ${hasMore && html`<${Button} onClick=${() => setLimit(limit + MORE)}>${words.place.older}<//>`}
    ${version && html`<${Details} doc=${doc} version=${version} />`}`
}

/**
 * Reads versions, oldest first. Shown versions stay if a later read fails.
 * @param {() => Promise<TileDocument[]>} read @param {any[]} inputs
 * @returns {{versions?: TileDocument[], problem?: string}} neither before the first answer
 */
function useVersions (read, inputs) {
  const [answer, setAnswer] = useState(/** @type {{versions?: TileDocument[], problem?: string}} */ ({}))
  useEffect(() => {
    let isCurrent = true
    const answerWith = change => { if (isCurrent) setAnswer(change) }
    read().then(
      versions => answerWith({ versions }),
      ({ message }) => answerWith(before => before.versions?.length ? before : { problem: message })
    )
    return () => { isCurrent = false }
  }, inputs)
  return answer
}

/** The date of the version that is shown, its source, and when it was last checked. */
function Origin ({ stage, store, tile, version, next, checks }) {
  const { time, gone } = version
  const { isPlaying, doc: { layer } } = stage // requests wait for the end of the playback
  const read = () => sharePromise(checks, time, () => readOrigin(store, layer, tile, version, next))
  const { source, check } = useAnswer(async () => isPlaying ? undefined : read(), [isPlaying, checks]) ??
    { source: '', check: undefined }
  return html`
    <p class="date">${gone ? words.place.gone : written(time)}</p>
    <${Terms} rows=${[
      [words.place.source, source],
      [gone ? words.place.goneSince : words.place.unchangedSince, gone || check || next ? written(time) : ''],
      [words.place.checked, check && [written(check.time), check.title].filter(Boolean).join(' · ')],
      [words.place.until, next && written(next.time)]
    ]} />`
}

async function readOrigin (store, layer, tile, version, next) {
  const [edition, check] = await Promise.all([
    store.edition(layer, version.time).catch(() => undefined),
    store.lastCheck(layer, tile, version, next?.time).catch(() => undefined)
  ])
  const [, host] = /^https?:\/\/([^/?#]+)/.exec(version.origin?.url ?? '') ?? []
  return { source: edition?.title ?? edition?.source ?? host, check }
}

function Version ({ stage, store, doc: { layer, format = 'png' }, version, isShown }) {
  const { time, gone, current, z, x, y } = version
  const image = version._attachments?.tile
  const isPicture = image && /^image\//.test(image.content_type)
  const url = useAnswer(() => store.tileUrl(version), [version._id, version._rev])
  const note = gone ? words.place.goneFrom : !image && words.place.noImage
  return html`<li class=${gone ? 'gone' : null}>
    <button
      type="button" class=${isPicture || gone ? null : 'plain'} data-version=${time} aria-pressed=${String(isShown)}
      onClick=${() => stage.clock.setTime(time)}
    >
      ${isPicture && html`<img src=${url} alt="" width="56" height="56" loading="lazy"
        onError=${({ target }) => target.removeAttribute('src')} />`}
      ${gone && html`<span class="picture" />`}
      <span class="title">${brief(time)}${current && html`<em>${words.place.newest}</em>`}</span>
      ${note && html`<span class="note">${note}</span>`}
    </button>
    ${image && html`<a
      class="icon" href=${url} download=${`${layer}-${z}-${x}-${y}@${time.replace(/:/g, '')}.${format}`}
      aria-label=${words.place.downloadOf(written(time))} title=${words.place.download}
    ><${Icon} name="download" /></a>`}
  </li>`
}

const code = text => text && html`<code>${text}</code>`

function Details ({ doc, version }) {
  const { z, x, y, time, stored, current, _rev: revision, origin } = version
  const image = version._attachments?.tile
  const expires = expiryOf(version, doc)
  const { terms } = words.place
  return html`<${Fold} head=${words.place.details}>
    <${Terms} rows=${[
      [terms.tile, `${z}/${x}/${y}`],
      [terms.time, code(time)],
      [terms.stored, stored && written(stored)],
      [expires && expires < now() ? terms.expired : terms.expires, expires && written(expires)],
      [terms.size, image && size(image.length)],
      [terms.type, image?.content_type],
      [terms.address, code(origin?.url)],
      [terms.document, code(current ? tileId(doc.layer, z, x, y) : versionId(doc.layer, z, x, y, time))],
      [terms.revision, code(revision)]
    ]} />
  <//>`
}
