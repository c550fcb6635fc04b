// tilecouch token
import { endOf, fromSeconds, parseDuration } from '../../core/index.js'
import { newKey, parseKeys, readKeys, signToken } from '../store/token.js'
import { refuse } from './options.js'

const LOCAL = 'http://127.0.0.1:8080/'

/** @type {import('./command.js').Declaration} */
export const tokenCommand = {
  arguments: [['[layers...]', 'names or patterns (survey-*); "*" for every layer']],
  options: [
    ['--for <time>', 'how long it is valid: 12h, 7d, 4w'],
    '--until <time>', '--access-keys-file <file>',
    ['--key <id>', 'sign with this key (default: the last)'],
    '--public-url <url>',
    ['--new-key', 'print a new key, a line for the file of keys, instead of a token']
  ],
  help: `Examples:
  tilecouch token --new-key >> access-keys
  tilecouch token survey --for 7d --access-keys-file access-keys --public-url https://maps.example.org/
  TOKEN=$(tilecouch token "*" --for 1h --json | jq -r .token)

Everybody who has the token has access: treat it as a password. It ends at its
time, or when its key is removed from the gateway. The keys may also be in
TILECOUCH_ACCESS_KEYS, or their file in TILECOUCH_ACCESS_KEYS_FILE.`,
  run: runToken
}

async function runToken ({ output }, options, layers) {
  if (options.newKey) return printKey(output, options, layers)
  const keys = await keysOf(options, process.env)
  const until = untilOf(options, Date.now())
  const url = options.publicUrl ?? (process.env.TILECOUCH_PUBLIC_URL || LOCAL)
  const value = tokenLinks(layers, signToken({ layers, until }, keys, options.key), until, url)
  output.result(value, lines(value))
}

function printKey (output, options, layers) {
  if (layers.length || options.for || options.until) {
    refuse('--new-key', true, 'it creates a key and no token: use it alone')
  }
  const { id, secret } = newKey()
  output.result({ id, secret }, [`${id}:${secret}`])
  output.note('Append this new key to the file of keys and restart the gateway: new tokens are signed with it.\n' +
    'Tokens of other keys stay valid as long as their keys are in the file.')
}

/** Reads keys from a file or the environment: everybody on the machine can see the command line. */
async function keysOf ({ accessKeysFile }, env) {
  const file = accessKeysFile ?? env.TILECOUCH_ACCESS_KEYS_FILE
  /** @type {import('../store/token.js').Keys} */
  const keys = {}
  if (env.TILECOUCH_ACCESS_KEYS && !accessKeysFile) Object.assign(keys, parseKeyText(env.TILECOUCH_ACCESS_KEYS))
  if (file) Object.assign(keys, await readKeys(file))
  if (!Object.keys(keys).length) {
    refuse('--access-keys-file', null, 'there is no key to sign with; `tilecouch token --new-key > access-keys` ' +
      'creates one')
  }
  return keys
}

function parseKeyText (text) {
  try {
    return parseKeys(text)
  } catch (error) {
    return refuse('TILECOUCH_ACCESS_KEYS', '(not shown)', error.message)
  }
}

/** The end of a token, in seconds since 1970; now: in milliseconds. */
function untilOf ({ for: time, until }, now) {
  if ((time === undefined) === (until === undefined)) {
    refuse('--for', time ?? null, 'give the time that the token is valid: --for 7d, or --until 2026-12-24T18:00:00Z')
  }
  if (time !== undefined) return Math.floor(now / 1000) + parseDuration(time)
  const end = Date.parse(endOf(String(until)))
  if (end <= now) refuse('--until', until, 'the time must be in the future')
  return Math.floor(end / 1000)
}

function tokenLinks (layers, token, until, url) {
  if (!URL.canParse(url) || !/^https?:/.test(url)) refuse('--public-url', url, 'it takes an http(s) URL')
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
  `A token for ${layers.join(', ')}, valid until ${until}:`,
  '',
  token,
  '',
  `  Viewer    ${viewer}`,
  `  Tiles     ${tiles}`,
  `  WMTS      ${wmts}`,
  '  Header    Authorization: Bearer TOKEN, or the token as the password of any name'
]
