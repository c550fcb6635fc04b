// The table of mirrors of this store on other machines. A mirror writes no document of work here, but a checkpoint, as
// CouchDB's replicator does. No change feed contains checkpoints, so the page reads them every few seconds.
import { scrub } from '../../../core/errors.js'
import { PREFIX } from '../../../core/mirror/checkpoint.js'
import { time } from '../../format.js'
import { html, useEffect, useInterval, useRef, useState } from '../../html.js'
import { useApp } from '../app.js'
import { Hint } from '../../parts.js'
import { Card, Table } from '../parts.js'
import { texts } from '../words.js'

const words = texts.work.copies
const { columns, parts } = words
const FIRST = `_local/${PREFIX}`
const MOST = 1000 // checkpoints
const LOOK = 5000 // milliseconds between two looks
const CANNOT = [400, 401, 403, 404, 405] // answers of a store that does not show its checkpoints to this user

/** @typedef {{id: string, other: string, pending?: number, success?: string, selection?: any}} Copy */

export function Copies () {
  const { couch } = useApp()
  const [copies, setCopies] = useState(/** @type {Copy[]} */ ([]))
  const stop = useRef(new AbortController()).current
  const look = () => readCopies(couch, stop.signal).then(setCopies, () => {})
  useEffect(() => {
    look()
    return () => stop.abort()
  }, [])
  useInterval(look, LOOK)
  return copies.length > 0 && html`<${Card} name="copies" head=${words.head}>
    <${Hint}>${words.lead}<//>
    <${Table} title=${words.head} rows=${copies} keyOf=${({ id }) => id} columns=${[
      { label: columns.other, isHead: true, cell: ({ other }) => other },
      { label: columns.part, cell: ({ selection }) => partOf(selection) },
      { label: columns.pending, cell: ({ pending }) => stateOf(pending) },
      { label: columns.success, cell: ({ success }) => success ? time(success) : words.unknown }
    ]} />
  <//>`
}

/** @param {import('../couch.js').Couch} couch @returns {Promise<Copy[]>} */
async function readCopies (couch, signal) {
  const query = { startkey: FIRST, endkey: `${FIRST}~`, include_docs: true, limit: MOST }
  const [info, rows] = await Promise.all([
    couch.ask('', { signal }),
    couch.rows('_local_docs', query, { signal }).catch(error => {
      if (CANNOT.includes(error.status)) return []
      throw error
    })
  ])
  const position = Number.parseInt(info.update_seq, 10) || 0
  const likenessOf = likenessTo(couch.db, info.db_name)
  return rows.map(({ doc }) => doc)
    .filter(doc => isCheckpoint(doc) && likenessOf(doc.from) >= likenessOf(doc.to))
    .map(doc => copyOf(doc, position))
    .sort((a, b) => a.other < b.other ? -1 : 1)
}

/** Whether a document is a checkpoint. Every reader of the store may write anything there. */
const isCheckpoint = doc =>
  typeof doc?.from === 'string' && typeof doc.to === 'string' && Boolean(doc.session_id || doc.noted)

/** @param {any} checkpoint @param {number} position the number of the newest change @returns {Copy} */
function copyOf (checkpoint, position) {
  const { _id: id, to, selection, source_last_seq: read, noted, up_to_date: upToDate, history } = checkpoint
  const seen = noted ?? history?.[0]?.end_time
  const sequence = Number.parseInt(read, 10)
  const pending = Number.isFinite(sequence) ? Math.max(0, position - sequence) : undefined
  return { id, other: scrub(to), selection, pending, success: pending === 0 ? seen : upToDate }
}

function stateOf (pending) {
  if (pending === undefined) return words.unknown
  return pending === 0 ? words.upToDate : words.pending(pending)
}

function partOf (selection) {
  const { layers, bbox, zooms, current, since } = selection ?? {}
  const facts = [
    layers?.length && layers.join(', '),
    bbox && bbox.join(', '),
    zooms && `z${zooms.min}–${zooms.max}`,
    current && parts.current,
    since && parts.since(since)
  ]
  return facts.filter(Boolean).join(' · ') || parts.all
}

/**
 * How likely an address is that of this store: 0 another one, 1 the same name, 2 the same place.
 * @param {string} db address of the store @param {string} name of the database
 */
function likenessTo (db, name) {
  const placeOf = address => {
    if (!URL.canParse(address)) return { host: '', path: address.replace(/\/$/, '') }
    const { hostname, port, pathname } = new URL(address)
    const isLoopback = /^(localhost|127\..*|\[::1\])$/.test(hostname)
    return { host: `${isLoopback ? 'localhost' : hostname}:${port}`, path: pathname.replace(/\/$/, '') }
  }
  const storePlace = placeOf(db)
  return address => {
    if (address === 'embedded') return 1
    const place = placeOf(address)
    if (storePlace.host === place.host && storePlace.path === place.path) return 2
    return place.path.slice(place.path.lastIndexOf('/') + 1) === encodeURIComponent(name) ? 1 : 0
  }
}
