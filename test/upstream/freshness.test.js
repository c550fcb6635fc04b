import assert from 'node:assert/strict'
import { expiryFrom, modifiedFrom, retryAfter, validatorsFrom } from '../../loader/load/upstream/freshness.js'

const NOW = '2024-03-01T12:00:00Z'
const later = seconds => new Date(Date.parse(NOW) + seconds * 1000).toISOString().slice(0, 19) + 'Z'
const http = iso => new Date(iso).toUTCString()
const YEAR = 31536000

describe('when tiles expire', () => {
  it('after the ttl of the layer with expires "layer", and never without a ttl', () => {
    assert.equal(expiryFrom({ 'cache-control': 'max-age=5' }, { expires: 'layer', ttl: 3600, now: NOW }), later(3600))
    assert.equal(expiryFrom({ 'cache-control': 'max-age=5' }, { expires: 'layer', now: NOW }), null)
  })

  it('after the number of seconds that the layer sets', () => {
    assert.equal(expiryFrom({ 'cache-control': 'max-age=5' }, { expires: 7200, ttl: 3600, now: NOW }), later(7200))
  })

  it('by s-maxage, then max-age, then Expires, less the age; else after the ttl', () => {
    const date = http(NOW)
    const golden = [
      [{ 'cache-control': 'max-age=600' }, 600],
      [{ 'cache-control': 'public, max-age=600, s-maxage=900' }, 900],
      [{ 'cache-control': 'MAX-AGE="600"' }, 600],
      [{ 'cache-control': 'max-age=600', age: '100' }, 500],
      [{ 'cache-control': 'max-age=600', expires: http(later(9000)), date }, 600],
      [{ expires: http(later(9000)), date }, 9000],
      [{ expires: http(later(9000)), date: http(later(1000)) }, 8000], // its clock is fast: the difference counts
      [{ 'cache-control': 'public' }, 3600],
      [{}, 3600],
      [{ 'cache-control': ['max-age=600', 'public'] }, 600]
    ]
    for (const [headers, seconds] of golden) {
      assert.equal(expiryFrom(headers, { expires: 'upstream', ttl: 3600, now: NOW }),
        later(seconds), JSON.stringify(headers))
    }
    assert.equal(expiryFrom({}, { expires: 'upstream', now: NOW }), null, 'nobody says anything: never')
  })

  it('after at least a minute, and after at most a year', () => {
    const short = [{ 'cache-control': 'no-cache' }, { 'cache-control': 'no-store' }, {
      'cache-control': 'private, max-age=600'
    }, { 'cache-control': 'max-age=0' }, { 'cache-control': 'max-age=-5' }, { 'cache-control': 'max-age=x' },
      { 'cache-control': 'max-age=5', age: '600' }, { expires: '0' },
      { expires: '-1' }, { expires: http(later(-9000)), date: http(NOW) }, { expires: 'soon' }]
    for (const headers of short) {
      assert.equal(expiryFrom(headers, { expires: 'upstream', ttl: 3600, now: NOW }),
        later(60), JSON.stringify(headers))
    }
    for (const headers of [{ 'cache-control': 'max-age=3153600000' },
      { expires: 'Fri, 31 Dec 9999 23:59:59 GMT', date: http(NOW) }]) {
      assert.equal(expiryFrom(headers, { expires: 'upstream', now: NOW }), later(YEAR))
    }
  })
})

describe('the time when a tile changed', () => {
  it('is Last-Modified when this is a possible time', () => {
    assert.equal(modifiedFrom({ 'last-modified': http('2023-06-01T08:00:00Z') }, NOW), '2023-06-01T08:00:00Z')
    assert.equal(modifiedFrom({ 'last-modified': http(NOW) }, NOW), NOW)
    for (
      const text of [undefined, '', 'yesterday', http(later(1)), http('1970-01-01T00:00:00Z'),
        http('1994-12-31T23:59:59Z'), '99999999999999999999']
    ) assert.equal(modifiedFrom({ 'last-modified': text }, NOW), undefined, text)
  })
})

describe('the validators for the next request', () => {
  it('are ETag and Last-Modified when these are valid', () => {
    const lastModified = http(NOW)
    assert.deepEqual(validatorsFrom({ etag: '"abc"', 'last-modified': lastModified }), { etag: '"abc"', lastModified })
    assert.deepEqual(validatorsFrom({ etag: 'W/"1-2"' }), { etag: 'W/"1-2"' })
    for (const etag of ['abc', '"a"b"', '"', '"a\r\nX: y"', `"${'a'.repeat(300)}"`, '"é"', '']) {
      assert.deepEqual(validatorsFrom({ etag }), {}, etag)
    }
    for (const text of ['never', 'x'.repeat(50)]) assert.deepEqual(validatorsFrom({ 'last-modified': text }), {})
  })
})

describe('the pause that an upstream asks for', () => {
  it('is read from Retry-After in seconds or as a date', () => {
    assert.equal(retryAfter({ 'retry-after': '120' }), 120)
    assert.equal(retryAfter({ 'retry-after': ' 0 ' }), 0)
    const seconds = retryAfter({ 'retry-after': new Date(Date.now() + 60000).toUTCString() })
    assert.ok(seconds !== undefined && seconds >= 58 && seconds <= 60, String(seconds))
    assert.equal(retryAfter({ 'retry-after': new Date(0).toUTCString() }), 0)
    assert.equal(retryAfter({ 'retry-after': 'later' }), undefined)
    assert.equal(retryAfter({}), undefined)
  })
})
