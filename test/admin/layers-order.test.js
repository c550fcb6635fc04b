// Which layers get another `order` when one is moved.
import assert from 'node:assert/strict'
import { ordersAfter } from '../../attachments/admin/layers/order.js'

describe('the order of layers', () => {
  const listed = (layers, orders) => layers.map(layer => ({ ...layer, order: orders.get(layer.layer) ?? layer.order }))
    .sort((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || (a.layer < b.layer ? -1 : 1))
      .map(({ layer }) => layer)
  const names = ['a', 'b', 'c', 'd', 'e']

  for (const [what, orders] of Object.entries({
    'no orders': [undefined, undefined, undefined, undefined, undefined],
    'orders of some layers': [10, 20, undefined, undefined, undefined],
    'orders of all layers': [10, 20, 30, 40, 50], 'orders without room between them': [1, 2, 3, 4, 5],
    'equal orders': [7, 7, 7, 7, 7]
  })) {
    it(`moves each layer to each place (${what})`, () => {
      const layers = names.map((layer, at) => ({ layer, order: orders[at] }))
      for (let from = 0; from < names.length; from++) {
        for (let to = 0; to < names.length; to++) {
          if (from === to) continue
          const wanted = [...names]
          wanted.splice(to, 0, ...wanted.splice(from, 1))
          assert.deepEqual(listed(layers, ordersAfter(layers, from, to)), wanted, `${from} to ${to}`)
        }
      }
    })
  }

  it('changes the order of one layer when there is room', () => {
    const layers = names.map((layer, at) => ({ layer, order: (at + 1) * 10 }))
    assert.deepEqual([...ordersAfter(layers, 2, 1)], [['b', 35]])
  })
})
