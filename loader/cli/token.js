// tilecouch token
import { TilecouchError, endOf, fromSeconds, parseDuration } from '../../core/index.js'
import { newKey, parseKeys, readKeys, signToken } from '../token.js'

const LOCAL = 'http://127.0.0.1:8080/'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addTokenCommand (program, run) {
  program.command('token')
    .description('a token that lets whoever has it see private layers of a gateway until a time, and addresses with it')
    .argument('[layers...]', 'names or patterns (survey-*); "*" for every layer')
    .option('--for <time>', 'how long it is good: 12h, 7d, 4w')
    .option('--until <time>', 'or until when: 2026-12-24T18:00:00Z')
    .option('--access-keys-file <file>', 'the keys of the gateway (default: TILECOUCH_ACCESS_KEYS_FILE, or the keys themselves in TILECOUCH_ACCESS_KEYS)')
    .option('--key <id>', 'sign with this one (default: the last)')
    .option('--public-url <url>', 'where clients reach the gateway, for the addresses (default: TILECOUCH_PUBLIC_URL, else this machine)')
    .option('--new-key', 'print a new key instead, a line for the file of keys')
    .addHelpText('after', '\nWhoever has the token has access: hand it on as you would a password. It cannot be called back by itself; it ends with its time, or when its key' +
      '\nis taken out of the keys of the gateway.' +
      '\n\nExamples:\n  tilecouch token --new-key >> access-keys' +
      '\n  tilecouch token survey --for 7d --access-keys-file access-keys --public-url https://maps.example.org/' +
      '\n  TOKEN=$(tilecouch token "*" --for 1h --json | jq -r .token)')
    .action(run(tokenCommand))
}

async function tokenCommand ({ output }, options, layers) {
  if (options.newKey) return printKey(output, options, layers)
  const keys = await keysOf(options, process.env)
  const until = untilOf(options, Date.now())
  const value = describe(layers, signToken({ layers, until }, keys, options.key), until, options.publicUrl ?? (process.env.TILECOUCH_PUBLIC_URL || LOCAL))
  output.result(value, lines(value))
}

function printKey (output, options, layers) {
  if (layers.length || options.for || options.until) throw bad('--new-key', true, 'it makes a key and no token: say it alone')
  const { id, secret } = newKey()
  output.result({ id, secret }, [`${id}:${secret}`])
  output.note('A new key. Append the line to the file of keys of the gateway, and restart that: new tokens are signed with it.\nTokens of the other keys stay good for as long as these stay in the file.')
}

const bad = (option, value, why) => new TilecouchError('BAD_OPTION', { option, value, why })

/** From a file or the environment: the command line is seen by everybody on the machine. */
async function keysOf ({ accessKeysFile }, env) {
  const file = accessKeysFile ?? env.TILECOUCH_ACCESS_KEYS_FILE
  /** @type {import('../token.js').Keys} */
  const keys = {}
  if (env.TILECOUCH_ACCESS_KEYS && !accessKeysFile) Object.assign(keys, parsed(env.TILECOUCH_ACCESS_KEYS))
  if (file) Object.assign(keys, await readKeys(file))
  if (!Object.keys(keys).length) throw bad('--access-keys-file', null, 'there is no key to sign with; `tilecouch token --new-key > access-keys` makes one')
  return keys
}

function parsed (text) {
  try {
    return parseKeys(text)
  } catch (error) {
    throw bad('TILECOUCH_ACCESS_KEYS', '(not shown)', error.message)
  }
}

/** @param {{for?: string, until?: string}} options @param {number} now milliseconds @returns {number} seconds */
function untilOf ({ for: time, until }, now) {
  if ((time === undefined) === (until === undefined)) throw bad('--for', time ?? null, 'say how long the token is good: --for 7d, or --until 2026-12-24T18:00:00Z')
  if (time !== undefined) return Math.floor(now / 1000) + parseDuration(time)
  const end = Date.parse(endOf(String(until)))
  if (end <= now) throw bad('--until', until, 'it takes a time that is yet to come')
  return Math.floor(end / 1000)
}

function describe (layers, token, until, url) {
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw bad('--public-url', url, 'it takes an http(s) URL')
  const base = url.endsWith('/') ? url : `${url}/`
  const query = `?token=${token}`
  const [layer = 'LAYER'] = layers.filter(name => !/[*!]/.test(name))
  return {
    token,
    layers,
    until: fromSeconds(until),
    viewer: `${base}${query}`,
    tiles: `${base}${layer}/{z}/{x}/{y}.png${query}`,
    wmts: `${base}wmts/1.0.0/WMTSCapabilities.xml${query}`
  }
}

const lines = ({ token, layers, until, viewer, tiles, wmts }) => [
  `A token for ${layers.join(', ')}, good until ${until}:`,
  '',
  token,
  '',
  `  Viewer    ${viewer}`,
  `  Tiles     ${tiles}`,
  `  WMTS      ${wmts}`,
  '  Header    Authorization: Bearer TOKEN, or the token as the password of any name'
]
