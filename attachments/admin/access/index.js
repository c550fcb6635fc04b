// The section "Access": who may read and write, what a stranger sees, tokens for private layers, and the link to the
// activity.
import { faultsOf, rightsOf } from '../../../core/access.js'
import { html, useEffect, useRef, useState } from '../../html.js'
import { useApp, useDocs } from '../app.js'
import { texts } from '../words.js'
import { Rights, changeRights } from './rights.js'
import { Stranger, askAsStranger } from './stranger.js'
import { Tokens } from './tokens.js'

export function Access () {
  const app = useApp()
  const { couch } = app
  const docs = useDocs('layer', 'activity')
  const stop = useRef(new AbortController()).current
  const waiting = useRef(0) // changes that are under way
  const turn = useRef(Promise.resolve(true))
  const [security, setSecurity] = useState(/** @type {any} */ (undefined))
  const [validation, setValidation] = useState(/** @type {string | undefined} */ (undefined))
  const [seen, setSeen] = useState(/** @type {any} */ (undefined))
  const [problem, setProblem] = useState('')
  /** The note as of which all was read; null before the first time. */
  const [readNote, setReadNote] = useState(/** @type {string | undefined | null} */ (null))
  const note = newestNote(docs)
  const layers = docs.all('layer').map(({ layer }) => layer)

  const look = async (signal = stop.signal) => {
    const strangersView = await askAsStranger(couch, layers, signal)
    if (!signal.aborted) setSeen(strangersView)
  }

  /** The rights themselves are in no feed: they are read when somebody has noted a change of them. */
  async function read (signal) {
    try {
      const [newValidation] = await Promise.all([readValidation(couch, signal), app.readSecurity()])
      if (signal.aborted || waiting.current) return
      setValidation(newValidation)
      setSecurity(app.security)
      setProblem('')
      await look(signal)
    } catch (error) {
      if (!signal.aborted) setProblem(texts.failed(error.message))
    } finally {
      if (!signal.aborted) setReadNote(note)
    }
  }

  useEffect(() => () => stop.abort(), [])
  useEffect(() => {
    const outdated = new AbortController()
    read(outdated.signal)
    return () => outdated.abort()
  }, [note])
  useEffect(() => { if (readNote !== null) look() }, [layers.join()])

  /** One change after the other. */
  function change (wish) {
    waiting.current++
    turn.current = turn.current.then(async () => {
      const isDone = await changeRights(app, app.security, wish, () => setSecurity(app.security))
      waiting.current--
      if (isDone) await look()
      return isDone
    })
    return turn.current
  }

  const isRead = note !== undefined && readNote === note
  const facts = validation && { ...rightsOf(security), validation, party: seen?.isAdmin ?? false }
  const faults = facts ? faultsOf(facts) : []
  return html`<div class="access" aria-busy=${isRead ? null : 'true'}>
    <div class="head"><h2>${texts.sections.access}</h2><a href="#activity">${texts.sections.activity}</a></div>
    <p class="problem" role="alert">${problem}</p>
    ${facts && html`<${Rights} ...${{ security, facts, faults, change }} />`}
    <${Stranger} ...${{ seen, faults, again: () => look() }} />
    <${Tokens} />
  </div>`
}

/** The newest note of a change of access; undefined while notes are not known. @returns {string | undefined} */
function newestNote (docs) {
  if (!docs.known.has('activity')) return undefined
  const notes = docs.all('activity').filter(({ what }) => what === 'access')
  return notes.reduce((last, { _id }) => _id > last ? _id : last, '')
}

/** The function that judges writes: without one everybody who may read may write. */
async function readValidation (couch, signal) {
  const judges = (await couch.designs(signal)).filter(doc => typeof doc.validate_doc_update === 'string')
  if (judges.some(({ _id }) => _id === '_design/tiles')) return 'ours'
  return judges.length ? 'another' : 'none'
}
