import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { checkUpstream, upstreamDefaults } from '../../core/index.js'
import { withTables } from '../../docs/tables.js'

const page = readFileSync(new URL('../../docs/upstreams.md', import.meta.url), 'utf8')

describe('docs/upstreams.md', () => {
  it('has the fields of core/upstream.js, their defaults and what they say (npm run docs writes them)', async () => {
    assert.equal(page, await withTables(page))
    const rows = [...page.slice(page.indexOf('<!-- table: upstream -->'))
      .split('<!-- end -->')[0].matchAll(/^- `(\w+)`: (.+)$/gm)]
    assert.deepEqual(rows.map(([, field]) => field), Object.keys(upstreamDefaults))
    for (const [, field, meaning] of rows) assert.ok(meaning.length > 10 && meaning !== 'undefined', field)
  })

  it('knows every field that is accepted, and only those', () => {
    // a refusal lists the fields there are
    assert.throws(() => checkUpstream({ nothing: 1 }), error => {
      assert.deepEqual(error.details.why.replace(/^.*there are /, '').split(', ').sort(),
        Object.keys(upstreamDefaults).sort())
      return true
    })
  })

  it('shows an upstream that is accepted, with defaults in brackets that are the true ones', () => {
    const [example] = [...page.matchAll(/```json\n(\{ "type"[\s\S]*?)```/g)].map(([, json]) => JSON.parse(json))
    assert.equal(checkUpstream(example).layers, 'hillshade,contours')
    const source = readFileSync(new URL('../../core/upstream.js', import.meta.url), 'utf8')
    const filled = { wms: checkUpstream({ type: 'wms', url: 'https://h/', layers: 'a' }), wmts: checkUpstream(
      { type: 'wmts', url: 'https://h/{z}/{x}/{y}' }
    ) }
    const said = [
      ...source.matchAll(/^ {2}(\w+): undefined, \/\/ (.*)$/gm)
    ].flatMap(([, field, comment]) => comment.split('; ').map(part => {
      const [, type, value] = /^(wms|wmts): .*\(([\w:.{}]+)\)$/.exec(part) ?? []
      return { field, type, value }
    })).filter(({ value }) => value && value !== 'none')
    assert.ok(said.length >= 8, `${said.length} defaults in brackets`)
    for (const { field, type, value } of said) assert.equal(String(filled[type][field]), value, `${field} of ${type}`)
  })
})
