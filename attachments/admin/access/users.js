// Users of CouchDB whom this store mentions, by name or by role. Their passwords go to CouchDB only.
import { element } from '../../../client/timeline/dom.js'
import { lists, WRITER_ROLE, writersOf } from '../../../core/access.js'
import { button } from '../../dom.js'
import { texts } from '../../words/admin/index.js'
import { confirm } from '../confirm.js'
import { record } from '../record.js'
import { table } from '../table.js'
import { newUserForm, passwordForm } from './user-forms.js'

const words = texts.access.users
const PREFIX = 'org.couchdb.user:'
const PAGE = 1000 // users that are read at once
const PAGES = 10 // of them, at most

const pathOf = name => `/_users/${encodeURIComponent(PREFIX + name)}`

/**
 * @param {import('../index.js').App} app @param {(wish: import('./change.js').Wish) => Promise<boolean>} change
 * @param {AbortSignal} signal
 */
export function usersCard (app, change, signal) {
  const { couch, say } = app
  const content = element('div', { class: 'content' })
  const list = table(words.head, [
    { label: words.name, isHead: true, cell: ({ name }) => name },
    { label: words.may, cell: user => rightsOf(user).map(each => words.rights[each]).join(', ') },
    { label: words.roles, cell: ({ roles }) => roles.join(', ') },
    { label: words.change, cell: user => element('div', { class: 'row' }, actionsOf(user)) }
  ])
  /** @type {{name: string, roles: string[]}[]} */
  let all = []
  let known = ''
  let isThere = false

  function groupsOf () {
    const { security } = app
    return { admins: lists(security.admins), writers: writersOf(security).writers, readers: lists(security.members) }
  }

  /** What somebody may do by his name or a role. @returns {('admins' | 'writers' | 'readers')[]} */
  function rightsOf ({ name, roles }) {
    const groups = groupsOf()
    return /** @type {const} */ (['admins', 'writers', 'readers'])
      .filter(each => groups[each].names.includes(name) || groups[each].roles.some(role => roles.includes(role)))
  }

  const actionsOf = ({ name }) => [
    button(words.password.action, () => changePassword(name), { class: 'secondary', 'aria-label': words.password.of(name) }),
    button(words.take.action, () => take(name), { class: 'secondary danger', 'aria-label': words.take.of(name) })
  ]

  async function read () {
    if (await isEmbedded()) return void content.replaceChildren(element('p', null, words.embedded))
    try {
      const found = []
      let from = PREFIX
      for (let page = 0; page < PAGES; page++) {
        const query = { startkey: JSON.stringify(from), endkey: JSON.stringify(`${PREFIX}\uffff`), include_docs: true, limit: PAGE }
        const { rows } = await couch.ask('/_users/_all_docs', { query, signal })
        found.push(...rows.map(({ doc }) => doc).filter(doc => typeof doc?.name === 'string'))
        if (rows.length < PAGE) break
        from = `${rows[rows.length - 1].id}\u0000`
      }
      // of their documents only this: the rest is about passwords
      all = found.map(({ name, roles }) => ({ name, roles: Array.isArray(roles) ? roles.filter(each => typeof each === 'string') : [] }))
      if (!isThere) content.replaceChildren(element('p', { class: 'hint' }, words.lead), list.element, newUserForm(make))
      isThere = true
      known = ''
      draw()
    } catch (error) {
      if (signal.aborted) return
      content.replaceChildren(element('p', null, error.status === 404 ? words.embedded : texts.failed(error.message)))
    }
  }

  const isEmbedded = () => couch.isEmbedded(signal)

  function draw () {
    if (!isThere) return
    const shown = all.filter(user => rightsOf(user).length)
    const wanted = JSON.stringify([shown, groupsOf()])
    if (wanted === known) return
    known = wanted
    list.set(shown, words.none)
  }

  /** @param {{name: string, password: string, may: 'writer' | 'reader' | 'role'}} wanted @returns {Promise<boolean>} */
  async function make ({ name, password, may }) {
    try {
      const roles = may === 'role' ? [WRITER_ROLE] : []
      await couch.ask(pathOf(name), { method: 'PUT', body: { _id: PREFIX + name, type: 'user', name, roles, password } })
      say(words.made(name))
      if (may !== 'role') {
        const field = may === 'writer' ? 'writers' : 'readers'
        await change(rights => field === 'readers' && rights.public
          ? {} // he reads as everybody does
          : { [field]: { ...rights[field], names: [...new Set([...rights[field].names, name])] } })
      }
      await record(app, { what: 'access', done: 'created', name, fields: { roles: { after: roles } } })
      await read()
      return true
    } catch (error) {
      say(error.status === 409 ? words.exists(name) : texts.failed(error.message), true)
      return false
    }
  }

  async function changePassword (name) {
    const password = await passwordForm(name)
    if (password === null) return
    try {
      await couch.ask(pathOf(name), { method: 'PUT', body: { ...await couch.ask(pathOf(name)), password } })
      say(words.password.changed(name))
      await record(app, { what: 'access', done: 'changed', name, fields: { signIn: { after: words.password.action } } })
    } catch (error) {
      say(texts.failed(error.message), true)
    }
  }

  /** Takes every right from somebody that this store gives him: his name from its lists, its roles from him. */
  async function take (name) {
    const isMeant = await confirm({
      head: words.take.head(name), content: element('p', null, words.take.lead), action: words.take.action, isDanger: true
    })
    if (!isMeant) return
    try {
      const groups = Object.values(groupsOf())
      if (groups.some(({ names }) => names.includes(name))) {
        const without = group => ({ ...group, names: group.names.filter(each => each !== name) })
        const isDone = await change(({ public: isPublic, readers, writers, ownWriters, admins }) => ({
          ...(!isPublic && { readers: without(readers) }),
          ...(ownWriters && { writers: without(writers) }),
          admins: without(admins)
        }))
        if (!isDone) return
      }
      const doc = await couch.ask(pathOf(name))
      const roles = doc.roles.filter(role => !groups.some(group => group.roles.includes(role)))
      if (roles.length < doc.roles.length) {
        await couch.ask(pathOf(name), { method: 'PUT', body: { ...doc, roles } })
        await record(app, { what: 'access', done: 'changed', name, fields: { roles: { before: doc.roles, after: roles } } })
      }
      say(words.take.done(name))
      await read()
    } catch (error) {
      say(texts.failed(error.message), true)
    }
  }

  return { element: element('section', { class: 'card users' }, element('h3', null, words.head), content), read, set: draw }
}
