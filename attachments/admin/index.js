// The control room: a page that administers a store. Its only backend is CouchDB: CouchDB decides what a user may read,
// and the validation function of the store checks every write.
import { userOf } from '../../core/access.js'
import { layerId } from '../../core/ids.js'
import { decodedText } from '../../core/values.js'
import { html, render, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from '../html.js'
import { showStore } from '../operator.js'
import { Access } from './access/index.js'
import { Activity } from './activity/index.js'
import { AppContext } from './app.js'
import { Couch } from './couch.js'
import { Dialog } from '../dialog.js'
import { Documents } from './documents.js'
import { Editions } from './editions/index.js'
import { unsavedOf } from './layers/form.js'
import { Layers } from './layers/index.js'
import { Overview } from './overview/index.js'
import { Button } from '../parts.js'
import { SignIn } from './sign-in.js'
import { texts } from './words.js'
import { Work } from './work/index.js'
import { noteSignedIn } from '../kept-text.js'

const MESSAGE = 8000 // milliseconds that a message stays
const LOOK = 60000 // milliseconds between two checks of the session

/** The pages by their name in the address. section: that its link opens; needs: who may see it */
const pages = {
  overview: { component: Overview, section: 'overview', needs: 'admin' },
  layers: { component: Layers, section: 'layers', needs: 'writer' },
  editions: { component: Editions, section: 'layers', needs: 'writer' },
  work: { component: Work, section: 'work', needs: 'writer' },
  access: { component: Access, section: 'access', needs: 'admin' },
  activity: { component: Activity, section: 'access', needs: 'admin' }
}

const couch = new Couch()

const isClosed = error => error.status === 401 || error.status === 403

/** The signed-in user, and the rights of the store. */
async function readUser () {
  const session = await couch.session()
  const security = await couch.ask('_security').catch(error => {
    if (isClosed(error)) return null
    throw error
  })
  return { user: userOf(session, security), security }
}

/** The name of a page and the place in it: `layers/osm`. A part that cannot be decoded stays encoded. */
function placeIn (hash) {
  const [name, ...place] = hash.slice(1).split('/').map(decodedText)
  return { name, place: place.join('/') }
}

function usePlace () {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const read = () => setHash(location.hash)
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return placeIn(hash)
}

/** Messages in a corner of the page. @returns {[any[], (text: string, isProblem?: boolean) => void]} */
function useMessages () {
  const [messages, change] = useReducer((shown, { add, remove }) =>
    add ? [...shown, add] : shown.filter(message => message !== remove), /** @type {any[]} */ ([]))
  const say = (text, isProblem = false) => {
    const message = { key: crypto.randomUUID?.() ?? `${performance.now()}`, text, isProblem }
    change({ add: message })
    setTimeout(() => change({ remove: message }), MESSAGE)
  }
  return [messages, useRef(say).current]
}

function Page () {
  const [state, setState] = useState(/** @type {any} */ ({ kind: 'starting' }))
  const [messages, say] = useMessages()

  async function start () {
    try {
      const { user, security } = await readUser()
      if (user.isWriter) setState({ kind: 'open', user, security })
      else setState({ kind: 'closed', name: user.name, why: user.name ? texts.signIn.notAllowed(user.name) : '' })
    } catch (error) {
      setState({ kind: 'failed', why: error.message })
    }
  }

  async function leave () {
    try {
      await couch.signOut()
    } catch (error) {
      return say(texts.failed(error.message), true)
    }
    noteSignedIn(false)
    setState({ kind: 'closed', name: null, why: '' })
  }

  useEffect(() => { start() }, [])
  const name = state.kind === 'open' ? state.user.name : state.name
  return html`
    ${state.kind === 'open' && html`<${Room} key=${name} ...${state} ...${{ start, leave, say }} />`}
    ${state.kind === 'closed' && html`
      <${Header} name=${name} leave=${leave} />
      <main id="content" tabindex="-1">
        <${SignIn} key=${name} couch=${couch} name=${name ?? ''} why=${state.why} onDone=${start} />
      </main>`}
    ${state.kind === 'failed' && html`
      <${Header} />
      <main id="content" tabindex="-1">
        <p class="problem">${texts.failed(state.why)}</p>
        <${Button} onClick=${start}>${texts.again}<//>
      </main>`}
    <div id="messages" role="status">
      ${messages.map(({ key, text, isProblem }) =>
        html`<p key=${key} class=${isProblem ? 'problem' : 'done'}>${text}</p>`)}
    </div>`
}

/** The logo and the title are those of the page itself: the operator of the store may have others (operator.js). */
function Header ({ name = null, leave = () => {}, live = '', isAway = false }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => { place.current?.prepend(...brand) }, [])
  return html`<header ref=${place}>
    <p id="live" role="status" class=${live && (isAway ? 'away' : 'live')}>${live}</p>
    <div id="account">
      <a href="./">${texts.map}</a>
      ${name && html`<span class="name">${name}</span><${Button} onClick=${leave}>${texts.signIn.out}<//>`}
    </div>
  </header>`
}

/**
 * Whether to ask for the password again. A refusal counts only if its request began after the last question ended:
 * several requests are under way when a session ends.
 */
function useSignedOut () {
  const [isSignedOut, setSignedOut] = useState(false)
  const ended = useRef(0)
  return {
    isSignedOut,
    askAgain: began => { if (began > ended.current) setSignedOut(true) },
    endQuestion: () => {
      ended.current = performance.now()
      setSignedOut(false)
    }
  }
}

/** The page of a user who may write to the store. */
function Room ({ user, security, start, leave, say }) {
  const docs = useMemo(() => new Documents(couch), [])
  const [away, setAway] = useState(/** @type {string | null | undefined} */ (undefined))
  const { isSignedOut, askAgain, endQuestion } = useSignedOut()
  const app = useMemo(
    () => ({ couch, docs, user, security, say, go: place => { location.hash = place } }),
    []
  )

  useEffect(() => {
    noteSignedIn(true)
    couch.onSignedOut = askAgain
    docs.on('store', () => showStore(docs.all('store')[0], couch.db, texts.title))
    docs.follow(error => setAway(error ? error.message : null))
    return () => {
      couch.onSignedOut = () => {}
      docs.stop()
    }
  }, [])

  useEffect(() => {
    const warn = event => {
      const layers = [...unsavedOf(docs).keys()]
      if (layers.some(layer => docs.get(layerId(layer)))) event.preventDefault() // not for a layer that was removed
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])

  useEffect(() => {
    // a public store can be read without a session: only this request tells that the session has ended
    const timer = setInterval(async () => {
      if (document.hidden || !user.name) return
      const began = performance.now()
      const { name } = await couch.session().catch(() => ({ name: undefined }))
      if (name === null) askAgain(began)
    }, LOOK)
    return () => clearInterval(timer)
  }, [])

  async function signedIn () {
    endQuestion()
    if ((await couch.session()).name !== user.name) start() // another user has other rights
  }

  const liveText = away === null ? texts.live : texts.away(away)
  const live = away === undefined ? '' : liveText
  return html`<${AppContext.Provider} value=${app}>
    <${Header} name=${user.name} leave=${leave} live=${live} isAway=${Boolean(away)} />
    <${Sections} user=${user} />
    ${isSignedOut && html`<${Dialog} class="again" label=${texts.signIn.head} onCancel=${endQuestion}>
      <${SignIn} couch=${couch} name=${user.name ?? ''} why=${texts.signIn.ended} onDone=${signedIn} />
    <//>`}
  <//>`
}

/** The links to the sections, and the page that the address names. */
function Sections ({ user }) {
  const { name, place } = usePlace()
  const nav = useRef(/** @type {HTMLElement | null} */ (null))
  const names = Object.keys(pages).filter(key => pages[key].needs === 'writer' || user.isAdmin)
  const shown = names.includes(name) ? name : names[0]
  const { component, section } = pages[shown]
  useLayoutEffect(() => {
    scrollTo(0, 0)
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [shown])
  const sections = names.filter(key => pages[key].section === key)
  return html`
    <nav id="sections" ref=${nav}>
      ${sections.map(key => html`<a href="#${key}" aria-current=${key === section ? 'page' : null}>
        ${texts.sections[key]}
      </a>`)}
    </nav>
    <main id="content" tabindex="-1"><${component} place=${name === shown ? place : ''} /></main>`
}

document.title = texts.title
const brand = ['#logo', 'h1'].map(part => /** @type {HTMLElement} */ (document.querySelector(part)))
document.body.replaceChildren()
render(html`<${Page} />`, document.body)
