// The packages that production installs, as SECURITY.md counts them, and as the lock file names them.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { pattern } from '../support/pattern.js'

const read = name => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')

describe('the packages that are installed', () => {
  it('are as many as SECURITY.md says, and those it names run scripts at their installation', async () => {
    const { packages } = JSON.parse(await read('package-lock.json'))
    // devOptional: for tests, and an optional peer of the client library
    const production = Object.entries(packages)
      .filter(([path, { dev, devOptional, link }]) => path.startsWith('node_modules/') && !dev && !devOptional && !link)
    const optional = production.filter(([, one]) => one.optional)
    const scripts = production.filter(([, one]) => one.hasInstallScript)
      .map(([path, { version }]) => [path.split('node_modules/').at(-1), version])
    // what is there once is named without its version
    const names = scripts.map(([name, version]) => scripts.filter(([other]) => other === name).length > 1
      ? `${name} ${version}` : name).sort()
    const said =
      pattern(
        /(\d+) packages in production \((\d+) of them optional[^)]*\), of which (\d+) run a script when they are /,
        /installed: ([^|.]+(?:\.\d[^|.]*)*)/
      ).exec(await read('SECURITY.md'))
    assert.ok(said, 'SECURITY.md has the line')
    assert.deepEqual(said.slice(1, 4).map(Number), [production.length, optional.length, scripts.length])
    assert.deepEqual(said[4].trim().split(', ').sort(), names)
  })
})
