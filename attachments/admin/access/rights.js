// Who may read and write: in sentences, with what is wrong, and lists to change.
import { element } from '../../../client/timeline/dom.js'
import { isUntouched, WRITER_ROLE } from '../../../core/access.js'
import { button } from '../../dom.js'
import { say } from '../../words.js'
import { texts } from '../words.js'
import { command, shellLine } from '../command.js'
import { confirm } from '../confirm.js'
import { groupOf, idle } from './group.js'

const words = texts.access

/**
 * @param {import('../index.js').App} app @param {(wish: import('./change.js').Wish) => Promise<boolean>} change
 * @returns {{element: HTMLElement, set: (data: any) => void}}
 */
export function rightsCard (app, change) {
  const state = element('div', { class: 'sentences' })
  const turn = element('div', { class: 'row' })
  const readers = groupOf('readers', changeGroup('readers'))
  const writers = groupOf('writers', changeGroup('writers'))
  const admins = groupOf('admins', changeGroup('admins'), removeAdmin)
  let known = ''

  /** Adds to a list, or removes from it, whatever else is in it by now. */
  function changeGroup (field) {
    return (kind, name, isAdded) => change(rights => {
      const rest = rights[field][kind].filter(each => each !== name)
      return { [field]: { ...rights[field], [kind]: isAdded ? [...rest, name] : rest } }
    })
  }

  async function removeAdmin (kind, name) {
    const { user } = app
    const isSelf = !user.isServerAdmin && (kind === 'names' ? user.name === name : user.roles.includes(name))
    return confirm({
      head: words.removeAdmin.head(name),
      content: element('p', { class: isSelf && 'problem' }, isSelf ? words.removeAdmin.self : words.removeAdmin.lead),
      action: words.removeAdmin.action,
      isDanger: true
    })
  }

  async function open () {
    const yes = await confirm({ head: words.open.head, content: element('p', null, words.open.lead), action: words.open.action })
    if (yes) change(() => ({ public: true }))
  }

  async function close () {
    const yes = await confirm({ head: words.close.head, content: element('p', null, words.close.lead), action: words.close.action })
    // who may write goes on reading
    if (yes) change(rights => ({ public: false, readers: rights.ownWriters ? {} : rights.writers }))
  }

  return {
    element: element('section', { class: 'card' },
      element('h3', null, words.rights.head), state, turn, readers.element, writers.element, admins.element,
      element('p', { class: 'hint' }, words.rights.command), command(shellLine('access'), words.rights.copy)),
    set (data) {
      const { public: isPublic, ownWriters, faults, validation, security } = data
      const wanted = JSON.stringify(data)
      if (wanted === known) return
      known = wanted
      const nobody = !data.writers.names.length && !data.writers.roles.length
      state.replaceChildren(
        element('p', null, words.reading[isPublic ? 'public' : isUntouched(security) ? 'untouched' : 'closed']),
        element('p', null, say(words.writing[ownWriters ? nobody ? 'admins' : 'own' : 'role'], WRITER_ROLE)),
        ...faults.map(({ code, kind, name }) => element('p', { class: 'problem' }, say(words.faults[code], { kind: words.kinds[kind], name }))))
      turn.replaceChildren(
        isPublic || validation !== 'none'
          ? button(isPublic ? words.close.action : words.open.action, isPublic ? close : open, { class: 'secondary' })
          : element('p', { class: 'hint' }, words.open.refused))
      const isWriter = (kind, name) => data.writers[kind].includes(name) && ownWriters
      readers.set(isPublic ? null : data.readers, (kind, name) => isWriter(kind, name) ? words.groups.alsoWriter : '')
      writers.set(data.writers)
      admins.set({ ...data.admins, roles: data.admins.roles.filter(role => role !== '_admin') })
      idle()
    }
  }
}
