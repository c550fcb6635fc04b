// Shows what an anonymous visitor can read. Requests are sent without the session of this browser. Nothing is written.
import { html } from '../../html.js'
import { ask } from '../../requests.js'
import { Button, Hint } from '../../parts.js'
import { State } from '../parts.js'
import { texts } from '../words.js'

const words = texts.access.stranger
const MOST = 1000 // layers
const NAMED = 20 // layers named at once

/**
 * @typedef {'reads' | 'nothing' | 'unknown'} Outcome
 * @typedef {{isAdmin: boolean, database: Outcome, documents: Outcome, designs: Outcome,
 *   map: Outcome, layers: string[] | null, all: number}} Seen layers: null where none can be listed; all: number
 *   of layers
 */

/**
 * @param {import('../couch.js').Couch} couch @param {string[]} knownLayers @param {AbortSignal} signal
 * @returns {Promise<Seen>}
 */
export async function askAsStranger (couch, knownLayers, signal) {
  const { db } = couch
  const listing = `${db}/_all_docs?startkey=%22layer%3A%22&endkey=%22layer%3B%22&limit=${MOST}`
  const [session, database, documents, designs, listed] = await Promise.all([
    look(`${couch.server}_session`, signal), look(db, signal), look(`${db}/_all_docs?limit=1`, signal),
    look(`${db}/_design/tiles`, signal), look(listing, signal)
  ])
  const rows = listed.outcome === 'reads' && Array.isArray(listed.answer?.rows) ? listed.answer.rows : null
  const layers = rows && rows.map(({ id }) => String(id).slice('layer:'.length))
  const layer = layers?.[0] ?? knownLayers[0]
  const map = layer === undefined
    ? { outcome: /** @type {Outcome} */ ('unknown') }
    : await look(`${db}/_design/tiles/_rewrite/${encodeURIComponent(layer)}.json`, signal)
  return {
    isAdmin: Boolean(session.answer?.userCtx?.roles?.includes?.('_admin')),
    database: database.outcome,
    documents: documents.outcome,
    designs: designs.outcome,
    map: map.outcome,
    layers,
    all: Math.max(knownLayers.length, layers?.length ?? 0)
  }
}

/** @returns {Promise<{outcome: Outcome, answer?: any}>} */
async function look (url, signal) {
  try {
    return { outcome: 'reads', answer: await ask(url, { credentials: 'omit', cache: 'no-store', signal }) }
  } catch ({ status }) {
    if (status === 200) return { outcome: 'reads' } // an answer that is not JSON
    return { outcome: status === 401 || status === 403 ? 'nothing' : 'unknown' }
  }
}

/** seen: undefined before the first look; again: looks again */
export function Stranger ({ seen, faults, again }) {
  const mayWrite = faults.some(({ code }) => /^EVERYBODY_/.test(code))
  return html`<section class="card stranger">
    <div class="head"><h3>${words.head}</h3><${Button} onClick=${again}>${words.again}<//></div>
    <${Hint}>${words.lead}<//>
    ${seen && html`
      <dl class="seen">
        <${Line} name=${words.database}><${OutcomeState} outcome=${seen.database} /><//>
        <${Line} name=${words.layers}><${LayersState} ...${seen} /><//>
        <${Line} name=${words.map}><${OutcomeState} outcome=${seen.map} /><//>
        <${Line} name=${words.documents}><${OutcomeState} outcome=${seen.documents} /><//>
        <${Line} name=${words.designs}><${OutcomeState} outcome=${seen.designs} /><//>
        <${Line} name=${words.writes}>
          <${State} kind=${mayWrite ? 'bad' : 'good'}>${mayWrite ? words.mayWrite : words.mayNot}<//>
        <//>
      </dl>
      <${Hint}>${words.gateway}<//>`}
  </section>`
}

const Line = ({ name, children }) => html`<div><dt>${name}</dt><dd>${children}</dd></div>`

const OutcomeState = ({ outcome }) => html`<${State}>${words.outcomes[outcome]}<//>`

function LayersState ({ layers, all }) {
  if (!layers) return html`<${OutcomeState} outcome="nothing" />`
  const names = layers.slice(0, NAMED).join(', ')
  return html`
    ${words.some({ number: layers.length, all })}
    ${names && html`<small>${layers.length > NAMED ? `${names} …` : names}</small>`}`
}
