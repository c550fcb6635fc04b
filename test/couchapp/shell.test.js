import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { compose } from '../../loader/couchapp/compose.js'
import { adminBundles, besides, clientBundles, layersBundles } from '../../loader/couchapp/bundle.js'
import { stamp } from '../../loader/couchapp/bundle.js'

const digest = bytes => createHash('sha256').update(bytes).digest('hex')

const isPart = name => name !== 'library.js'

/** Files as they are composed, stamped. @param {Record<string, string>} [changed] */
function stamped (changed = {}) {
  const texts = {
    'index.html': '<link rel="icon" href="a.svg"><script src="main.js" defer></script><a ' +
      'href="https://example.org/main.js"></a><a href="#main.js"></a><img src="none.png"><script ' +
      'src="library.js"></script>',
    'main.js': 'run()',
    'a.svg': '<svg/>',
    'later.js': 'more()',
    'library.js': 'for(others)',
    'sw.js': 'keep()',
    ...changed
  }
  const files =
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { type: 'x', bytes: Buffer.from(text) }]))
  stamp(files, isPart)
  return { text: name => files[name].bytes.toString(), shell: shellOf(files['sw.js'].bytes) }
}

const shellOf = worker => JSON.parse(/^const SHELL=(.*);\n/.exec(worker.toString())?.[1] ?? '')

describe('the version of the viewer', () => {
  it('is in every address of its own files on the page, and in no other', () => {
    const { text, shell: { version } } = stamped()
    assert.match(version, /^[0-9a-f]{16}$/)
    assert.equal(text('index.html'),
      `<link rel="icon" href="a.svg?v=${version}"><script src="main.js?v=${version}" defer></script><a ` +
        (`href="https://example.org/main.js"></a><a href="#main.js"></a><img src="none.png"><script ` +
          `src="library.js"></script>`))
  })

  it('comes with the digest of each of its files as it is served', () => {
    const { text, shell: { files } } = stamped()
    assert.deepEqual(Object.keys(files), ['a.svg', 'index.html', 'later.js', 'main.js'])
    for (const [name, found] of Object.entries(files)) assert.equal(found, digest(text(name)), name)
    assert.match(text('sw.js'), /;\nkeep\(\)$/)
  })

  it('changes with each of its files and its service worker, and only with them', () => {
    const { shell: { version } } = stamped()
    assert.equal(stamped().shell.version, version)
    assert.equal(stamped({ 'library.js': 'other' }).shell.version, version, 'what is for other pages')
    for (const name of ['index.html', 'main.js', 'a.svg', 'later.js', 'sw.js']) {
      assert.notEqual(stamped({ [name]: 'other' }).shell.version, version, name)
    }
    assert.notEqual(stamped({ 'new.css': '' }).shell.version, version)
  })

  it('covers all files of the viewer, and none of other pages', async () => {
    const { _attachments: attached } = (await compose()).find(({ _id }) => _id === '_design/tiles') ?? {}
    const bytes = name => Buffer.from(attached?.[name].data ?? '', 'base64')
    const { version, files } = shellOf(bytes('sw.js'))
    const others = ['sw.js', 'layers.html', 'admin.html', 'words.admin.json',
      ...[clientBundles, besides, layersBundles, adminBundles].flatMap(Object.keys)]
    assert.deepEqual(Object.keys(files), Object.keys(attached ?? {}).filter(name => !others.includes(name)).sort())
    for (const [name, found] of Object.entries(files)) assert.equal(found, digest(bytes(name)), name)
    // another page
    const links = [...bytes('index.html').toString().matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address)
      .filter(address => address !== 'admin')
    assert.ok(links.length > 6)
    for (const address of links) {
      assert.match(address, new RegExp(`^[\\w.-]+\\?v=${version}$`))
      assert.ok(Object.hasOwn(files, address.split('?')[0]), address)
    }
    const { icons } = JSON.parse(bytes('manifest.webmanifest').toString())
    for (const { src } of icons) assert.ok(Object.hasOwn(files, src), src)
  })
})
