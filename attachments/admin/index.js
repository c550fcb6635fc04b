// The control room: a page that administers a store. Its only backend is CouchDB: who has signed in there sees what
// CouchDB lets him see, and every write is judged by the validation function of the store.
import { element, write } from '../../client/timeline/dom.js'
import { userOf } from '../../core/access.js'
import { settingsOf } from '../../core/settings.js'
import { button } from '../dom.js'
import { nameOf, showOperator } from '../operator.js'
import { noteSignedIn } from '../signed-in.js'
import { texts } from './words.js'
import { Couch } from './couch.js'
import { Documents } from './documents.js'
import { sections } from './sections.js'
import { signInForm } from './sign-in.js'

const MESSAGE = 8000 // milliseconds that a message stays
const LOOK = 60000 // milliseconds between two looks whether the session is still there

const byId = id => /** @type {HTMLElement} */ (document.getElementById(id))
const [live, account, nav, content, messages] = ['live', 'account', 'sections', 'content', 'messages'].map(byId)

document.title = texts.title

const couch = new Couch()

/**
 * What a section is given.
 * @typedef {object} App
 * @property {Couch} couch
 * @property {Documents} docs
 * @property {import('../../core/access.js').User} user
 * @property {any} security of the database, as it was read
 * @property {() => Promise<any>} readSecurity reads it again
 * @property {(place: string) => void} go to a section: 'layers', 'layers/osm'
 * @property {(text: string, isProblem?: boolean) => void} say tells it in a corner of the page
 *
 * @typedef {object} Opened a section that is shown
 * @property {HTMLElement} element
 * @property {(kinds: Set<string>) => void} [update] documents of these kinds have changed
 * @property {(place: string) => void} [show] another place within the section: 'osm' of 'layers/osm'
 * @property {() => void} [close]
 *
 * @typedef {object} Section
 * @property {string} name in the address
 * @property {'admin' | 'writer'} needs
 * @property {(app: App, place: string) => Opened} open
 */

/** @type {App | null} */
let app = null
/** @type {{name: string, opened: Opened} | null} */
let shown = null

function say (text, isProblem = false) {
  const node = element('p', { class: isProblem ? 'problem' : 'done' }, text)
  messages.append(node)
  setTimeout(() => node.remove(), MESSAGE)
}

/** Signs in, unless a session is there, and opens the section that the address names. */
async function start () {
  try {
    const session = await couch.session()
    const isClosed = error => error.status === 401 || error.status === 403
    const security = await couch.ask('_security').catch(error => {
      if (isClosed(error)) return null
      throw error
    })
    const user = userOf(session, security)
    if (!user.isWriter) return askForName(user.name)
    await open(user, security)
  } catch (error) {
    content.replaceChildren(element('p', { class: 'problem' }, texts.failed(error.message)), button(texts.again, start, { class: 'secondary' }))
  }
}

/** @param {string | null} name of somebody who has signed in, but may not write here */
function askForName (name) {
  close()
  const why = name ? texts.signIn.notAllowed(name) : ''
  content.replaceChildren(signInForm(couch, { name, why }, start))
  showAccount(name)
}

async function open (user, security) {
  close()
  noteSignedIn(true)
  const docs = new Documents(couch)
  app = { couch, docs, user, security, say, readSecurity, go: place => { location.hash = place } }
  couch.onSignedOut = signedOut
  docs.onChange(update)
  docs.follow(error => write(live, { text: error ? texts.away(error.message) : texts.live, class: error ? 'away' : 'live' }))
  showAccount(user.name)
  const own = sections.filter(({ needs }) => needs === 'writer' || user.isAdmin)
  nav.hidden = false
  nav.replaceChildren(...own.map(({ name }) => element('a', { href: `#${name}` }, texts.sections[name])))
  showPlace()
}

function close () {
  couch.onSignedOut = () => {}
  app?.docs.stop()
  shown?.opened.close?.()
  app = shown = null
  nav.hidden = true
  nav.replaceChildren()
}

/** The session has ended: what is on the page stays, under a form. */
function signedOut () {
  if (!app || document.querySelector('dialog.again')) return
  const { name } = app.user
  const dialog = element('dialog', { class: 'again', 'aria-label': texts.signIn.head })
  dialog.append(signInForm(couch, { name, why: texts.signIn.ended }, async () => {
    dialog.remove()
    if ((await couch.session()).name !== name) start() // another user has other rights
  }))
  document.body.append(dialog)
  dialog.showModal()
}

async function readSecurity () {
  const security = await couch.ask('_security')
  if (app) app.security = security
  return security
}

function showAccount (name) {
  account.replaceChildren(element('a', { href: './' }, texts.map), ...name
    ? [element('span', { class: 'name' }, name), button(texts.signIn.out, leave, { class: 'secondary' })]
    : [])
}

async function leave () {
  try {
    await couch.signOut()
  } catch (error) {
    return say(texts.failed(error.message), true)
  }
  noteSignedIn(false)
  askForName(null)
}

/** @param {Set<string>} kinds */
function update (kinds) {
  if (kinds.has('store')) readOperator()
  shown?.opened.update?.(kinds)
}

function readOperator () {
  const [doc] = app?.docs.all('store') ?? []
  const settings = settingsOf(doc)
  showOperator(settings, settings.logo ?? (doc?._attachments?.logo && `${couch.db}/${doc._id}/logo`))
  document.title = `${texts.title} · ${nameOf(settings)}`
}

function showPlace () {
  if (!app) return
  const [name, ...rest] = decodeURIComponent(location.hash.slice(1)).split('/')
  const { user } = app
  const own = sections.filter(({ needs }) => needs === 'writer' || user.isAdmin)
  const section = own.find(each => each.name === name) ?? own[0]
  const place = section.name === name ? rest.join('/') : ''
  for (const link of nav.children) write(link, { 'aria-current': link.getAttribute('href') === `#${section.name}` ? 'page' : null })
  nav.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  if (shown?.name === section.name && shown.opened.show) return shown.opened.show(place)
  shown?.opened.close?.()
  shown = { name: section.name, opened: section.open(app, place) }
  content.replaceChildren(shown.opened.element)
  scrollTo(0, 0)
}

/** A public store is read without a session, too: nothing else would tell that it has ended. */
async function lookAfterSession () {
  if (!app || document.hidden) return
  const { name } = await couch.session().catch(() => ({ name: undefined }))
  if (name === null && app?.user.name) signedOut()
}

setInterval(lookAfterSession, LOOK)
addEventListener('hashchange', showPlace)
start()
