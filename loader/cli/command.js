// A command of the command line is one declaration; its name and description are in program.js. This module
// passes it to commander, and checks which options go together.
//
//   export const getCommand = {
//     arguments: ['<layer[@time]>', '<z/x/y>'],
//     options: ['-z, --zoom <a-b>', ['-o, --output <file>', 'file to write', { required: true }]],
//     needs: [['--gateway', '--nginx']],
//     excludes: [['--all', ['--zoom'], 'it is the whole layer']],
//     help: 'Example: …',
//     run: (context, options, layer, tile) => { … return exitCode }
//   }
import { Option } from 'commander'
import { parsers, refuse, wholeNumber } from './options.js'

/**
 * @typedef {object} OptionSettings
 * @property {string} [default]
 * @property {boolean} [required]
 * @property {string[]} [choices] the values that it takes
 * @property {string[]} [conflicts] names of options that commander refuses beside it
 * @property {number} [digits] it takes a whole number from 1 that has at most so many
 * @property {(text: string, before?: any) => any} [parse] the value of its text (default: as in parsers of options.js);
 *   before: of the same option, which may be repeated
 *
 * @typedef {Option | string | [flags: string, meaning: string, settings?: OptionSettings]} DeclaredOption without a
 *   meaning: the one of options.js
 *
 * @typedef {object} Declaration
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

/**
 * @param {import('commander').Command} command @param {import('./program.js').Run} run
 * @param {Declaration} declaration
 */
export function declare (command, run, declaration) {
  for (const argument of declaration.arguments ?? []) command.argument(...asList(argument))
  for (const option of declaration.options ?? []) command.addOption(optionOf(option))
  if (declaration.help) command.addHelpText('after', `\n${declaration.help}`)
  command.action(run((context, options, ...values) => {
    checkCombinations(declaration, options)
    return declaration.run(context, options, ...values)
  }))
}

/** @template T @param {string | T} declared @returns {T} */
const asList = declared => /** @type {any} */ (typeof declared === 'string' ? [declared] : declared)

/** @param {DeclaredOption} declared */
function optionOf (declared) {
  if (declared instanceof Option) return declared
  const [flags, meaning = '', settings = {}] = asList(declared)
  const option = new Option(flags, meaning).makeOptionMandatory(Boolean(settings.required)).default(settings.default)
    .conflicts(settings.conflicts ?? [])
  const parse = parserOf(option.long ?? '', settings)
  return parse ? option.argParser(parse) : option
}

/** @param {string} flag @param {OptionSettings} settings */
function parserOf (flag, { choices = choicesOf[flag], digits, parse = parsers[flag] }) {
  if (digits) return text => wholeNumber(flag, text, digits)
  if (!choices) return parse
  return text => choices.includes(text) ? text : refuse(flag, text, `it takes ${choices.join(', ')}`)
}

const valueOf = (flag, options) => {
  const value = options[new Option(flag).attributeName()]
  return flag.startsWith('--no-') ? value === false || undefined : value
}

/** @param {Declaration} declaration @param {Record<string, any>} options */
function checkCombinations ({ needs = [], excludes = [] }, options) {
  for (const [option, needed] of needs) {
    const value = valueOf(option, options)
    if (value !== undefined && valueOf(needed, options) === undefined) refuse(option, value, `it goes with ${needed}`)
  }
  for (const [option, excluded, why] of excludes) {
    const value = valueOf(option, options)
    if (value === undefined) continue
    const other = excluded.find(flag => valueOf(flag, options) !== undefined)
    if (other && why) refuse(option, value, why)
    if (other) refuse(other, valueOf(other, options), `it does not go with ${option}`)
  }
}
