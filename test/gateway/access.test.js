// Tests of private layers: which visitors see them, at every route. Caches, links and other pages must not reveal them.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { onEachStore } from '../support/backends.js'
import { KEYS, OPTIONS, PRIVATE, T1, T2, addresses, expired,
  writePrivateLayers, forged, image, isGood, questions, secrets, token, ways } from '../support/gateway/private.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask, post } from '../support/gateway/wire.js'

onEachStore('private layers', backend => {
  const fixture = useGateway(backend, { fill: writePrivateLayers, options: OPTIONS })

  const get = (path, headers = {}, method = 'GET') => fixture.ask(path, { headers, method })
  const getWithToken = (way, path, text) => {
    const [address, headers] = ways[way](path, text)
    return get(address, headers)
  }
  const secretImages = secrets()

  /** Asserts that an answer has no bytes, versions or texts of a private layer. */
  function assertSilent ({ status, body, headers }, label, { names = true } = {}) {
    for (const bytes of secretImages) {
      assert.equal(body.includes(bytes) || body.includes(bytes.toString('base64')),
        false, `${label} gives a private image away`)
    }
    const text = body.toString('latin1') + JSON.stringify(headers)
    assert.doesNotMatch(text, /words-of-(secret|draft)|edition-of-(secret|draft)/,
      `${label} tells what a private layer is: ${status}`)
    if (names) assert.doesNotMatch(text, /(secret|draft-a):3:/, `${label} names private tiles`)
  }

  const privateAddresses = () => PRIVATE.flatMap(layer => addresses(layer).map(path => [layer, path]))

  it('are hidden at every address from anonymous users and from wrong, expired, forged or spoilt tokens', async () => {
    const kinds = {
      nobody: [undefined, 401, 'ACCESS_NEEDED'],
      another: [token(['draft-b', 'open', 'secre', 'secret2']), 403, 'ACCESS_DENIED'],
      expired: [expired(['*']), 401, 'TOKEN_EXPIRED'],
      forged: [forged(['*']), 401, 'TOKEN_INVALID'],
      spoilt: [token(['*']).replace(/.$/, last => last === 'A' ? 'B' : 'A'), 401, 'TOKEN_INVALID']
    }
    for (const [layer, path] of privateAddresses()) {
      for (const [kind, [text, status, code]] of Object.entries(kinds)) {
        if (layer !== 'secret' && kind !== 'nobody') continue
        const answer = text === undefined ? await get(path) : await getWithToken('bearer', path, text)
        assert.deepEqual([answer.status, answer.json.code ?? answer.json.error],
          [status, code], `${kind} ${path}: ${answer.text}`)
        assert.equal(answer.headers['cache-control'], 'no-store', path)
        if (status === 401) assert.match(answer.headers['www-authenticate'], /^Bearer realm="tilecouch"/, path)
        assertSilent(answer, `${kind} ${path}`, { names: false })
      }
    }
    for (const [path, body] of PRIVATE.flatMap(questions)) {
      const answer = await post(fixture.gateway.url, path, body)
      assert.deepEqual([answer.status, answer.json.error, answer.json.code],
        [401, 'unauthorized', 'ACCESS_NEEDED'], `${path} ${JSON.stringify(body)}`)
      assertSilent(answer, path)
    }
  })

  it('are shown at every address with a token, brought in any way, and kept by no shared cache', async () => {
    const validToken = token(['secret', 'draft-*'], { key: 'kold' })
    let turn = 0
    for (const [layer, path] of privateAddresses()) {
      // send the token in one way per address; every way is used at many addresses
      for (const way of layer === 'secret' ? [Object.keys(ways)[turn++ % 4]] : ['cookie']) {
        const answer = await getWithToken(way, path, validToken)
        assert.equal(answer.status, 200, `${way} ${path}: ${answer.text.slice(0, 200)}`)
        assert.match(answer.headers['cache-control'], /^private, max-age=\d+(, must-revalidate)?$|^no-store$/, path)
        assert.match(answer.headers.vary, /Authorization, Cookie/, path)
        assert.equal(answer.headers['referrer-policy'], 'no-referrer', path)
        if (/\.png$/.test(path)) assert.deepEqual(answer.body, image(layer, 1, 0, /@|T00/.test(path) ? T1 : T2), path)
      }
    }
    const headers = { authorization: `Bearer ${validToken}` }
    for (const [path, body] of PRIVATE.flatMap(questions)) {
      const answer = await post(fixture.gateway.url, path, body, { headers })
      assert.equal(answer.status, 200, `${path}: ${answer.text}`)
      assert.match(answer.headers['cache-control'], /^private|^no-store/, path)
    }
  })

  it('do not change the answers of public layers', async () => {
    // TileJSON, styles, gdal.xml and OGC API documents link to the Host header, so shared caches must not keep them
    for (const path of addresses('open')) {
      for (const text of [undefined, token(['secret']), forged(['*'])]) {
        const answer = text ? await getWithToken('cookie', path, text) : await get(path)
        assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 200)}`)
        const hasLinks = /^\/open(@\d+)?((\/style)?\.json|\.qlr|\/gdal\.xml)|^\/ogc\/(?!.*\/3\/0\/1)/.test(path)
        if (!hasLinks && !path.includes('_changes')) {
          assert.doesNotMatch(answer.headers['cache-control'] ?? '', /private/, path)
        }
        if (/\.png$/.test(path) && !path.startsWith('/db/')) {
          assert.match(answer.headers['cache-control'], /^public, max-age=/, path)
        }
      }
    }
    for (const [path, body] of questions('open')) {
      assert.equal((await post(fixture.gateway.url, path, body)).status, 200, path)
    }
  })

  it('cannot be told from missing layers and tiles without a token', async () => {
    for (const path of ['/draft-never/3/1/0.png', '/secret/3/7/7.png',
      '/secret/9/0/0.json', '/draft-never.json', '/db/secret:9:9:9', '/db/draft-x:1:0:0/tile?rev=1-a']) {
      assert.equal((await get(path)).status, 401, path)
    }
    assert.equal((await getWithToken('bearer', '/secret/3/7/7.png', token(['secret']))).status, 404)
    assert.equal((await getWithToken('bearer', '/draft-never.json', token(['draft-*']))).status, 404)
  })

  it('answer 304 only to visitors with a token', async () => {
    const validToken = token(['secret'])
    const { headers: { etag } } = await getWithToken('bearer', '/secret/3/1/0.png', validToken)
    assert.ok(etag)
    const conditions = { 'if-none-match': etag, 'if-modified-since': new Date().toUTCString() }
    assert.equal((await get('/secret/3/1/0.png', conditions)).status, 401)
    assert.equal((await get('/secret/3/1/0.png', { ...conditions, authorization: `Bearer ${validToken}` })).status, 304)
    for (const method of ['HEAD', 'GET']) assert.equal((await get('/secret/3/1/0.png', {}, method)).status, 401)
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
    assert.equal((await get('/secret/3/1/0.png', preflight, 'OPTIONS')).body.length, 0)
  })

  it('are kept by a visitor no longer than the token is valid', async () => {
    async function age (path, seconds) {
      const until = Math.floor(Date.now() / 1000) + seconds
      const { headers } = await getWithToken('bearer', path, token(['secret'], { until }))
      return +/max-age=(\d+)/.exec(headers['cache-control'])[1]
    }
    assert.ok(await age(`/secret@${T1}/3/1/0.png`, 100) <= 100)
    assert.equal(await age('/secret/3/1/0.png', 100000), 300)
    const { _rev: rev } = await fixture.store.couch.get('secret:3:1:0')
    assert.ok(await age(`/db/secret:3:1:0/tile?rev=${rev}`, 100000) > 90000)
  })

  it('are listed only for visitors with a token', async () => {
    const layersIn =
      async (path, headers) => [...new Set((await get(path, headers)).text.match(/open|secret|draft-a/g))].sort()
    const lists = ['/qgis-xyz.xml', '/wmts/1.0.0/WMTSCapabilities.xml', '/wmts@2023/1.0.0/WMTSCapabilities.xml',
      '/wmts?SERVICE=WMTS&REQUEST=GetCapabilities',
      '/wmts?request=GetCapabilities&service=wmts&acceptversions=1.0.0',
      '/db/_all_docs?include_docs=true&startkey=%22layer:%22&endkey=%22layer;%22',
      '/db/_design/versions/_view/by_zoom?group_level=3', '/db/_changes',
      '/db/_changes?include_docs=true&attachments=true&limit=100', '/db/_changes?descending=true&limit=50']
    for (const path of lists) {
      assert.deepEqual(await layersIn(path, {}), ['open'], path)
      assertSilent(await get(path), path)
      assert.deepEqual(await layersIn(path, { authorization: `Bearer ${token(['secret'])}` }), ['open', 'secret'], path)
      assert.deepEqual(await layersIn(path, { authorization: `Bearer ${token(['*'])}` }),
        ['draft-a', 'open', 'secret'], path)
      assert.match((await get(path)).headers['cache-control'], /^private, max-age=0|^no-store/, path)
    }
    const selector = { selector: { _id: { $regex: '^(layer:)?(secret|open)' } } }
    const { json: { results } } = await post(fixture.gateway.url, '/db/_changes?filter=_selector', selector)
    assert.ok(results.length >= 8 && results.every(({ id }) => /(^|:)open[:@]|^layer:open$/.test(id)),
      JSON.stringify(results))
  })

  it('have the token of the address in their links', async () => {
    const validToken = token(['secret'])
    const { json } = await get(`/secret@2023.json?token=${validToken}`)
    assert.deepEqual(json.tiles, [`${fixture.gateway.url}/secret@2023/{z}/{x}/{y}.png?token=${validToken}`])
    const { json: style } = await get(`/secret@2023/style.json?token=${validToken}`)
    assert.deepEqual([style.sources.own.url, style.sprite, style.glyphs], [
      'secret@2023.json', `styles/secret@${T1}/sprite`, `styles/secret@${T1}/glyphs/{fontstack}/{range}.pbf`
    ].map(path => `${fixture.gateway.url}/${path}?token=${validToken}`))
    for (const path of ['/secret.qlr', '/secret@2023.qlr', '/qgis-wmts.xml']) {
      assert.match((await get(`${path}?token=${validToken}`)).text, new RegExp(`token[=%3D]+${validToken}`), path)
    }
    const { text } = await get(`/wmts/1.0.0/WMTSCapabilities.xml?token=${validToken}`)
    const [, template] = /template="([^"]*secret[^"]*)"/.exec(text)
    const tile = template.replace('{Time}', T1).replace('{TileMatrixSet}', 'GoogleMapsCompatible')
      .replace('{TileMatrix}', '3').replace('{TileRow}', '0').replace('{TileCol}', '1')
    assert.deepEqual((await get(new URL(tile).pathname + new URL(tile).search)).body, image('secret', 1, 0, T1))
    assert.ok(text.includes(`${fixture.gateway.url}/wmts?token=${validToken}&amp;"`) ||
      text.includes(`${fixture.gateway.url}/wmts?token=${validToken}&"`))
    assert.ok((await get(`/wmts@2023/1.0.0/WMTSCapabilities.xml?token=${validToken}`))
      .text.includes(`TileCol}.png?token=${validToken}"`))
    assert.match((await get(`/secret@2023/gdal.xml?token=${validToken}`)).text,
      new RegExp(`/secret@2023/[^<]*\\.png\\?token=${validToken}</ServerUrl>`))
    const [href] = /[^"]*\/tms\/1.0.0\/secret[^"]*/.exec((await get(`/tms/1.0.0/?token=${validToken}`)).text)
    assert.equal((await get(href.slice(fixture.gateway.url.length))).status, 200)
    for (const headers of [{ authorization: `Bearer ${validToken}` }, { cookie: `tilecouch=${validToken}` }]) {
      for (const path of ['/tms/1.0.0/', '/secret.json', '/secret/style.json', '/secret/gdal.xml',
        '/wmts/1.0.0/WMTSCapabilities.xml']) {
        assert.ok(!(await get(path, headers)).text.includes(validToken), path)
      }
    }
    assert.ok(!(await get(`/open.json?token=${validToken}`)).text.includes(validToken))
  })

  it('close queries of the whole database to visitors without a token for all layers', async () => {
    const wholeDatabasePaths = ['/db/_all_docs', '/db/_all_docs?include_docs=true&limit=1',
      '/db/_all_docs?startkey=%22open:%22', '/db/_all_docs?startkey=%22open:%22&endkey=%22zzz%22',
      '/db/_design/versions/_view/by_tile?reduce=false', '/db/_design/versions/_view/by_tile?group_level=0',
      '/db/_design/versions/_view/by_zoom', '/db/_design/versions/_view/by_time?startkey=[%22open%22]',
      '/db/_design/versions/_view/by_time?reduce=false&group_level=1',
      '/db/_design/versions/_view/by_tile?startkey=[%22open%22]&endkey=[%22open%22,{}]&include_docs=true',
      '/db/_design/versions/_view/expiring', '/db/_design/other/_view/x', '/db/_design/other', '/db/nothing']
    for (const path of wholeDatabasePaths) {
      const answer = await get(path)
      assert.deepEqual([answer.status, answer.json.code], [401, 'ACCESS_NEEDED'],
        `${path} ${answer.text.slice(0, 200)}`)
      assert.equal((await getWithToken('bearer', path, token(['secret']))).status, 403, path)
      assert.ok([200, 400, 404].includes((await getWithToken('bearer', path, token(['*']))).status), path)
    }
    for (const [path, body] of [
      ['/db/_all_docs/queries', { queries: [{ keys: ['open:3:0:0'] }, {}] }],
      ['/db/_bulk_get', { docs: [{ id: 'open:3:0:0' }, { id: 'secret:3:0:0' }] }]
    ]) {
      assert.equal((await post(fixture.gateway.url, path.replaceAll('"', '%22'), body)).status, 401, path)
    }
    // fields that a query does not support neither give access nor hide a private range
    for (const [path, body] of [
      ['/db/_all_docs', { doc_ids: ['open:3:0:0'], docs: [{ id: 'open:3:0:0' }], limit: 5 }],
      ['/db/_all_docs?keys=["open:3:0:0"]', { startkey: 'secret:' }],
      ['/db/_all_docs/queries?startkey="secret:"', { queries: [{ endkey: 'secret;' }] }],
      ['/db/_all_docs/queries?keys=["open:3:0:0"]', { queries: [{ startkey: 'secret:', endkey: 'secret;' }] }],
      ['/db/_design/versions/_view/by_tile?reduce=false',
        { startkey: ['open'], endkey: ['secret', {}], layer: 'open' }],
      ['/db/_changes?filter=_doc_ids', { doc_ids: ['open:3:0:0', 'secret:3:0:0'] }],
      ['/db/_bulk_get',
        { docs: [{ id: 'open:3:0:0', atts_since: ['1-a'] }, { id: 'secret:3:0:0', atts_since: ['1-a'] }] }]
    ]) {
      const answer = await post(fixture.gateway.url, path.replaceAll('"', '%22'), body)
      assert.ok([400, 401].includes(answer.status), `${path} ${JSON.stringify(body)}: ${answer.status}`)
      assertSilent(answer, path, { names: false })
    }
    for (const path of ['/db', '/db/tilecouch', '/db/_design/tiles', '/db/_design/versions']) {
      assert.equal((await get(path)).status, 200, path)
    }
    const docs = ['tilecouch', '_design/tiles', 'layer:open'].map(id => ({ id })) // what mirrors ask for
    assert.equal((await post(fixture.gateway.url, '/db/_bulk_get', { docs })).status, 200)
    assert.equal((await post(fixture.gateway.url, '/db/_bulk_get', { docs: [{ id: '_design/other' }] })).status, 401)
    assert.equal((await get('/db/_local/x')).status, 404)
    assert.notEqual((await get('/db/_security')).status, 200)
    assert.ok((await getWithToken('bearer', '/db/_security', token(['secret']))).json.members.roles.length,
      'a mirror sees that not everybody may read this')
  })

  it('leave only the document of the store in the change feed when all layers are private', async () => {
    const gateway = await fixture.another({ ...OPTIONS, privateLayers: '*' })
    for (const path of ['/db/_changes', '/db/_changes?feed=longpoll&since=0&timeout=100']) {
      const { status, json } = await ask(gateway.url, path)
      assert.deepEqual([status, json.results.map(({ id }) => id)], [200, ['tilecouch']], path)
    }
  })

  it('are open to a page after its token has become a cookie', async () => {
    const [first, second] = [token(['secret']), token(['draft-*'])]
    const opened = await get(`/?layer=secret&token=${first}&z=3`)
    assert.deepEqual([opened.status, opened.headers.location, opened.headers['cache-control'],
      opened.headers['referrer-policy']], [303, './?layer=secret&z=3', 'no-store', 'no-referrer'])
    const [cookie] = opened.headers['set-cookie']
    assert.match(cookie, /^tilecouch-[\w-]{12}=tc1\.[\w.-]+; Max-Age=3\d\d\d; Path=\/; HttpOnly; SameSite=Lax$/)
    const jar = new Map()
    const storeCookies = ({ headers }) => {
      for (const line of headers['set-cookie']) {
        const [, name, value, age] = /^([\w-]+)=([^;]*); Max-Age=(\d+);/.exec(line) ?? []
        if (+age) jar.set(name, value)
        else jar.delete(name)
      }
    }
    const cookieHeader = () => [['other', '1'], ...jar].map(pair => pair.join('=')).join('; ')
    storeCookies(opened)
    storeCookies(await get(`/?token=${second}`)) // sent without cookies, as by a link on another page
    const bothCookies = cookieHeader()
    assert.equal((await get('/secret/3/1/0.png', { cookie: bothCookies })).status, 200)
    assert.equal((await get('/draft-a/3/1/0.png', { cookie: bothCookies })).status, 200)
    const tokens = Array.from({ length: 30 },
      (_, index) => token(['secret'], { until: Math.floor(Date.now() / 1000) + 1000 + index }))
    for (const text of tokens) storeCookies(await get(`/?token=${text}`, { cookie: cookieHeader() }))
    assert.ok(cookieHeader().length < 8000 && jar.size === 8 &&
      (await get('/secret/3/1/0.png', { cookie: cookieHeader() })).status === 200)
    assert.deepEqual([(await get(`/?token=${expired(['secret'])}`)).json.error, (await get('/?token=x')).json.error],
      ['TOKEN_EXPIRED', 'TOKEN_INVALID'])
    const addressesOfOthers =
      ['/?token=', '/?a&token=', '/?token=#x', '/constructor?token=', `/constructor?token=${first}`]
    for (const address of addressesOfOthers) {
      const { status, headers } = await get(address, { cookie: cookieHeader() })
      const expected = address.startsWith('/?') ? 200 : 404
      assert.deepEqual([status, headers['set-cookie']], [expected, undefined], 'nobody else removes a cookie')
    }
    const page = await get('/')
    assert.deepEqual([page.status, page.headers['referrer-policy']], [200, 'same-origin'])
    assertSilent(page, 'the viewer')
  })

  it('are not named by /health', async () => {
    const health = await get('/health')
    assert.equal(health.status, 200)
    assertSilent(health, 'health')
    assert.equal((await get('/metrics')).status, 404)
  })

  it('never show a byte to random requests without a valid token', async () => {
    const word = fc.constantFrom('secret', 'draft-a', 'open', 'layer',
      'edition', 'layer:secret', 'edition:secret@', 'secret:', 'secret;',
      'open:', 'open;', 'secret:3:1:0', `secret:3:1:0@${T1}`, 'secreu', 'a', 'zz', '', '_design/', '\ufff0')
    const key = fc.oneof(word, fc.tuple(word, fc.constantFrom(3, 0, {}, null)),
      fc.constant({}), fc.constant(null), fc.array(word, { maxLength: 2 }))
    const parameter = fc.constantFrom(
      'key', 'startkey', 'start_key', 'endkey', 'end_key', 'keys', 'include_docs', 'attachments', 'reduce',
      'group_level', 'group', 'descending', 'limit', 'skip', 'filter', 'doc_ids', 'rev', 'startkey_docid',
      'inclusive_end', 'style', 'token', 'open_revs', 'atts_since', 'conflicts', 'meta', 'deleted_conflicts',
      'queries', 'selector', 'docs', 'since', 'view'
    )
    const value = fc.oneof(key.map(words => JSON.stringify(words)),
      fc.constantFrom('true', 'false', '1', '3', '_selector', '_doc_ids', '_design', '["secret:3:1:0"]'))
    const path = fc.oneof(
      fc.constantFrom(...PRIVATE.flatMap(addresses), ...addresses('open')),
      fc.tuple(
        fc.constantFrom('_all_docs', '_all_docs/queries', '_changes', '_bulk_get', '_find', '_revs_diff',
          '_design/versions/_view/by_tile', '_design/versions/_view/by_tile/queries', '_design/versions/_view/by_zoom',
          'secret:3:1:0/tile', 'secret%3a3:1:0', '%73ecret:3:1:0/tile', 'open:3:1:0'),
        fc.dictionary(parameter, value, { maxKeys: 5 })
      ).map(([name, query]) => `/db/${name}?${new URLSearchParams(query)}`),
      fc.tuple(fc.constantFrom(...PRIVATE.flatMap(addresses)), fc.nat(200), fc.constantFrom('/', '%2f', '.', '@', ':',
        '%00', '?', '#', '//', '%40', ';', '\\'))
        .map(([text, index, sign]) => text.slice(0, index) + sign + text.slice(index))
    )
    const validToken = token(['secret', 'draft-*', '*'])
    const anyToken = fc.oneof(
      fc.constantFrom(undefined, token(['open']), expired(['*']), forged(['*']),
        forged(['secret']), '', '.', 'tc1...', validToken.slice(0, -1), `${validToken}A`, validToken.toUpperCase()),
      fc.tuple(fc.nat(validToken.length - 1), fc.constantFrom('A', 'z', '.', '-', '~', '%41'))
        .map(([index, sign]) => validToken.slice(0, index) + sign + validToken.slice(index + 1))
        .filter(changed => changed !== validToken && !isGood(changed))
    )
    const body = fc.oneof(fc.constant(undefined),
      fc.constantFrom(...PRIVATE.flatMap(layer => questions(layer).map(([, question]) => question))),
      fc.record(
        {
          keys: fc.array(key), startkey: key, endkey: key, include_docs: fc.boolean(),
          attachments: fc.boolean(),
          queries: fc.array(fc.record({ startkey: key, endkey: key, keys: fc.array(key), include_docs: fc.boolean() },
            { requiredKeys: [] }), { maxLength: 2 }),
          selector: fc.constantFrom({}, { layer: 'secret' }, { _id: { $gt: null } },
            { $or: [{ _id: 'secret:3:1:0' }] }),
          docs: fc.constantFrom([], [{ id: 'secret:3:1:0' }, { id: 'open:3:1:0' }]),
          doc_ids: fc.constantFrom(['secret:3:1:0']), 'secret:3:1:0': fc.constant(['9-a']),
          fields: fc.constantFrom(['_id'], ['_attachments', 'layer']),
          sort: fc.constantFrom(['_id'], [{ layer: 'desc' }]), bookmark: fc.constantFrom('nil', 'at-1'),
          execution_stats: fc.boolean(), limit: fc.nat(5), skip: fc.nat(5),
          reduce: fc.boolean(), group_level: fc.nat(2)
        }, { requiredKeys: [] }
      ))
    const anyWay = fc.constantFrom(...Object.keys(ways))
    const anyMethod = fc.constantFrom('GET', 'GET', 'HEAD', 'POST')
    await fc.assert(fc.asyncProperty(path, anyToken, anyWay, body, anyMethod, async (url, text, way, query, method) => {
      if (!/^[/h]/.test(url) || /[\s\\]|[^\x20-\x7e]/.test(url)) return
      const [target, headers] = text === undefined ? [url, {}] : ways[way](url, text)
      const answer = query && method === 'POST'
        ? await post(fixture.gateway.url, `${target}&timeout=10`, query, { headers })
          : await ask(fixture.gateway.url, target, { method, headers })
      // an error message may repeat the requested address
      assertSilent(answer, `${method} ${target} ${JSON.stringify(query)}`,
        { names: !/(secret|draft-a)(:|%3a)3/i.test(target) })
      assert.notEqual(answer.status, 500, `${method} ${target}`)
    }), { numRuns: process.env.TILECOUCH_LONG ? 20000 : 400 })
  })

  it('accept tokens of every configured key, and of no other', async () => {
    for (const key of Object.keys(KEYS)) {
      assert.equal((await getWithToken('bearer', '/secret/3/1/0.png', token(['secret'], { key }))).status, 200)
    }
    const gateway = await fixture.another({ ...OPTIONS, accessKeys: { knew: KEYS.knew } })
    const headers = { authorization: `Bearer ${token(['secret'], { key: 'kold' })}` }
    assert.equal((await ask(gateway.url, '/secret/3/1/0.png', { headers })).json.error, 'TOKEN_INVALID')
  })
})
