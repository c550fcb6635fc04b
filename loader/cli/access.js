// tilecouch access
import { fieldsBetween } from '../../core/index.js'
import { accessOf, setAccess } from '../store/access.js'
import { recordActivity } from '../store/activity.js'
import { withStore } from './store.js'
import { collect, refuse } from './options.js'

/** @type {import('./command.js').Declaration} */
export const accessCommand = {
  options: [
    ['--public', '', { conflicts: ['private', 'readers', 'reader'] }],
    '--private',
    ['--readers <roles>', 'only these roles and the writers read; separate them with commas'],
    ['--reader <name>', 'only this user reads; repeatable', { parse: collect }],
    ['--writers <roles>', 'only these roles write (default: tilecouch-writer); separate them with commas'],
    ['--writer <name>', 'only this user writes; repeatable', { parse: collect }],
    ['--no-writers', 'only admins write'],
    ['--any-writer', 'the role tilecouch-writer writes, as in every store without its own writers',
      { conflicts: ['writers', 'writer'] }],
    '-n, --dry-run'
  ],
  excludes: [['--no-writers', ['--writer']]],
  help: `Examples:
  tilecouch access
  tilecouch access --writers surveyors --writer anna
  tilecouch access --private --readers staff --reader guest --dry-run`,
  run: runAccess
}

async function runAccess (context, options) {
  const { output } = context
  const change = requestedChange(options)
  return withStore(context, options, async store => {
    if (!change) {
      const access = await accessOf(store)
      output.result(access, accessLines(access))
      return isUnsafe(access) ? 1 : 0
    }
    const result = await setAccess(store, { ...change, dryRun: options.dryRun })
    if (result.changed && !options.dryRun) await recordActivity(store.couch, 'access', accessChange(result))
    const [before, after] = [accessLines(result.before), accessLines(result.after)]
    const changes = ['Before:', ...before.map(indent), options.dryRun ? 'It would be:' : 'Now:', ...after.map(indent)]
    const changed = options.dryRun ? 'Nothing was changed.' : 'Done.'
    const end = result.changed ? changed : 'Nothing to change.'
    output.result(result, [...(result.changed ? changes : after), end])
    return isUnsafe(result.after) ? 1 : 0
  })
}

/** @returns {import('../../core/activity.js').Change} */
function accessChange ({ before, after }) {
  const fieldsOf = ({ public: isPublic, readers, writers, ownWriters }) =>
    ({ public: isPublic, readers, writers: ownWriters ? writers : undefined })
  return { what: 'access', done: 'changed', fields: fieldsBetween(fieldsOf(before), fieldsOf(after)) }
}

const indent = line => `  ${line}`

/** The exit code is 1 when anybody may write. */
const isUnsafe = ({ warnings }) => warnings.some(({ code }) => code === 'EVERYBODY_WRITES' || code === 'READERS_WRITE')

function requestedChange ({ public: opens, private: closes, readers, reader, writers, writer, anyWriter }) {
  const hasWriters = typeof writers === 'string' || writer !== undefined
  const change = {
    ...(opens && { public: true }),
    ...(closes && { public: false }),
    ...((readers !== undefined || reader) && { readers: groupOf(reader, '--readers', readers) }),
    ...(hasWriters && { writers: groupOf(writer, '--writers', writers) }),
    ...(writers === false && { writers: { names: [], roles: [] } }),
    ...(anyWriter && { writers: null })
  }
  return Object.keys(change).length ? change : undefined
}

function groupOf (names = [], option, text) {
  const roles = text === undefined ? [] : text.split(',').map(role => role.trim())
  if (roles.some(role => !role || role.startsWith('_'))) refuse(option, text, 'it takes roles such as staff,surveyors')
  return { names: [...new Set(names)], roles: [...new Set(roles)] }
}

/** @param {import('../store/access.js').Access} access */
function accessLines ({ url, public: isPublic, readers, writers, ownWriters, admins, validation, warnings }) {
  const isUnprotected = validation === 'none' && (isPublic || readers.names.length || readers.roles.length)
  const shownAdmins = { ...admins, roles: admins.roles.filter(role => role !== '_admin') }
  const writerWords = ownWriters ? groupWords(writers, 'only admins') : roleWords(isPublic, readers, writers)
  const write = isUnprotected ? 'everybody who may read' : writerWords
  return [
    url,
    `reads:    ${isPublic ? 'everybody, without a name' : groupWords(readers, 'only admins')}`,
    `writes:   ${write}`,
    `admins:   ${groupWords(shownAdmins, 'those of the server')}`,
    ...warnings.map(({ text }) => `WARNING   ${text}`)
  ]
}

/** The writers of a store without its own list of writers. */
function roleWords (isPublic, { names: users, roles }, writers) {
  if (isPublic) return `${groupWords(writers, '')}, as in every store of the server without its own writers`
  return users.length || roles.length ? `those readers who have ${groupWords(writers, '')}` : 'only admins'
}

function groupWords ({ names: users, roles }, emptyWords) {
  return [...roles.map(role => `the role ${role}`), ...users.map(name => `the user ${name}`)].join(', ') || emptyWords
}
