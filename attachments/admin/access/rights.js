// Shows who may read and write, in sentences and with faults, and lists to change the rights.
import { isUntouched, rightsOf, withRights, WRITER_ROLE } from '../../../core/access.js'
import { isSameJson } from '../../../core/values.js'
import { focusAfterAnswer } from '../../dom.js'
import { html, useEffect, useRef, useState, useSubmit } from '../../html.js'
import { say } from '../../words.js'
import { useApp, useShellLine } from '../app.js'
import { Copyable } from '../../copy.js'
import { Button, Field, Hint, IconButton, plainInput } from '../../parts.js'
import { Card, confirm } from '../parts.js'
import { texts } from '../words.js'
import { fieldsBetween, record } from '../edit.js'

const words = texts.access
const SHOWN = 100 // entries of a list at once
const KINDS = [['names', words.groups.user], ['roles', words.groups.role]]

/**
 * Changes the rights of the store. `_security` has no revisions: it is read again just before it is written, and only
 * our part of it changes. If another user has changed it since it was shown, the page asks first.
 * @typedef {(rights: import('../../../core/access.js').Rights) =>
 *   import('../../../core/access.js').Wanted} Wish makes the new rights from the present ones
 * @param {import('../app.js').App} app @param {Wish} wish @param {(security: any) => void} show
 * @returns {Promise<boolean>} whether it was done
 */
export async function changeRights (app, wish, show) {
  const read = () => app.couch.ask('_security')
  try {
    const before = await read()
    if (!isSameJson(before, app.security)) {
      show(before)
      const { head, lead: text, action } = words.clash
      if (!await confirm({ head, text, action })) return false
    }
    // the question may have been open for long
    const newest = await read()
    const next = withRights(newest, wish(rightsOf(newest)))
    if (isSameJson(newest, next)) return true
    await app.couch.ask('_security', { method: 'PUT', body: next })
    show(await read())
    const fields = fieldsBetween(rightsOf(newest), rightsOf(next))
    await record(app, { what: 'access', done: 'changed', fields })
    app.say(words.changed)
    return true
  } catch (error) {
    app.say(texts.failed(error.message), true)
    return false
  }
}

/** facts: the rights, with `validation`; change: takes a wish */
export function Rights ({ security, facts, faults, change }) {
  const { user } = useApp()
  const lineOf = useShellLine()
  const { public: isPublic, ownWriters, validation, writers } = facts
  const nobodyWrites = !writers.names.length && !writers.roles.length
  const ownWriting = nobodyWrites ? 'admins' : 'own'
  const writing = ownWriters ? ownWriting : 'role'
  const closedReading = isUntouched(security) ? 'untouched' : 'closed'
  const reading = isPublic ? 'public' : closedReading

  /** Adds an entry to a list or removes it, even if the list has changed meanwhile. */
  const changeGroup = field => (kind, name, isAdded) => change(rights => {
    const names = rights[field][kind].filter(entry => entry !== name)
    return { [field]: { ...rights[field], [kind]: isAdded ? [...names, name] : names } }
  })

  const confirmAdmin = (kind, name) => {
    const isSelf = !user.isServerAdmin && (kind === 'names' ? user.name === name : user.roles.includes(name))
    const { head, self, lead, action } = words.removeAdmin
    return confirm({ head: head(name), text: isSelf ? self : lead, action, isDanger: true })
  }

  async function toggle () {
    const { head, lead: text, action } = isPublic ? words.close : words.open
    if (!await confirm({ head, text, action })) return
    // writers keep reading
    if (isPublic) change(rights => ({ public: false, readers: rights.ownWriters ? {} : rights.writers }))
    else change(() => ({ public: true }))
  }

  const isWriter = (kind, name) => ownWriters && writers[kind].includes(name)
  const admins = { ...facts.admins, roles: facts.admins.roles.filter(role => role !== '_admin') }
  return html`<${Card} head=${words.rights.head}>
    <div class="sentences">
      <p>${words.reading[reading]}</p>
      <p>${say(words.writing[writing], WRITER_ROLE)}</p>
      ${faults.map(({ code, kind, name }) => html`<p class="problem">
        ${say(words.faults[code], { kind: words.kinds[kind], name })}
      </p>`)}
    </div>
    <div class="row">
      ${isPublic || validation !== 'none'
        ? html`<${Button} onClick=${toggle}>${isPublic ? words.close.action : words.open.action}<//>`
        : html`<${Hint}>${words.open.refused}<//>`}
    </div>
    <${Group} field="readers" group=${isPublic ? null : facts.readers} change=${changeGroup('readers')}
      whyNot=${(kind, name) => isWriter(kind, name) ? words.groups.alsoWriter : ''} />
    <${Group} field="writers" group=${writers} change=${changeGroup('writers')} />
    <${Group} field="admins" group=${admins} change=${changeGroup('admins')} confirm=${confirmAdmin} />
    <${Hint}>${words.rights.command}<//>
    <${Copyable} text=${lineOf('access')} label=${words.rights.copy} />
  <//>`
}

/**
 * A list of users and roles, to add to and to remove from. group: null where there is no list; whyNot: why an entry
 * cannot be removed here; confirm: asks before an entry is removed
 */
function Group ({ field, group, change, whyNot = () => '', confirm: confirmRemoval = async () => true }) {
  const groupWords = words.groups[field]
  const [kind, setKind] = useState('names')
  const [name, setName] = useState('')
  const input = useRef(/** @type {HTMLInputElement | null} */ (null))
  const isRemoved = useRef(false)
  const list = group
    ? [...group.names.map(user => ['names', user]), ...group.roles.map(role => ['roles', role])]
    : []

  // the focused button was removed
  useEffect(() => {
    if (isRemoved.current) focusAfterAnswer(null, input.current)
    isRemoved.current = false
  }, [list.length])

  const { submit: add, busy } = useSubmit(async () => {
    const value = name.trim()
    if (!value || value === '_admin') return
    // the user may have typed the next one meanwhile
    if (await change(kind, value, true)) setName(latest => latest === name ? '' : latest)
    focusAfterAnswer(input.current?.form, input.current)
  })

  async function remove (type, value) {
    if (!await confirmRemoval(type, value)) return
    isRemoved.current = true
    await change(type, value, false)
  }

  const none = list.length ? '' : groupWords.none
  const groupHint = list.length > SHOWN ? words.groups.more(list.length - SHOWN) : none
  const hint = group ? groupHint : words.groups.everybody
  return html`<div class="group" role="group" aria-label=${groupWords.name}>
    <h4>${groupWords.name}</h4>
    ${list.length > 0 && html`<ul class="chips" aria-label=${groupWords.name}>
      ${list.slice(0, SHOWN).map(([type, value]) => html`<${Chip} key=${`${type} ${value}`}
        ...${{ type, value, why: whyNot(type, value), label: groupWords.remove(value) }}
        remove=${() => remove(type, value)} />`)}
    </ul>`}
    ${hint && html`<${Hint}>${hint}<//>`}
    ${group && html`<form class="adder" onSubmit=${add}>
      <${Field} label=${words.groups.kind} options=${KINDS} value=${kind} onChange=${setKind} />
      <label class="grow">
        ${words.groups.name}
        <input ref=${input} ...${plainInput} required maxlength="200" value=${name}
          onInput=${({ target }) => setName(target.value)} />
      </label>
      <${Button} type="submit" busy=${busy}>${groupWords.add}<//>
    </form>`}
  </div>`
}

const Chip = ({ type, value, why, label, remove }) => html`<li class="chip">
  ${type === 'roles' && html`<small>${words.groups.role}</small>`}
  <span>${value}</span>
  ${why
    ? html`<small>${why}</small>`
    : html`<${IconButton} name="close" label=${label} onClick=${remove} />`}
</li>`
