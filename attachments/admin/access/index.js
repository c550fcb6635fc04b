// The section "Access": who may read and write, what an anonymous visitor sees, tokens for private layers, and the link
// to the activity.
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
  /** Aborts the last look as a stranger, whose answer would be outdated. */
  const outdateLook = useRef(() => {})
  /** The last change, which may be running. */
  const turn = useRef(Promise.resolve(true))
  const [security, setSecurity] = useState(/** @type {any} */ (undefined))
  const [validation, setValidation] = useState(/** @type {string | undefined} */ (undefined))
  const [seen, setSeen] = useState(/** @type {any} */ (undefined))
  const [problem, setProblem] = useState('')
  /** The recorded changes at the last read; null before the first read. */
  const [readNotes, setReadNotes] = useState(/** @type {string | undefined | null} */ (null))
  const notes = accessNotes(docs)
  const layers = docs.all('layer').map(({ layer }) => layer)

  const look = async () => {
    outdateLook.current()
    const outdated = new AbortController()
    outdateLook.current = () => outdated.abort()
    const strangersView = await askAsStranger(couch, layers, outdated.signal)
    if (!outdated.signal.aborted) setSeen(strangersView)
  }

  const showSecurity = newSecurity => {
    app.security = newSecurity
    setSecurity(newSecurity)
  }

  /**
   * Reads the rights. They are in no feed, so they are read when a change of them was recorded. If this page changed
   * them during the read, they are read again.
   */
  async function read (signal) {
    try {
      let answers
      let lastChange
      do {
        lastChange = turn.current
        await lastChange
        answers = await Promise.all([readValidation(couch, signal), couch.ask('_security', { signal })])
      } while (lastChange !== turn.current)
      if (signal.aborted) return
      setValidation(answers[0])
      showSecurity(answers[1])
      setProblem('')
      await look()
    } catch (error) {
      if (!signal.aborted) setProblem(texts.failed(error.message))
    } finally {
      if (!signal.aborted) setReadNotes(notes)
    }
  }

  useEffect(() => () => outdateLook.current(), [])
  useEffect(() => {
    const outdated = new AbortController()
    read(outdated.signal)
    return () => outdated.abort()
  }, [notes])
  useEffect(() => { if (readNotes !== null) look() }, [layers.join()])

  /** Changes the rights, one change after the other. */
  function change (wish) {
    turn.current = turn.current.then(async () => {
      const isDone = await changeRights(app, wish, showSecurity)
      if (isDone) await look()
      return isDone
    })
    return turn.current
  }

  const isRead = notes !== undefined && readNotes === notes
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

/**
 * The ids of all recorded changes of access; undefined until they are read. The newest one is not enough: its writer
 * may have a slow clock.
 * @returns {string | undefined}
 */
function accessNotes (docs) {
  if (!docs.known.has('activity')) return undefined
  return docs.all('activity').filter(({ what }) => what === 'access').map(({ _id }) => _id).sort().join()
}

/** Which function validates writes. Without one, everybody who may read may write. */
async function readValidation (couch, signal) {
  const validators = (await couch.designs(signal)).filter(doc => typeof doc.validate_doc_update === 'string')
  if (validators.some(({ _id }) => _id === '_design/tiles')) return 'ours'
  return validators.length ? 'another' : 'none'
}
