// The pages for readers who open a private map in a browser and may not read it. Programs get the errors of the store.
import assert from 'node:assert/strict'
import { asksForPage, linkPage, signInPage } from '../../server/closed/page.js'
import { languageFor, languages } from '../../server/closed/words.js'
import { answered, targets } from '../embedded/harness.js'
import { onEachStore } from '../support/backends.js'
import { KEYS, OPTIONS, expired, token, writePrivateLayers } from '../support/gateway/private.js'
import { useGateway } from '../support/gateway/stand.js'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const MEMBERS = { admins: { names: [], roles: [] }, members: { names: [], roles: ['readers'] } }

describe('the words of the pages for closed maps', () => {
  it('have the same keys and placeholders in every language, and are in that which the reader prefers', () => {
    const placeholders = text => text.match(/\{\w+\}/g) ?? []
    for (const words of Object.values(languages)) {
      assert.deepEqual(Object.keys(words), Object.keys(languages.en))
      for (const [key, text] of Object.entries(words)) {
        assert.deepEqual(placeholders(text), placeholders(languages.en[key]), text)
      }
    }
    assert.equal(languageFor(), 'en')
    assert.equal(languageFor('de-AT,de;q=0.9,en;q=0.8'), 'de')
    assert.equal(languageFor('nl, en;q=0.3, fr-CA;q=0.7'), 'fr')
    assert.equal(languageFor('es;q=0, *'), 'en')
    assert.equal(languageFor('ja'), 'en')
  })

  it('are only for browsers that open a page, and escape HTML in names', () => {
    const asksFor = (accept, method = 'GET') => asksForPage({ method, headers: { accept } })
    assert.ok(asksFor(BROWSER))
    for (const accept of [undefined, '*/*', 'application/json', 'image/avif,image/webp,*/*', 'text/html5']) {
      assert.ok(!asksFor(accept), accept)
    }
    for (const method of ['HEAD', 'POST']) assert.ok(!asksFor(BROWSER, method), method)
    const html = signInPage('<b title="x">&', 'en').body.toString()
    assert.match(html, /&lt;b title=&quot;x&quot;&gt;&amp;, who may not read/)
    assert.doesNotMatch(html, /<b /)
    assert.equal(linkPage('OTHER').body.toString(), linkPage('ACCESS_NEEDED').body.toString())
  })
})

for (const { name, start } of targets) {
  describe(`a closed store on ${name}`, () => {
    let target
    let db = ''
    before(async () => {
      target = await start()
      db = `/${target.unique()}`
      await answered(201, target.admin('PUT', db))
      await answered(200, target.admin('PUT', `${db}/_security`, MEMBERS))
      const page = { content_type: 'text/html', data: Buffer.from('<p>the page').toString('base64') }
      const rewrites = '(function (req) { return { path: req.path[4] === "admin" ? "admin.html" : "index.html" } })'
      await answered(201, target.admin('PUT', `${db}/_design/tiles`,
        { rewrites, _attachments: { 'index.html': page, 'admin.html': page } }))
    })
    after(async () => {
      await target.admin('DELETE', db)
      await target.stop()
    })

    const PAGES = ['', '/', '/index.html', '/admin', '/?lang=de']
    const open = (client, path, headers = {}) => client('GET', `${db}/_design/tiles/_rewrite${path}`,
      undefined, { accept: BROWSER, ...headers })

    it('answers programs with the errors of CouchDB, and shows the page to members', async () => {
      for (const path of PAGES) {
        const answer = await answered(401, open(target.anonymous, path, { accept: 'application/json' }), 'unauthorized')
        assert.equal(answer.headers['content-type'], 'application/json')
        await answered(403, open(target.writer, path, { accept: '*/*' }), 'forbidden')
      }
      assert.equal((await open(target.admin, '/')).text, '<p>the page')
      for (const path of ['/viewer.js', '/osm/0/0/0.png', '/osm.json', '/db/_all_docs']) {
        await answered(401, open(target.anonymous, path), 'unauthorized')
      }
      for (const path of ['', '/', '/_all_docs', '/_design/tiles']) {
        const pendingAnswer = target.anonymous('GET', db + path, undefined, { accept: BROWSER })
        await answered(401, pendingAnswer, 'unauthorized')
      }
    })

    if (name === 'CouchDB') {
      it('answers browsers with the same error as programs', async () => {
        for (const path of PAGES) await answered(401, open(target.anonymous, path), 'unauthorized')
      })
      return
    }

    it('offers browsers to sign in, and tells a user who is not a member his name', async () => {
      for (const path of PAGES) {
        const { status, headers, text } = await open(target.anonymous, path)
        assert.deepEqual([status, headers['content-type'], headers['cache-control'], headers['content-language']],
          [401, 'text/html; charset=utf-8', 'no-store', 'en'])
        assert.match(text, /<form[^>]*>[^]*type="password"/)
        assert.match(headers['content-security-policy'],
          /^default-src 'none'; style-src 'sha256-[^']+'; .*script-src 'sha256-[^']+'; connect-src 'self'$/)
      }
      const german = await open(target.anonymous, '/', { 'accept-language': 'de' })
      assert.match(german.text, /<html lang="de">[^]*Diese Karte ist nicht öffentlich[^]*Anmelden/)
      const { status, text } = await open(target.writer, '/')
      assert.equal(status, 403)
      assert.ok(text.includes(`You are signed in as ${target.writerName},`))
    })
  })
}

onEachStore('a gateway with private layers', backend => {
  const stage = useGateway(backend, { fill: writePrivateLayers, options: { ...OPTIONS, privateLayers: '*' } })
  const open = (path, headers = {}) => stage.ask(path, { headers: { accept: BROWSER, ...headers } })

  it('answers programs with the viewer or a JSON error, and addresses of layers with errors', async () => {
    const page = await stage.ask('/')
    assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8'])
    const { status, json } = await stage.ask(`/?token=${expired(['*'])}`)
    assert.deepEqual([status, json.error], [401, 'TOKEN_EXPIRED'])
    for (const path of ['/secret.json', '/secret/3/1/0.png', '/db/secret:3:1:0']) {
      assert.equal((await open(path)).status, 401)
    }
    assert.equal((await open('/secret.json')).json.error, 'ACCESS_NEEDED')
  })

  it('tells a browser without access that a link with a token is needed', async () => {
    for (const path of ['/', '/index.html', '/layers', '/?embed']) {
      const { status, headers, text } = await open(path)
      assert.deepEqual([status, headers['content-type'], headers['cache-control']],
        [401, 'text/html; charset=utf-8', 'no-store'])
      assert.match(text, /you need a link with a token/)
      assert.match(headers['content-security-policy'], /^default-src 'none'; (?!.*script-src)/)
      assert.doesNotMatch(text, /words-of|secret|draft/)
    }
    assert.match((await open('/', { 'accept-language': 'fr' })).text, /Demandez-en un à l’exploitant/)
  })

  it('tells a browser whether the token of a link has expired or is not valid', async () => {
    const old = expired(['*'])
    const answer = await open(`/?token=${old}`, { cookie: `tilecouch-a=${token(['*'])}` })
    assert.deepEqual([answer.status, /has expired/.test(answer.text), answer.text.includes(old)], [401, true, false])
    for (const page of ['/', '/layers']) assert.match((await open(`${page}?token=nonsense`)).text, /is not valid/)
    assert.match((await open('/', { cookie: `tilecouch-a=${old}` })).text, /has expired/)
  })

  it('shows the viewer to a visitor with a token, and to everybody if a layer is public', async () => {
    assert.equal((await open(`/?token=${token(['secret'])}`)).status, 303)
    for (const headers of [{ cookie: `tilecouch-a=${token(['secret'])}` },
      { authorization: `Bearer ${token(['*'])}` }]) {
      assert.match((await open('/', headers)).text, /<title>tilecouch/)
    }
    const partlyPrivate = await stage.another({ privateLayers: ['secret'], accessKeys: KEYS })
    const answer = await fetch(partlyPrivate.url, { headers: { accept: BROWSER } })
    assert.match(await answer.text(), /<title>tilecouch/)
  })
})
