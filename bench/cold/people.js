// People who request tiles as browsers do: six connections each, HTTP/1.1, kept open, one request at a time on each.
// Written on sockets, because a heavy client would hide the speed of the servers.
import { connect } from 'node:net'

const CONNECTIONS = 6

/** @typedef {{status: number, body: Buffer}} Answer */

export class People {
  #connections

  /** @param {string} url of the server @param {number} count */
  constructor (url, count) {
    const { hostname, port, host } = new URL(url)
    this.#connections = Array.from({ length: count },
      () => Array.from({ length: CONNECTIONS }, () => new Connection(hostname, +port, host)))
  }

  /**
   * One person requests the tiles of a view.
   * @param {string[]} paths
   * @param {(answer: Answer, at: number) => void} take
   */
  async look (person, paths, take) {
    let next = 0
    await Promise.all(this.#connections[person].map(async connection => {
      for (let index = next++; index < paths.length; index = next++) take(await connection.get(paths[index]), index)
    }))
  }

  close () {
    for (const connection of this.#connections.flat()) connection.close()
  }
}

const END = Buffer.from('\r\n\r\n')

class Connection {
  #socket
  #host
  #received = Buffer.alloc(0)
  /** @type {{resolve: (answer: Answer) => void, reject: (error: Error) => void} | undefined} */
  #waiting

  constructor (hostname, port, host) {
    this.#host = host
    this.#socket = connect({ host: hostname, port, noDelay: true })
    this.#socket.on('data', piece => this.#take(piece))
    this.#socket.on('error', error => this.#waiting?.reject(error))
    this.#socket.on('close', () => this.#waiting?.reject(new Error(`${host} closed a connection`)))
  }

  /** @param {string} path @returns {Promise<Answer>} */
  get (path) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n\r\n`)
    })
  }

  #take (piece) {
    this.#received = this.#received.length ? Buffer.concat([this.#received, piece]) : piece
    const head = this.#received.indexOf(END)
    if (head < 0) return
    const headers = this.#received.toString('latin1', 0, head)
    const length = /\r\ncontent-length: *(\d+)/i.exec(headers)
    if (!length) return this.#waiting?.reject(new Error(`no length: ${headers}`))
    const end = head + END.length + +length[1]
    if (this.#received.length < end) return
    const waiting = this.#waiting
    const body = this.#received.subarray(head + END.length, end)
    this.#received = Buffer.alloc(0)
    this.#waiting = undefined
    waiting?.resolve({ status: +headers.slice(9, 12), body })
  }

  close () {
    this.#waiting = undefined
    this.#socket.destroy()
  }
}
