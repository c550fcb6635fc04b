// Tests in which networks an upstream may be: an address in an inner network gets requests only if an option names it.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Networks } from '../../loader/load/upstream/networks.js'
import { LOOPBACK } from '../support/upstream-server.js'
import { codeOf, useUpstream } from './support.js'

const TILE = { z: 5, x: 17, y: 11 }

const INNER = [
  '0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255',
  '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1',
  '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1',
  '239.255.255.250', '240.0.0.1', '255.255.255.255',
  '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1',
  '::FFFF:10.1.2.3', '::ffff:0:127.0.0.1', '64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::1', '64:ff9b:1::8.8.8.8',
  '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '2002:808:808::1',
  '3fff::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '5f00::1'
]
const PUBLIC = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.0', '172.15.0.1',
  '172.32.0.1', '192.0.1.1', '223.255.255.255', '2606:4700::1111', '2a00:1450::1', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8']

const allows = (open, address, host = address, port = 80) => new Networks(open).allows(address, host, port)

/** A DNS lookup that answers with these lists of addresses, one after the other. */
const lookupOf = answers => (host, { all }, callback) => {
  const addresses = (answers.length > 1 ? answers.shift() : answers[0])
    .map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
  all ? callback(null, addresses) : callback(null, addresses[0].address, addresses[0].family)
}

describe('the networks of upstreams', () => {
  it('are the public internet without this machine, unless more networks are named', () => {
    for (const address of INNER) assert.equal(allows([], address), false, address)
    for (const address of PUBLIC) assert.equal(allows([], address), true, address)
    for (const address of [...INNER, ...PUBLIC]) assert.equal(allows(['*'], address), true, address)
    for (const { address } of Object.values(networkInterfaces()).flatMap(addresses => addresses ?? [])) {
      assert.equal(allows([], address), false, address)
    }
  })

  it('are opened by name, address and network, the first two by port, and refused if their text is invalid', () => {
    const cases = [
      [['10.0.0.0/8'], ['10.255.0.1', '::ffff:10.0.0.1', '64:ff9b::10.0.0.1'], ['127.0.0.1', '::1']],
      [['0.0.0.0/0'], ['127.0.0.1', '10.0.0.1'], ['::1', 'fd00::1']],
      [['::/0'], ['::1', 'fd00::1'], ['127.0.0.1']],
      [['fd00::/8'], ['fd12::1'], ['fc00::1']],
      [['127.0.0.1'], ['127.0.0.1'], ['127.0.0.2']],
      [['::1'], ['::1'], ['127.0.0.1']],
      [['::ffff:127.0.0.1'], ['127.0.0.1'], ['127.0.0.2']],
      [['127.0.0.1:80', '[::1]:80'], ['127.0.0.1', '::1'], ['127.0.0.2']],
      [['127.0.0.1:81', '[::1]:81'], [], ['127.0.0.1', '::1']]
    ]
    for (const [open, inside, outside] of cases) {
      for (const address of inside) assert.equal(allows(open, address), true, `${open}: ${address}`)
      for (const address of outside) assert.equal(allows(open, address), false, `${open}: ${address}`)
    }
    assert.equal(allows(['maps.intranet'], '10.0.0.1', 'maps.intranet', 8080), true)
    assert.equal(allows(['Maps.Intranet:8080'], '10.0.0.1', 'MAPS.intranet.', 8080), true)
    assert.equal(allows(['maps.intranet:8080'], '10.0.0.1', 'maps.intranet', 5984), false)
    assert.equal(allows(['maps.intranet'], '10.0.0.1', 'evil.maps.intranet'), false)
    for (const bad of ['', '10.0.0.0/33', '::/129', '10.0.0/8', 'x/8',
      '10.0.0.0/', 'http://h', 'h/path', 'a b', 'me@h', 'h:99999', 'h:', ':80', '[::1', '1.2.3.4.5', '*.h/', 'h?']) {
      assert.throws(() => new Networks([bad]), { code: 'BAD_OPTION', message: /upstreamNetworks/ }, bad)
    }
  })
})

describe('an upstream in an inner network', () => {
  const suite = useUpstream()
  const port = () => suite.server.host.split(':')[1]
  const urlOf = host => `http://${host}:${port()}/xyz/{z}/{x}/{y}.png`
  const refusal = {
    code: 'UPSTREAM_ADDRESS', message: /^the upstream http:\/\/\S+ leads to \S.* private network$/,
    advice: /upstream-networks/
  }

  it('gets no requests, in any notation of its address, unless its name or address is listed', async () => {
    for (const host of ['127.0.0.1', '127.1', '0x7f000001', '2130706433', '0177.0.0.1',
      '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '0.0.0.0', '[::1]', '[::]', 'localhost', '127.0.0.1.', '１２７.0.0.1']) {
      await assert.rejects(suite.open({ url: urlOf(host) }, {}, { networks: [] }).fetch(TILE), refusal, host)
    }
    assert.deepEqual(suite.server.requests, [])
    const upstream = suite.open({}, {}, { networks: [] })
    for (let x = 0; x < 5; x++) assert.equal(await codeOf(upstream.fetch({ ...TILE, x })), 'UPSTREAM_ADDRESS')
    assert.equal(await codeOf(upstream.fetch(TILE)), 'UPSTREAM_BUSY')
    for (const networks of [['*'], LOOPBACK, ['127.0.0.1'], [suite.server.host], ['localhost'],
      [`localhost:${port()}`]]) {
      const host = /localhost/.test(networks[0]) ? 'localhost' : '127.0.0.1'
      assert.equal((await suite.open({ url: urlOf(host) }, {}, { networks }).fetch(TILE)).kind, 'tiles', networks[0])
    }
  })

  it('is not reached by a redirect', async () => {
    let reached = 0
    const silent = createServer(socket => { reached++; socket.destroy() })
    await new Promise(resolve => { silent.listen(0, '127.0.0.1', () => resolve(undefined)) })
    const otherPort = silent.address().port
    try {
      for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', 'me:secret@127.0.0.1']) {
        suite.server.behave({ redirect: `http://${host}:${otherPort}/` })
        await assert.rejects(suite.open({}, {}, { networks: [suite.server.host] }).fetch(TILE), refusal, host)
      }
      assert.equal(reached, 0)
    } finally {
      await new Promise(resolve => { silent.close(resolve) })
    }
  })

  it('is not reached by a name whose addresses are private or become private', async () => {
    const dns = (answers, open = []) => new Networks(open, { lookup: lookupOf(answers) })
    await assert.rejects(suite.open({ url: urlOf('rebind.example') }, {}, { networks: dns([['127.0.0.1']]) })
      .fetch(TILE), { ...refusal, message: /leads to rebind\.example \(127\.0\.0\.1:\d+\)/ })
    for (const answers of [[['::1', '127.0.0.1']], [['127.0.0.1', '10.0.0.1']], [['::ffff:127.0.0.1']]]) {
      await assert.rejects(suite.open({ url: urlOf('rebind.example') }, {}, { networks: dns(answers) }).fetch(TILE),
        refusal)
    }
    assert.deepEqual(suite.server.requests, [])
    // of several addresses, only those that are allowed get requests
    assert.equal(
      (await suite.open({ url: urlOf('both.example') }, {},
        { networks: dns([['10.0.0.1', '127.0.0.1']], ['127.0.0.1']) }).fetch(TILE)).kind, 'tiles'
    )
    // each connection looks up the name: after the first one is closed, the name has another address
    const changing =
      suite.open({ url: urlOf('rebind.example') }, {}, { networks: dns([['127.0.0.1'], ['10.0.0.1']], ['127.0.0.1']) })
    suite.server.behave({ headers: { connection: 'close' } })
    assert.equal((await changing.fetch(TILE)).kind, 'tiles')
    await assert.rejects(changing.fetch({ ...TILE, x: 3 }), refusal)
  })

  it('is not reached through a proxy of the environment, which is ignored', async () => {
    const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
    const before = names.map(name => process.env[name])
    try {
      for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : 'http://127.0.0.1:1'
      assert.equal((await suite.open().fetch(TILE)).kind, 'tiles')
      await assert.rejects(suite.open({}, {}, { networks: [] }).fetch(TILE), refusal)
    } finally {
      names.forEach((name, index) => before[index] === undefined
        ? delete process.env[name] : process.env[name] = before[index])
    }
  })
})
