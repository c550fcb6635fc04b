import assert from 'node:assert/strict'
import { createAccounts } from '../../server/embedded/access.js'
import { Sessions } from '../../server/embedded/sessions.js'

describe('sessions of the embedded store', () => {
  let time, sessions
  beforeEach(() => {
    time = 1.7e12
    sessions = new Sessions(createAccounts({ admin: 'secret' }, { writer: { password: 'w', roles: ['r'] } }),
      { now: () => time, counted: 2 })
  })
  const find = cookie => sessions.find({ cookie: cookie.split(';')[0] })

  it('last ten minutes, and are renewed by a request after a minute', () => {
    const first = sessions.cookieOf('writer')
    assert.deepEqual(find(first), { user: { name: 'writer', roles: ['r'] } })
    time += 61_000
    const { cookie } = find(first)
    assert.match(cookie, /^AuthSession=[\w-]+; .*Max-Age=600/)
    time += 539_000
    assert.equal(find(first), undefined)
    assert.equal(find(cookie)?.user.name, 'writer')
    time += 61_000
    assert.equal(find(cookie), undefined)
  })

  it('are not valid in another process', () => {
    const other = new Sessions(createAccounts({ admin: 'secret' }), { now: () => time })
    assert.equal(find(other.cookieOf('admin')), undefined)
  })

  it('lock a name for an address until five minutes after the first of five wrong passwords', () => {
    const signIn = (password, address = 'here') => {
      try {
        return sessions.signIn('admin', password, address).name
      } catch ({ status }) {
        return status
      }
    }
    for (let i = 0; i < 5; i++) assert.equal(signIn('wrong'), 401)
    assert.equal(signIn('secret'), 403)
    assert.equal(signIn('secret', 'elsewhere'), 'admin')
    time += 300_000
    assert.equal(signIn('secret'), 'admin')
  })

  it('answer 401 to more wrong names than they can count', () => {
    const wrong = name => assert.throws(() => sessions.signIn(name, 'x', ''), { status: 401 })
    for (let i = 0; i < 100; i++) wrong(`name${i}`)
  })
})
