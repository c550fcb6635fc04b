// The catalogue of errors: every code has a text and is used, and no error shows a password.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { scrub } from '../../core/index.js'
import { TilecouchError, catalogue } from '../../loader/errors.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Details of errors: enough for every text of the catalogue. */
const details = {
  value: 'v', ids: ['j'], what: 'W', why: 'w', field: 'f', option: 'o',
  type: 't', id: 'i', time: 'T', attempts: 3, reason: 'r', layer: 'l', db: 'd', view: 'n', url: 'u', where: 'h',
  status: 500, dir: 'r', port: 1, file: 'p', host: 'o', most: 2,
  area: 'a', needed: 2, free: 1, size: 512, expected: 256, seconds: 5, address: 'a', who: ['w'],
  path: 'p', place: 'p', other: 'o', grid: 'g', otherGrid: 'o',
  crs: 'c', length: 3, says: 's', profile: 'p', sizes: 's', name: 'n', count: 1, tile: '0/0/0', bytes: 1, format: 'f'
}

/** Every source file in which a code may be used. */
function sources () {
  return ['core', 'loader', 'server', 'client', 'attachments', '_design', 'views']
    .filter(folder => existsSync(path.join(root, folder)))
    .flatMap(folder => readdirSync(path.join(root, folder), { recursive: true })
      .map(name => path.join(folder, String(name))))
    .filter(file => /\.(js|html)$/.test(file) && !/^(core|loader).errors\.js$/.test(file))
    .map(file => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
}

/** Matches a code where an error is created or answered. */
const CODE = /(?:TilecouchError\(\s*|\bmake\(\s*|\bfail\(\d+,\s*|\berror:\s*)'([A-Z][A-Z0-9_]+)'/g

describe('the catalogue of errors', () => {
  it('has a text, an HTTP status, and advice that is a sentence, for every code', () => {
    for (const code of Object.keys(catalogue)) {
      assert.match(code, /^[A-Z]+(_[A-Z0-9]+)*$/)
      const { message, status, advice } = new TilecouchError(code, details)
      assert.ok(status >= 400 && status < 600, code)
      assert.ok(message && !/undefined|\[object/.test(message), `${code}: ${message}`)
      if (advice) assert.match(advice, /^[A-Z].*[.?]$/, code)
    }
  })

  it('holds every code the sources use', () => {
    const codes = sources().flatMap(({ file, text }) => [...text.matchAll(CODE)].map(([, code]) => ({ file, code })))
    assert.ok(codes.length > 50, 'the search finds codes')
    assert.deepEqual(codes.filter(({ code }) => !Object.hasOwn(catalogue, code)), [])
  })

  it('holds no code that nothing uses', () => {
    const allSources = sources().map(({ text }) => text).join('\n')
    assert.deepEqual(Object.keys(catalogue).filter(code => !allSources.includes(`'${code}'`)), [])
  })

  it('makes a new error each time, with its code, reason and advice in JSON', () => {
    const [a, b] = [new TilecouchError('BAD_LAYER', { value: 'X' }), new TilecouchError('BAD_LAYER', { value: 'X' })]
    assert.notEqual(a, b)
    assert.ok(a instanceof Error && a instanceof TilecouchError)
    assert.deepEqual(JSON.parse(JSON.stringify(a)),
      { error: 'BAD_LAYER', reason: 'bad layer name "X"', advice: catalogue.BAD_LAYER.advice })
    assert.equal(a.details.value, 'X')
  })

  it('keeps the cause, and gives an unknown code the status 500', () => {
    const cause = new Error('below')
    assert.equal(new TilecouchError('INTERNAL', { why: 'x' }, { cause }).cause, cause)
    assert.equal(new TilecouchError('INTERNAL').message, 'unexpected error')
    assert.equal(new TilecouchError('NO_SUCH_CODE').status, 500)
  })

  it('shortens long values in messages', () => {
    assert.ok(new TilecouchError('BAD_LAYER', { value: 'x'.repeat(1e6) }).message.length < 200)
  })
})

describe('passwords', () => {
  const password = fc.stringMatching(/^[A-Za-z0-9!$&'()*+,;=:@"%~._-]{4,20}$/).map(text => `pw-${text}`)

  it('are taken out of every URL in a text', () => {
    const golden = {
      'http://admin:secret@localhost:5984/tiles': 'http://localhost:5984/tiles',
      'https://u@example.org/': 'https://example.org/',
      'cannot reach http://a:b@h/x, nor HTTPS://c:d@i/y?z=1': 'cannot reach http://h/x, nor HTTPS://i/y?z=1',
      'http://a:p@ss@host/': 'http://host/',
      'see "http://a:b@h" and <http://c:d@i>': 'see "http://h" and <http://i>',
      'http://admin:it\'s@host/db': 'http://host/db',
      'http://admin:a"b@host/db': 'http://host/db',
      'socks+tls://a:b@h': 'socks+tls://h',
      'osm:10:300:412@2024-03-01T00:00:00Z': 'osm:10:300:412@2024-03-01T00:00:00Z',
      'http://localhost/db/osm@2024/1/1/1.png': 'http://localhost/db/osm@2024/1/1/1.png'
    }
    for (const [text, clean] of Object.entries(golden)) assert.equal(scrub(text), clean)
  })

  it('are in no text of an error whose details have a URL with a password', () => {
    fc.assert(fc.property(fc.constantFrom(...Object.keys(catalogue)), password, (code, secret) => {
      const url = `http://admin:${secret}@host:5984/Tiles`
      const errorDetails = Object.fromEntries(
        Object.keys(details).map(name => [name, name === 'value' ? url : `it was ${url} that failed`])
      )
      const error = new TilecouchError(code, errorDetails)
      for (const text of [error.message, error.stack, JSON.stringify(error), inspect(error), String(error.advice)]) {
        assert.ok(!text.includes(secret), text)
      }
    }), { numRuns: 500 })
  })

  it('are taken out of lists and objects as well', () => {
    const error = new TilecouchError('BAD_LAYER_FIELD', { field: 'upstream', value: { url: 'http://a:secret@h/' } })
    assert.ok(!inspect(error, { depth: 9 }).includes('secret'))
    assert.ok(!error.message.includes('secret'))
  })
})
