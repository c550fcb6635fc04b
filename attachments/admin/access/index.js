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
  /** Ends the last look of a stranger: its answer would be older than what is known by now. */
  const outdateLook = useRef(() => {})
  /** The last change, or the one that is under way. */
  const turn = useRef(Promise.resolve(true))
  const [security, setSecurity] = useState(/** @type {any} */ (undefined))
  const [validation, setValidation] = useState(/** @type {string | undefined} */ (undefined))
  const [seen, setSeen] = useState(/** @type {any} */ (undefined))
  const [problem, setProblem] = useState('')
  /** The notes as of which all was read; null before the first time. */
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
   * The rights themselves are in no feed: they are read when somebody has noted a change of them. What was read while
   * this page changed them may be of the time before, and is read again.
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

  /** One change after the other. */
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
 * Which changes of access have been noted; undefined while notes are not known. The newest one does not say it: who
 * noted a change may have a slow clock.
 * @returns {string | undefined}
 */
function accessNotes (docs) {
  if (!docs.known.has('activity')) return undefined
  return docs.all('activity').filter(({ what }) => what === 'access').map(({ _id }) => _id).sort().join()
}

/** The function that judges writes: without one everybody who may read may write. */
async function readValidation (couch, signal) {
  const judges = (await couch.designs(signal)).filter(doc => typeof doc.validate_doc_update === 'string')
  if (judges.some(({ _id }) => _id === '_design/tiles')) return 'ours'
  return judges.length ? 'another' : 'none'
}
