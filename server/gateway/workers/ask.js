// Questions between the parent of the workers and a worker. Each has an id: an answer that comes too late is dropped.

let count = 0

/**
 * @param {import('node:cluster').Worker} peer the other process @param {string} type of the message
 * @param {number} timeout milliseconds
 * @returns {Promise<any>} undefined: no answer in time, or the other process has ended
 */
export function ask (peer, type, timeout) {
  const id = ++count
  peer.setMaxListeners(0) // each question has a listener
  return new Promise(resolve => {
    const end = answer => {
      clearTimeout(timer)
      peer.off('disconnect', fail).off('message', take)
      resolve(answer)
    }
    const fail = () => end(undefined)
    const take = message => { if (message.type === 'answer' && message.id === id) end(message.answer) }
    const timer = setTimeout(fail, timeout)
    peer.on('message', take).once('disconnect', fail)
    if (peer.isConnected()) peer.send({ type, id })
    else fail()
  })
}
