// A command of the command line is one declaration. This adds it to commander, and checks which options go together.
//
//   export const getCommand = {
//     name: 'get',
//     description: 'save one tile, as it is now or as it was',
//     arguments: ['<layer[@time]>', '<z/x/y>'],
//     options: ['-z, --zoom <a-b>', ['-o, --output <file>', 'file to write', { required: true }]],
//     needs: [['--gateway', '--nginx']],
//     excludes: [['--all', ['--zoom'], 'it is the whole layer']],
//     help: 'Example: …',
//     run: (context, options, layer, tile) => { … return exitCode }
//   }
import { Option } from 'commander'
import { refuse } from './options.js'

/**
 * @typedef {object} OptionSettings
 * @property {string} [default]
 * @property {boolean} [required]
 * @property {string[]} [choices] the values that it takes
 * @property {string[]} [conflicts] names of options that commander refuses beside it
 * @property {(value: string, before: any) => any} [parse]
 *
 * @typedef {string | [flags: string, meaning: string, settings?: OptionSettings]} DeclaredOption without a meaning: the
 *   one of options.js
 *
 * @typedef {object} Declaration
 * @property {string} name
 * @property {string} description
 * @property {(string | [name: string, meaning: string])[]} [arguments]
 * @property {DeclaredOption[]} [options]
 * @property {[option: string, needed: string][]} [needs] options that need another one
 * @property {[option: string, others: string[], why?: string][]} [excludes] options that do not go with others. With
 *   a reason, the first one is refused, else the other one
 * @property {string} [help] shown after the options
 * @property {import('./program.js').Action} run
 */

/** The values of options that several commands have. @type {Record<string, string[]>} */
const choicesOf = { '--scheme': ['xyz', 'tms'], '--compact': ['auto', 'always', 'never'] }

/** Options of commands that take a part of a layer. @type {DeclaredOption[]} */
export const areaOptions = ['--bbox <w,s,e,n>', '--polygon <file>', '-z, --zoom <a-b>']

/**
 * @param {import('commander').Command} program @param {import('./program.js').Run} run
 * @param {Declaration} declaration
 */
export function addCommand (program, run, declaration) {
  const { name, description, help } = declaration
  const command = program.command(name).description(description)
  for (const declared of declaration.arguments ?? []) command.argument(...asList(declared))
  for (const declared of declaration.options ?? []) command.addOption(optionOf(declared))
  if (help) command.addHelpText('after', `\n${help}`)
  command.action(run((context, options, ...values) => {
    checkOptions(declaration, options)
    return declaration.run(context, options, ...values)
  }))
}

/** @template T @param {string | T} declared @returns {T} */
const asList = declared => /** @type {any} */ (typeof declared === 'string' ? [declared] : declared)

/** @param {DeclaredOption} declared */
function optionOf (declared) {
  const [flags, meaning = '', settings = {}] = asList(declared)
  const option = new Option(flags, meaning)
  if (settings.default !== undefined) option.default(settings.default)
  if (settings.parse) option.argParser(settings.parse)
  if (settings.conflicts) option.conflicts(settings.conflicts)
  return option.makeOptionMandatory(Boolean(settings.required))
}

/** @param {Declaration} declaration @param {Record<string, any>} options */
function checkOptions ({ needs = [], excludes = [], options: declared = [] }, options) {
  const valueOf = flag => {
    const value = options[new Option(flag).attributeName()]
    return flag.startsWith('--no-') ? value === false || undefined : value
  }
  for (const [flags, , { choices = undefined } = {}] of declared.map(option => /** @type {any[]} */ (asList(option)))) {
    const { long = '' } = new Option(flags)
    const value = valueOf(long)
    const values = choices ?? choicesOf[long]
    if (value !== undefined && values && !values.includes(value)) refuse(long, value, `it takes ${values.join(', ')}`)
  }
  for (const [option, needed] of needs) {
    if (valueOf(option) !== undefined && valueOf(needed) === undefined) {
      refuse(option, valueOf(option), `it goes with ${needed}`)
    }
  }
  for (const [option, others, why] of excludes) {
    if (valueOf(option) === undefined) continue
    const other = others.find(flag => valueOf(flag) !== undefined)
    if (other && why) refuse(option, valueOf(option), why)
    if (other) refuse(other, valueOf(other), `it does not go with ${option}`)
  }
}
